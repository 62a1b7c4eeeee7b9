"""Three number lines that look alike: ROCm releases, HIP and the amdgpu driver. Pure.

They are three types, and comparing one with another is a TypeError: HIP 7.2.26015 belongs to ROCm 7.2.0, HIP
7.13 to previews of ROCm 7.14, and no arithmetic leads from one to the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering
from typing import Any, TypeVar

from packaging.version import Version

_PREFIXED = re.compile(r"(?:rocm-|therock-|v)?(?P<version>[0-9].*)")
_HIP = re.compile(r"(?P<numbers>[0-9]+\.[0-9]+(?:\.[0-9]+)?)(?:[-+](?P<build>[0-9a-z]{1,40}))?")
_DRIVER = re.compile(r"(?P<numbers>[0-9]+(?:\.[0-9]+){1,2})(?:-(?P<build>[0-9A-Za-z_.]+))?")

# The third number of a HIP version counts builds, that of a ROCm release patches.
_BUILD_COUNT = re.compile(r"[0-9]+\.[0-9]+\.[0-9]{4,}")

_LONGEST = 100
"""Characters. What is longer is no version, and may be long for the sake of harm."""

Self = TypeVar("Self", bound="_OnALine")


@total_ordering
class _OnALine:
    """Ordered among its own kind alone."""

    __slots__ = ()
    text: str
    key: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.key == other.key

    def __lt__(self: Self, other: Self) -> bool:
        return self.key < other.key if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self.key))

    @property
    def order(self) -> tuple[Any, ...]:
        """A key to sort by: the version, then its spelling."""
        return (self.key, self.text)


@dataclass(frozen=True, eq=False)
class RocmVersion(_OnALine):
    """A ROCm release or preview. ``numbers`` are as written, without a number that repeats the others;
    ``pep440`` is as packages write it: ``7.14.0a20260521``."""

    text: str
    numbers: tuple[int, ...]
    pep440: str
    key: Version = field(repr=False)

    @property
    def is_preview(self) -> bool:
        return self.key.is_prerelease


@dataclass(frozen=True, eq=False)
class HipVersion(_OnALine):
    """A HIP version, as ``hipconfig --version`` and torch.version.hip print it."""

    text: str
    numbers: tuple[int, ...]
    commit: str = ""
    key: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, eq=False)
class DriverVersion(_OnALine):
    """A version of the amdgpu driver (6.14.14, 30.10)."""

    text: str
    numbers: tuple[int, ...]
    build: str = ""
    key: tuple[Any, ...] = field(default=(), repr=False)


def parse_rocm(text: str) -> RocmVersion:
    """A ROCm version as upstream spells it. ValueError, in a sentence, for what is none or says nothing."""
    match = _PREFIXED.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match and _BUILD_COUNT.match(match["version"]):
        raise ValueError(f"{text!r} is a HIP version: ROCm's own has a small third number, such as 7.2.3")
    version = _pep440(match["version"]) if match else None
    if version is None or version.epoch or not 2 <= len(version.release) <= 4:
        raise ValueError(f"{text[:_LONGEST]!r} is no ROCm version: write for example 7.2.3")
    numbers = _without_packed(version.release)
    spelled = str(version).replace(version.base_version, ".".join(map(str, numbers)), 1)
    return RocmVersion(text, numbers, spelled, Version(Version(spelled).public))


def parse_hip(text: str) -> HipVersion:
    """A HIP version. ValueError for what is none."""
    match = _HIP.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(
            f"{text[:_LONGEST]!r} is no HIP version: "
            "hipconfig --version prints one, such as 7.2.26024-84e847721f"
        )
    numbers = tuple(map(int, match["numbers"].split(".")))
    build = match["build"] or ""
    commit = build if re.fullmatch(r"[0-9a-f]{6,40}", build) else ""
    return HipVersion(text, numbers, commit, _padded(numbers))


def parse_driver(text: str) -> DriverVersion:
    """A version of the amdgpu driver. ValueError for what is none."""
    match = _DRIVER.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(
            f"{text[:_LONGEST]!r} is no driver version: modinfo -F version amdgpu prints one, such as 6.14.14"
        )
    numbers = tuple(map(int, match["numbers"].split(".")))
    return DriverVersion(text, numbers, match["build"] or "", (_padded(numbers), match["build"] or ""))


def rocm_in(text: str, specifier: str) -> bool:
    """Whether a ROCm version is in a range of a manifest (PEP 440's grammar). ValueError as parse_rocm.

    ``7.0`` is the release 7.0.0: a range that begins at a patch of it leaves it out. A preview counts only
    where the range names one.
    """
    from packaging.specifiers import SpecifierSet

    version = parse_rocm(text)
    allowed = SpecifierSet(specifier)
    if version.is_preview and not allowed.prereleases:
        return False
    return allowed.contains(version.pep440, prereleases=True)


def _pep440(text: str) -> Version | None:
    try:
        return Version(text)
    except ValueError:
        return None


def _without_packed(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """AMD's packages repeat the release in a fourth number: 7.2.4.70204."""
    if len(numbers) == 4 and numbers[3] == numbers[0] * 10000 + numbers[1] * 100 + numbers[2]:
        return numbers[:3]
    return numbers


def _padded(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers, 0, 0, 0)[:4]
