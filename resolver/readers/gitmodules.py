"""``.gitmodules``: the submodules of a repository, by the grammar of git's configuration files.

Source of the rules: git-config(1), "Syntax", and gitmodules(5). The commits are not in this file but in the
tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source_text import check_text, refuse

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(=?)\s*")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}
_NEEDED = ("path", "url")


@dataclass(frozen=True, slots=True)
class Submodule:
    """``url`` may be relative (``../kernel.git``). ``line`` is that of the section."""

    name: str
    path: str
    url: str
    branch: str
    line: int


def parse_gitmodules(text: str, path: str) -> tuple[Submodule, ...]:
    """The submodules in the order of the file. Raises PIN_UNREADABLE with file and line.

    Refused are also a submodule without path or URL, and paths that leave the repository.
    """
    lines = check_text(text, path).split("\n")
    sections = dict[str, tuple[int, dict[str, str]]]()
    keys: dict[str, str] | None = None
    at = 0
    while at < len(lines):
        number, rest = at + 1, lines[at].strip()
        if found := _SECTION.match(rest):
            keys = {}
            if found[1].lower() == "submodule" and found[2]:
                name = re.sub(r"\\(.)", r"\1", found[2])
                keys = sections.setdefault(name, (number, {}))[1]
            rest = rest[found.end() :].strip()
        if not rest or rest[0] in "#;":
            at += 1
            continue
        found = _KEY.match(rest)
        if keys is None or not found:
            raise refuse(path, number, f"{rest[:60]!r} is no line of git's configuration.")
        value, at = _value(lines, at, rest[found.end() :], path) if found[2] else ("true", at + 1)
        keys[found[1].lower()] = value
    return tuple(_submodule(name, line, held, path) for name, (line, held) in sections.items())


def _value(lines: list[str], at: int, text: str, path: str) -> tuple[str, int]:
    """A value and the index of the line behind it: quotes, escapes, comments, continuations."""
    made, quoted, position, pending = "", False, 0, ""
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 == len(text):
            at += 1
            if at == len(lines):
                raise refuse(path, at, "The file ends in the middle of a value.")
            text, position = lines[at].rstrip(), 0
            continue
        if char == "\\":
            if text[position + 1] not in _ESCAPES:
                raise refuse(path, at + 1, f"\\{text[position + 1]} is no escape of git's configuration.")
            made, pending = made + pending + _ESCAPES[text[position + 1]], ""
            position += 1
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        elif char.isspace() and not quoted:
            pending += char
        else:
            made, pending = made + pending + char, ""
        position += 1
    if quoted:
        raise refuse(path, at + 1, "A quoted value is not closed.")
    return made, at + 1


def _submodule(name: str, line: int, keys: dict[str, str], path: str) -> Submodule:
    for key in _NEEDED:
        if not keys.get(key):
            raise refuse(path, line, f"The submodule {name!r} has no {key}.")
    parts = keys["path"].split("/")
    if keys["path"].startswith("/") or ".." in parts or ".git" in parts:
        raise refuse(
            path, line, f"The submodule {name!r} has the path {keys['path']!r}, outside of the repository."
        )
    if keys["url"].startswith("-"):
        raise refuse(path, line, f"The URL of the submodule {name!r} reads like an option.")
    return Submodule(name, keys["path"], keys["url"], keys.get("branch", ""), line)
