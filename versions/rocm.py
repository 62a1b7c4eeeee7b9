"""Three number lines that look alike: ROCm releases, HIP and the amdgpu driver. Pure.

They are three types, and comparing one with another is a TypeError: HIP 7.2.26024 belongs to ROCm 7.2.0, HIP
7.13 to ROCm 7.14, and no arithmetic leads from one to the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering
from typing import Any, TypeVar

from packaging.specifiers import SpecifierSet
from packaging.version import Version

_PRE = {"dev": 0, "a": 1, "b": 2, "rc": 3}
_ROCM = re.compile(
    r"(?:rocm-|therock-|v)?(?P<numbers>\d+(?:\.\d+){1,3})(?:[-_.]?(?P<pre>a|b|rc|dev)(?P<n>\d+))?"
    r"(?:\.post(?P<post>\d+))?(?:\+(?P<local>[A-Za-z0-9.]+))?"
)
_HIP = re.compile(r"(?P<numbers>\d+\.\d+\.\d+)(?:[-+](?P<commit>[0-9a-f]{6,40}))?")
_DRIVER = re.compile(r"(?P<numbers>\d+(?:\.\d+){1,2})(?:-(?P<build>[\w.]+))?")

# The third number of a HIP version counts builds, that of a ROCm release patches.
_MOST_PATCHES = 999

Self = TypeVar("Self", bound="_OnALine")


@total_ordering
class _OnALine:
    """Ordered among its own kind alone."""

    __slots__ = ()
    key: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.key == other.key

    def __lt__(self: Self, other: Self) -> bool:
        return self.key < other.key if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self.key))


@dataclass(frozen=True, eq=False)
class RocmVersion(_OnALine):
    """A ROCm release or preview. ``numbers`` are as written, ``pre`` e.g. ("a", 20260521)."""

    text: str
    numbers: tuple[int, ...]
    pre: tuple[str, int] | None = None
    key: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def pep440(self) -> str:
        """As packages write it: ``7.14.0a20260521``."""
        pre = f"{'.' if self.pre[0] == 'dev' else ''}{self.pre[0]}{self.pre[1]}" if self.pre else ""
        return ".".join(map(str, self.numbers)) + pre


@dataclass(frozen=True, eq=False)
class HipVersion(_OnALine):
    """A HIP version, as ``hipconfig --version`` and torch.version.hip print it."""

    text: str
    numbers: tuple[int, ...]
    commit: str = ""
    key: tuple[Any, ...] = field(default=(), repr=False)


@dataclass(frozen=True, eq=False)
class DriverVersion(_OnALine):
    """A version of the amdgpu driver (6.14.14, 30.10)."""

    text: str
    numbers: tuple[int, ...]
    build: str = ""
    key: tuple[Any, ...] = field(default=(), repr=False)


def parse_rocm(text: str) -> RocmVersion:
    """A ROCm version as upstream spells it. ValueError, in a sentence, for what is none or says nothing.

    ``7.2.4.70204`` has its own number once more at the end, which is left out.
    """
    hip = _HIP.fullmatch(text.strip())
    if hip and int(hip["numbers"].rsplit(".", 1)[1]) > _MOST_PATCHES:
        raise ValueError(f"{text!r} is a HIP version: ROCm's own has a small third number, such as 7.2.3")
    match = _ROCM.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no ROCm version: write for example 7.2.3")
    numbers = tuple(map(int, match["numbers"].split(".")))[:3]
    pre = (match["pre"], int(match["n"])) if match["pre"] else None
    kind, count = pre or ("", 0)
    key = (_padded(numbers), _PRE.get(kind, 9), count, int(match["post"] or -1))
    return RocmVersion(text, numbers, pre, key)


def parse_hip(text: str) -> HipVersion:
    """A HIP version. ValueError for what is none."""
    match = _HIP.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is no HIP version: hipconfig --version prints one, such as 7.2.26024-84e847721f"
        )
    numbers = tuple(map(int, match["numbers"].split(".")))
    return HipVersion(text, numbers, match["commit"] or "", numbers)


def parse_driver(text: str) -> DriverVersion:
    """A version of the amdgpu driver. ValueError for what is none."""
    match = _DRIVER.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is no driver version: modinfo -F version amdgpu prints one, such as 6.14.14"
        )
    numbers = tuple(map(int, match["numbers"].split(".")))
    return DriverVersion(text, numbers, match["build"] or "", (_padded(numbers), match["build"] or ""))


def rocm_in(text: str, specifier: str) -> bool:
    """Whether a ROCm version is in a range of a manifest (PEP 440's grammar). ValueError as parse_rocm.

    ``7.0`` is the release 7.0.0: a range that begins at a patch of it leaves it out. A preview counts only
    where the range names one.
    """
    version = Version(parse_rocm(text).pep440)
    allowed = SpecifierSet(specifier)
    if version.is_prerelease and not allowed.prereleases:
        return False
    return allowed.contains(version, prereleases=True)


def _padded(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers, 0, 0, 0)[:4]
