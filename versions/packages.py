"""Versions of Python packages: PEP 440, with the local part of ROCm builds read as numbers. Pure.

PEP 440 compares a local part segment by segment, and so puts ``+rocm7.15`` above ``+rocm10.1``. Here the ROCm
version in it is compared as a version; everything else is as PEP 440 has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import total_ordering
from typing import Any

from packaging.version import Version

from .rocm import RocmVersion, parse_rocm

# The words of local parts that mean something, wherever they stand; some have no dot between them
# (cu12torch2.7cxx11abiTRUE, rocm7.2torch2.13). A ROCm number is taken whole or not at all, hence (?>…).
_PART = re.compile(
    r"""rocm(?P<rocm>(?>[0-9]+(?:\.[0-9]+){0,3}(?:\.?(?:a|b|rc|dev|post)[0-9]+)?))(?=$|\.|torch[0-9]|cu[0-9])
      | rocm(?P<unread>[a-z0-9]*)
      | torch(?P<torch>[0-9]+(?:\.[0-9]+){0,2})(?=$|\.|cxx11abi)
      | (?P<cuda>cu[0-9]+)(?=$|\.|torch[0-9])
      | (?P<cpu>cpu)(?=$|\.)
      | (?:git|g)(?P<git>[0-9a-f]{6,40})(?=$|\.)
      | d(?P<dirty>20[0-9]{6})(?=$|\.)
      | (?P<rest>[a-z0-9]+)""",
    re.VERBOSE,
)
_LONGEST = 200
"""Characters. What is longer is no version, and may be long for the sake of harm."""


@dataclass(frozen=True, slots=True)
class RocmPart:
    """What stands behind ``rocm``, as written, and the versions that it can mean.

    ``722`` has two readings, 7.2.2 and 7.22; ``702`` has one; the word alone (``+rocm``) and what is no ROCm
    version have none.
    """

    text: str
    readings: tuple[RocmVersion, ...]

    @property
    def version(self) -> RocmVersion | None:
        """The version where it is certain."""
        return self.readings[0] if len(self.readings) == 1 else None

    @property
    def key(self) -> tuple[Any, ...]:
        """What is not certain comes before everything that is: nothing is newest by a guess."""
        return (1, self.version.key) if self.version else (0, self.text)


@dataclass(frozen=True, slots=True)
class Local:
    """What a local part says.

    ``git`` is a short commit, ``dirty`` the day (YYYYMMDD) of changes that no commit has, ``cuda`` as written
    (cu129), ``torch`` the version it was built for, ``rest`` the words that mean nothing here, sorted.
    """

    text: str
    rocm: RocmPart | None = None
    git: str = ""
    dirty: str = ""
    cuda: str = ""
    cpu: bool = False
    torch: str = ""
    rest: tuple[str, ...] = ()


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class PackageVersion:
    """A version as written, with its parts. Equal are versions that mean the same, however they are written.

    The order is total; ``order`` tells spellings apart, too, for sorting that depends on nothing else.
    """

    text: str
    public: Version
    local: Local | None = None
    _key: tuple[Any, ...] = field(default=(), repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackageVersion) and self._key == other._key

    def __lt__(self, other: object) -> bool:
        return self._key < other._key if isinstance(other, PackageVersion) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def order(self) -> tuple[Any, ...]:
        """A key to sort by: the version, then its spelling."""
        return (*self._key, self.text)

    @property
    def is_prerelease(self) -> bool:
        """Only the public part decides: a commit in the local part (``+git12345abc``) is no pre-release."""
        return self.public.is_prerelease


def parse_package_version(text: str, releases: Collection[RocmVersion] = ()) -> PackageVersion:
    """The version in ``text``. ValueError, in a sentence, for what PEP 440 does not take.

    ``releases`` are the ROCm releases that exist: of the readings of ``rocm722`` those among them are left.
    Sort and compare only versions that were parsed with the same ``releases``.
    """
    try:
        version = Version(text if len(text) <= _LONGEST else "")
    except ValueError:
        raise ValueError(f"{text[:_LONGEST]!r} is no version of a Python package") from None
    public = Version(version.public)
    local = parse_local(version.local, releases) if version.local else None
    return PackageVersion(text, public, local, (public, _local_key(local)))


def parse_local(text: str, releases: Collection[RocmVersion] = ()) -> Local:
    """What the local part ``text`` (without the plus) says; its words may stand in any order."""
    local = Local(text)
    rest: list[str] = []
    for match in _PART.finditer(re.sub(r"[-_]", ".", text.lower())):
        name, value = match.lastgroup or "rest", match[match.lastgroup or 0]
        if name in {"rocm", "unread"} and local.rocm is None:
            readings = _readings(value, releases) if name == "rocm" else ()
            local = replace(local, rocm=RocmPart(value, readings))
        elif name in {"git", "dirty", "cuda", "torch"} and not getattr(local, name):
            local = replace(local, **{name: value})
        elif name == "cpu" and not local.cpu:
            local = replace(local, cpu=True)
        else:
            rest.append(match[0])
    return replace(local, rest=tuple(sorted(rest)))


def _readings(text: str, releases: Collection[RocmVersion]) -> tuple[RocmVersion, ...]:
    digits = re.split(r"[^0-9]", text, maxsplit=1)[0]
    tail = text.removeprefix(digits)
    spellings = [text] if re.match(r"\.[0-9]", tail) else [f"{each}{tail}" for each in _split(digits)]
    found: list[RocmVersion] = []
    for spelling in spellings:
        try:
            found.append(parse_rocm(spelling))
        except ValueError:
            continue
    known = [reading for reading in found if reading in releases]
    return tuple(known or found)


def _split(digits: str) -> Iterator[str]:
    """The ways to put dots between ``digits``. The major is one digit, or two that begin with 1: no build
    of the field is for ROCm 1. A number does not begin with 0, and a major alone is its first release."""
    width = 2 if digits.startswith("1") else 1
    major, others = digits[:width], digits[width:]
    if not others:
        yield f"{major}.0"
    for cut in range(1, len(others) + 1):
        parts = [part for part in (others[:cut], others[cut:]) if part]
        if len(others) <= 4 and not any(len(part) > 1 and part.startswith("0") for part in parts):
            yield ".".join((major, *parts))


def _local_key(local: Local | None) -> tuple[Any, ...]:
    """None sorts lowest, as in PEP 440; locals without ROCm among themselves as in PEP 440."""
    if local is None:
        return ()
    if local.rocm is None:
        return (0, tuple(map(_segment, re.split(r"[._-]", local.text.lower()))))
    return (1, local.rocm.key, tuple(map(_segment, _words(local))))


def _words(local: Local) -> Iterator[str]:
    """All but ROCm, in one order and spelling."""
    for before, word in (("torch", local.torch), ("", local.cuda), ("git", local.git), ("d", local.dirty)):
        if word:
            yield before + word
    yield from ("cpu",) if local.cpu else ()
    yield from local.rest


def _segment(word: str) -> tuple[int, int, str]:
    return (1, int(word), "") if word.isdigit() else (0, 0, word)
