"""GPU targets: which exist, how a target ID is written, what a code object's ELF flags say. Pure.

Processors, ELF flags and features are those of LLVM's AMDGPU back end.
A target ID is a processor with optional features: ``gfx90a:sramecc+:xnack-``. Without a feature the code runs
in either mode of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

FEATURES = ("sramecc", "xnack")  # in the order that target IDs are written in


@dataclass(frozen=True, slots=True)
class Processor:
    """``mach`` is EF_AMDGPU_MACH of its code objects; ``features`` are those that a target ID may name."""

    name: str
    mach: int
    features: tuple[str, ...] = ()


# fmt: off
_PLAIN = (
    ("gfx700", 0x22), ("gfx701", 0x23), ("gfx702", 0x24), ("gfx802", 0x29), ("gfx803", 0x2A),
    ("gfx805", 0x3C),
    ("gfx1030", 0x36), ("gfx1031", 0x37), ("gfx1032", 0x38), ("gfx1033", 0x39), ("gfx1034", 0x3E),
    ("gfx1035", 0x3D), ("gfx1036", 0x45), ("gfx1100", 0x41), ("gfx1101", 0x46), ("gfx1102", 0x47),
    ("gfx1103", 0x44), ("gfx1150", 0x43), ("gfx1151", 0x4A), ("gfx1152", 0x55), ("gfx1153", 0x58),
    ("gfx1200", 0x48), ("gfx1201", 0x4E), ("gfx1250", 0x49), ("gfx1251", 0x5A),
    ("gfx10-3-generic", 0x53), ("gfx11-generic", 0x54), ("gfx12-generic", 0x59), ("gfx12-5-generic", 0x5B),
)
_XNACK = (
    ("gfx801", 0x28), ("gfx810", 0x2B), ("gfx900", 0x2C), ("gfx902", 0x2D), ("gfx904", 0x2E),
    ("gfx909", 0x31),
    ("gfx90c", 0x32), ("gfx1010", 0x33), ("gfx1011", 0x34), ("gfx1012", 0x35), ("gfx1013", 0x42),
    ("gfx9-generic", 0x51), ("gfx10-1-generic", 0x52),
)
_SRAMECC_XNACK = (
    ("gfx906", 0x2F), ("gfx908", 0x30), ("gfx90a", 0x3F), ("gfx942", 0x4C), ("gfx950", 0x4F),
    ("gfx9-4-generic", 0x5F),
)
_WITHDRAWN = (("gfx940", 0x40), ("gfx941", 0x4B))
# fmt: on


def _table(*groups: tuple[tuple[tuple[str, int], ...], tuple[str, ...]]) -> dict[str, Processor]:
    return {name: Processor(name, mach, features) for rows, features in groups for name, mach in rows}


PROCESSORS = _table((_PLAIN, ()), (_XNACK, ("xnack",)), (_SRAMECC_XNACK, FEATURES))
# What a binary may hold: older builds carry code for the withdrawn parts, though nobody may ask for it.
_HELD = {**PROCESSORS, **_table((_WITHDRAWN, FEATURES))}
_BY_MACH = {processor.mach: processor for processor in _HELD.values()}

# e_flags of code objects v4 and later: two bits a feature, 0 unsupported, 1 any, 2 off, 3 on.
_SHIFTS = {"xnack": 8, "sramecc": 10}


def normalise(text: str) -> str:
    """The canonical target ID for ``text``. ValueError, with the reason, for what nobody can build for."""
    name = text.strip().partition(":")[0]
    if name == "gfx000":
        raise ValueError(
            "gfx000 is no GPU: tools print it on a machine without one; name the GPU you build for"
        )
    if name in _HELD and name not in PROCESSORS:
        raise ValueError(f"{name} was a pre-production part; the MI300 series is gfx942")
    return normalise_held(text)


def normalise_held(text: str) -> str:
    """As :func:`normalise`, for the name of code that exists: withdrawn processors are targets here too."""
    name, *features = text.strip().split(":")
    processor = _HELD.get(name)
    if processor is None:
        raise ValueError(f"{name!r} is not a GPU target that is known")
    modes: dict[str, str] = {}
    for feature in features:
        word, mode = feature[:-1], feature[-1:]
        if mode not in {"+", "-"} or word not in FEATURES:
            raise ValueError(f"{feature!r} is no feature: write xnack+, xnack-, sramecc+ or sramecc-")
        if word not in processor.features:
            raise ValueError(f"{name} has no {word} mode")
        if word in modes:
            raise ValueError(f"{word} stands twice")
        modes[word] = mode
    return ":".join([name, *(f"{word}{modes[word]}" for word in FEATURES if word in modes)])


def sort_key(target: str) -> tuple[int, int, int, str]:
    """Numeric order: gfx90a < gfx942 < gfx1100. The last two digits of a processor are hexadecimal."""
    name = target.partition(":")[0]
    generic = re.fullmatch(r"gfx(\d+)(?:-(\d+))?-generic", name)
    if generic:
        return int(generic[1]), int(generic[2] or 0), -1, target
    digits = name.removeprefix("gfx")
    return int(digits[:-2] or 0), int(digits[-2], 16), int(digits[-1], 16), target


def sort_targets(targets: Iterable[str]) -> tuple[str, ...]:
    """Canonical target IDs in numeric order."""
    return tuple(sorted(targets, key=sort_key))


def nearest(text: str) -> str | None:
    """The known processor that ``text`` is most like; None when it is like none."""
    from difflib import get_close_matches

    near = get_close_matches(text.partition(":")[0].lower(), PROCESSORS, 1, 0.6)
    return near[0] if near else None


def target_of_elf_flags(flags: int) -> str | None:
    """The target ID that a code object's ELF ``e_flags`` (code object v4 or later) name; None: not known.

    Modes count only for the features that the processor's target IDs may name; bits 24 to 31 (the version of
    a generic target) do not change the target.
    """
    processor = _BY_MACH.get(flags & 0xFF)
    if processor is None:
        return None
    signs = {2: "-", 3: "+"}
    modes = {word: signs.get((flags >> _SHIFTS[word]) & 3) for word in processor.features}
    return ":".join([processor.name, *(f"{word}{sign}" for word, sign in modes.items() if sign)])
