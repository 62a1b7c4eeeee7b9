"""Versions of Python packages: PEP 440, with the local part of ROCm builds read as numbers. Pure.

PEP 440 compares a local part segment by segment, and so puts ``+rocm7.15`` above ``+rocm10.1``. Here the ROCm
version in it is compared as a version; everything else is as PEP 440 has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering
from typing import Any

from packaging.version import InvalidVersion, Version

# The words of local parts that mean something, wherever they stand.
_ROCM = re.compile(r"rocm(?P<digits>\d+(?:\.\d+)*)(?P<pre>(?:a|b|rc|dev)\d+)?(?=\.|$)")
_WORDS = {
    "git": re.compile(r"(?:git|g)([0-9a-f]{6,40})"),
    "dirty": re.compile(r"d(\d{8})"),
    "cuda": re.compile(r"(cu\d+)"),
    "torch": re.compile(r"torch(\d+)"),
}
_PRE = {"dev": 0, "a": 1, "b": 2, "rc": 3}


@dataclass(frozen=True, slots=True)
class RocmPart:
    """``rocm7.15.0a20260728``: ``numbers`` (7, 15, 0) and ``pre`` ("a", 20260728).

    ``certain`` is False where digits stand without dots and can be split in more than one way. ``numbers``
    then are one digit each: ``rocm722`` is 7.2.2, but ``rocm713`` may as well mean 7.13.
    """

    numbers: tuple[int, ...]
    pre: tuple[str, int] | None
    certain: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """Order: trailing zeros mean nothing, and what comes before a release sorts before it."""
        kind, number = self.pre or ("", 0)
        return (_trimmed(self.numbers), _PRE.get(kind, 9), number)


@dataclass(frozen=True, slots=True)
class Local:
    """What a local part says.

    ``git`` is a short commit, ``dirty`` the day (YYYYMMDD) of changes that no commit has, ``rest`` the words
    that mean nothing here, sorted.
    """

    text: str
    rocm: RocmPart | None = None
    git: str = ""
    dirty: str = ""
    cuda: str = ""
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


def parse_package_version(text: str) -> PackageVersion:
    """The version in ``text``. ValueError, in a sentence, for what PEP 440 does not take."""
    try:
        version = Version(text)
    except InvalidVersion:
        raise ValueError(f"{text!r} is no version of a Python package") from None
    public = Version(version.public)
    local = parse_local(version.local) if version.local else None
    return PackageVersion(text, public, local, (public, _local_key(local)))


def parse_local(text: str) -> Local:
    """What the local part ``text`` (without the plus) says; its words may stand in any order."""
    words = text.lower().replace("-", ".").replace("_", ".")
    rocm = None
    if match := _ROCM.search(words):
        rocm = _rocm_part(match["digits"], match["pre"])
        words = (words[: match.start()] + words[match.end() :]).strip(".").replace("..", ".")
    found: dict[str, str] = {}
    rest: list[str] = []
    for word in filter(None, words.split(".")):
        name = next((name for name, pattern in _WORDS.items() if pattern.fullmatch(word)), None)
        if name is None or name in found:
            rest.append(word)
        else:
            found[name] = _first_group(_WORDS[name], word)
    return Local(text, rocm, rest=tuple(sorted(rest)), **found)


def _first_group(pattern: re.Pattern[str], word: str) -> str:
    match = pattern.fullmatch(word)
    return match[1] if match else ""


def _rocm_part(digits: str, pre: str | None) -> RocmPart:
    kind = (pre or "").rstrip("0123456789")
    before = (kind, int(pre.removeprefix(kind))) if pre else None
    if "." in digits or len(digits) == 1:
        return RocmPart(tuple(map(int, digits.split("."))), before, certain=True)
    if len(digits) == 2:
        return RocmPart((int(digits[0]), int(digits[1])), before, certain=digits[0] != "1")
    return RocmPart(tuple(map(int, digits)), before, certain=False)


def _trimmed(numbers: tuple[int, ...]) -> tuple[int, ...]:
    last = next((index for index in range(len(numbers), 0, -1) if numbers[index - 1]), 0)
    return numbers[:last]


def _local_key(local: Local | None) -> tuple[Any, ...]:
    """None sorts lowest, as in PEP 440; locals without ROCm among themselves as in PEP 440."""
    if local is None:
        return ()
    rocm = local.rocm.key if local.rocm else ()
    words = local.rest if local.rocm else re.split(r"[._-]", local.text.lower())
    if local.rocm:
        words = (*(word for word in (local.torch, local.cuda, local.git, local.dirty) if word), *words)
    return (rocm, tuple((1, int(word), "") if word.isdigit() else (0, 0, word) for word in words))
