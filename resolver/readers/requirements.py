"""Requirement files as pip reads them: PEP 508 lines, includes, options, hashes, direct URLs, with lines.

Source of the rules: pip's "Requirements File Format". The grammar of one requirement is ``packaging``'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from .source_text import check_digest, check_text, refuse

_COMMENT = re.compile(r"(?:^|\s)#.*$")
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_HASH = re.compile(r"\s--hash(?:=|\s+)(\S+)")
_PER_REQUIREMENT = re.compile(r"\s(--(?:config-settings?|global-option|install-option)\b.*)$")
_OPTION = re.compile(r"(--?[A-Za-z][A-Za-z-]*)(?:\s*=\s*|\s+|$)(.*)$")
_DIRECT = re.compile(r"(?:(?:git|hg|svn|bzr)\+)?[a-z][a-z0-9+.-]*://|git@|\.{0,2}/|\.$|\.\[")
_ARCHIVE = re.compile(r"[^\s;]+\.(?:whl|zip|tar\.\w+|tgz)(?:\s|;|$)")
_LONG = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-i": "--index-url",
    "-f": "--find-links",
}
_VALUED = frozenset(
    {
        "--index-url", "--extra-index-url", "--find-links", "--no-binary", "--only-binary", "--trusted-host",
        "--use-feature",
    }
)  # fmt: skip
_BARE = frozenset({"--no-index", "--pre", "--prefer-binary", "--require-hashes"})
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}


@dataclass(frozen=True, slots=True)
class RequirementLine:
    """``requirement`` is None for a direct URL or path without a name. ``name`` is normalised, "" if unknown.

    ``url`` is the URL or path of a direct reference, without credentials. ``hashes`` are ``sha256:…``.
    """

    requirement: Requirement | None
    name: str
    line: int
    text: str
    hashes: tuple[str, ...] = ()
    url: str = ""
    editable: bool = False


@dataclass(frozen=True, slots=True)
class Include:
    """``-r FILE`` or, with ``constraint``, ``-c FILE``. ``path`` is relative to the including file's
    folder.
    """

    path: str
    line: int
    constraint: bool


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the file, by its long name. A URL is kept without credentials; no lock may hold its
    host.
    """

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Requirements:
    """One file, in its order. ``variables`` are names of environment variables that options use."""

    lines: tuple[RequirementLine, ...]
    includes: tuple[Include, ...]
    options: tuple[Option, ...]
    variables: tuple[str, ...] = ()

    def named(self, name: str) -> list[RequirementLine]:
        """All lines for a package; several differ in their markers."""
        return [line for line in self.lines if line.name == canonicalize_name(name)]


def parse_requirements(text: str, path: str) -> Requirements:
    """Read a requirement file. Raises PIN_UNREADABLE with file and line."""
    text = check_text(text, path)
    lines, includes, options = list[RequirementLine](), list[Include](), list[Option]()
    variables = list[str]()
    for number, line in _logical_lines(text, path):
        if not line.startswith("-"):
            lines.append(_requirement(line, number, path))
            continue
        name, value = _option(line, number, path)
        if name == "--editable":
            lines.append(_direct(value, number, path, editable=True))
        elif name in ("--requirement", "--constraint"):
            includes.append(Include(value, number, name == "--constraint"))
        else:
            variables += _VARIABLE.findall(value)
            options.append(Option(name, without_credentials(value), number))
    return Requirements(tuple(lines), tuple(includes), tuple(options), tuple(dict.fromkeys(variables)))


def without_credentials(url: str) -> str:
    """The URL without user and password; what is no URL stays as it is."""
    if "@" not in url or "://" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return re.sub(r"://[^/\s]*@", "://", url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _logical_lines(text: str, path: str) -> Iterator[tuple[int, str]]:
    """(first line, text without comments), continuations joined; a comment ends a continuation."""
    joined, start = "", 0
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        start = start or number
        comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not comment:
            joined += line[:-1]
            continue
        whole = _COMMENT.sub("", joined + ("" if comment else line)).strip()
        if whole:
            yield start, whole
        joined, start = "", 0
    if joined.strip():
        raise refuse(path, start, "The file ends in the middle of a line that goes on.")


def _option(line: str, number: int, path: str) -> tuple[str, str]:
    found = _OPTION.match(line) if line.startswith("--") else re.match(r"(-[a-zA-Z])\s*=?\s*(.*)$", line)
    name = _LONG.get(found[1], found[1]) if found else line
    value = found[2].strip().strip("\"'") if found else ""
    if name in _BARE and not value:
        return name, ""
    if name not in _VALUED and name not in _LONG.values():
        raise refuse(path, number, f"{name.split()[0]} is no option of a requirement file.")
    if not value:
        raise refuse(path, number, f"{name} has no value.")
    return name, value


def _requirement(line: str, number: int, path: str) -> RequirementLine:
    hashes = tuple(_check_hash(one, number, path) for one in _HASH.findall(line))
    bare = _PER_REQUIREMENT.sub("", _HASH.sub("", line)).strip()
    if found := _VARIABLE.search(bare):
        raise refuse(path, number, f"The requirement depends on the environment variable {found[1]}.")
    if _DIRECT.match(bare) or (_ARCHIVE.match(bare) and "@" not in bare):
        return _direct(bare, number, path, hashes=hashes)
    try:
        requirement = Requirement(bare)
    except InvalidRequirement as error:
        reason = str(error).partition("\n")[0]
        raise refuse(path, number, f"{bare[:80]!r} is no requirement: {reason}.") from None
    url = without_credentials(requirement.url or "")
    if requirement.url:
        requirement.url = url
    name = canonicalize_name(requirement.name)
    return RequirementLine(requirement, name, number, str(requirement), hashes, url)


def _direct(
    value: str, number: int, path: str, *, editable: bool = False, hashes: tuple[str, ...] = ()
) -> RequirementLine:
    if found := _VARIABLE.search(value):
        raise refuse(path, number, f"The requirement depends on the environment variable {found[1]}.")
    bare = re.split(r"\s;\s?", value, maxsplit=1)[0].strip()
    egg = re.search(r"[#&]egg=([A-Za-z0-9._-]+)", bare)
    wheel = re.match(
        r"([A-Za-z0-9._]+)-[^-/]+(?:-[^-/]+)?-[^-/]+-[^-/]+-[^-/]+\.whl", bare.rpartition("/")[2]
    )
    name = egg[1] if egg else wheel[1] if wheel else ""
    url = without_credentials(bare)
    return RequirementLine(None, canonicalize_name(name) if name else "", number, url, hashes, url, editable)


def _check_hash(text: str, number: int, path: str) -> str:
    algorithm, _, digest = text.partition(":")
    if algorithm not in _DIGITS:
        raise refuse(path, number, f"{algorithm!r} is no hash that pip takes.")
    return f"{algorithm}:{check_digest(digest, _DIGITS[algorithm], path, number, what='The hash')}"
