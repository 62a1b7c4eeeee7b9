"""The part of ``sed`` that edits lists in Dockerfiles: ``s/PATTERN/TEXT/g`` without groups, computed here."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_TEXT = 4096
_SPECIAL = frozenset(".[]{}()*+?^$|\\")


class CannotComputeError(ValueError):
    """An edit that is not computed; the text says why."""


def apply_sed(arguments: Sequence[str], text: str) -> str:
    """What ``sed ARGUMENTS`` makes of one line. Raises :class:`CannotComputeError` beyond the subset."""
    scripts, extended, at = list[str](), False, 0
    while at < len(arguments):
        argument = arguments[at]
        if argument in ("-E", "-r", "--regexp-extended"):
            extended = True
        elif argument in ("-e", "--expression") and at + 1 < len(arguments):
            at += 1
            scripts.append(arguments[at])
        elif argument.startswith("-") or scripts:
            raise CannotComputeError(f"sed {argument}")
        else:
            scripts.append(argument)
        at += 1
    if not scripts or len(text) > _MAX_TEXT or "\n" in text:
        raise CannotComputeError("sed without an edit, or of more than one line")
    for script in scripts:
        for edit in _edits(script):
            text = _substitute(edit, text, extended=extended)
    return text


def _edits(script: str) -> list[str]:
    """``s/a/b/g;s/c/d/`` in its parts; the separator may be any character."""
    edits, rest = list[str](), script.strip()
    while rest:
        if not rest.startswith("s") or len(rest) < 4:
            raise CannotComputeError(f"sed {script!r}")
        found, at = 0, 2
        while at < len(rest) and found < 2:
            at += 2 if rest[at] == "\\" else 1
            found += rest[at - 1 : at] == rest[1] and rest[at - 2 : at - 1] != "\\"
        flags = re.match(r"[a-zA-Z0-9]*", rest[at:])
        end = at + (flags.end() if flags else 0)
        edits.append(rest[:end])
        rest = rest[end:].lstrip()
        if rest and not rest.startswith(";"):
            raise CannotComputeError(f"sed {script!r}")
        rest = rest.lstrip("; ")
    return edits


def _substitute(edit: str, text: str, *, extended: bool) -> str:
    separator = edit[1]
    if separator in "\\\n" or separator.isalnum():
        raise CannotComputeError(f"sed {edit!r}")
    # Only parts whose separator is not escaped: what an escaped one means depends on the separator.
    parts = edit[2:].split(separator)
    if len(parts) != 3 or parts[2] not in ("", "g") or "&" in parts[1] or "\\" in parts[1]:
        raise CannotComputeError(f"sed {edit!r}")
    pattern = re.compile(_translate(parts[0], extended=extended))
    if pattern.match(""):
        raise CannotComputeError(f"sed {edit!r} matches nothing at all, which tools count in different ways")
    replacement = parts[1]
    return pattern.sub(lambda _: replacement, text, count=0 if parts[2] else 1)


def _translate(pattern: str, *, extended: bool) -> str:
    """A POSIX pattern without groups, alternatives and back references as Python's."""
    made, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[":
            found = re.match(r"\[\^?\]?[^\]\[\\&~|]*\]", pattern[at:])
            if not found:
                raise CannotComputeError(f"the set in {pattern!r}")
            made, at = made + found[0], at + found.end()
            continue
        if interval := re.match(
            r"\{(\d+)(,?)(\d*)\}" if extended else r"\\\{(\d+)(,?)(\d*)\\\}", pattern[at:]
        ):
            made += f"{{{interval[1]}{interval[2]}{interval[3]}}}"
            at += interval.end()
            continue
        if char == "\\":
            escaped = pattern[at + 1 : at + 2]
            if escaped not in _SPECIAL or (not extended and escaped in "{}()+?|") or not escaped:
                raise CannotComputeError(f"\\{escaped} in {pattern!r}")
            made, at = made + re.escape(escaped), at + 2
            continue
        if char in "()|" and extended:
            raise CannotComputeError(f"{char} in {pattern!r}")
        if (char == "^" and at) or (char == "$" and at + 1 < len(pattern)) or (char == "*" and not at):
            raise CannotComputeError(f"{char} in {pattern!r}")
        plain = char not in _SPECIAL or (not extended and char in "{}()+?|]")
        made, at = made + (re.escape(char) if plain else char), at + 1
    try:
        re.compile(made)
    except re.error:
        raise CannotComputeError(f"the pattern {pattern!r}") from None
    return made
