"""Merging what both sides have: a package, a target. Pure.

Every field belongs to a group; a field that is named nowhere here is a group of its own.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve, fields

from .merge_picks import Picker, keep_listed
from .model import Lock, Package, Python, Requires, Target

_GROUPS: dict[str, str] = {
    # Picks and patches apply to one source; a version is what that source is.
    **dict.fromkeys(("distribution", "version", "source", "picks", "patches", "downloads"), "source"),
    **dict.fromkeys(("gfx", "gfx_reasons"), "gfx"),
}
_APART = {"name", "targets", "environment", "build", "run", "reasons"}
LAYER = ("requires", "wheels")


def groups(cls: type) -> dict[str, list[str]]:
    """Group -> fields of a class of the model, apart from those that are merged piece by piece."""
    found: dict[str, list[str]] = {}
    for field in fields(cls):
        if field.name not in _APART:
            found.setdefault(_GROUPS.get(field.name) or field.name, []).append(field.name)
    return found


def merge_package(before: Package | None, ours: Package, theirs: Package, picker: Picker) -> Package:
    """The package of both sides. ``before`` is None where both brought it."""
    name = ours.name
    made: dict[str, Any] = {}
    for group, names in groups(Package).items():
        sides = [
            tuple(getattr(side, each) for each in names) if side else None for side in (before, ours, theirs)
        ]
        values = picker.pick("package", name, group, *sides)
        made |= dict(zip(names, values or (), strict=True))
    made["environment"] = _merge_environment(before, ours, theirs, picker)
    for need in ("build", "run"):
        had = getattr(before, need) if before else None
        made[need] = _merge_requires(name, need, (had, getattr(ours, need), getattr(theirs, need)), picker)
    made["reasons"] = _merge_reasons(before, ours, theirs, picker)
    return evolve(ours, **made)


def _merge_environment(
    before: Package | None, ours: Package, theirs: Package, picker: Picker
) -> dict[str, str]:
    sides = [side.environment if side else {} for side in (before, ours, theirs)]
    merged = {
        variable: picker.pick(
            "package", ours.name, f"environment.{variable}", *(side.get(variable) for side in sides)
        )
        for variable in sorted({*sides[0], *sides[1], *sides[2]})
    }
    return {variable: value for variable, value in merged.items() if value is not None}


def _merge_requires(
    name: str, need: str, sides: tuple[Requires | None, Requires, Requires], picker: Picker
) -> Requires:
    packages = picker.pick(
        "package", name, f"requires.{need}.packages", *(side.packages if side else None for side in sides)
    )
    layer = picker.pick(
        "package",
        name,
        f"requires.{need}.wheels",
        *((side.python, side.wheels) if side else None for side in sides),
    )
    python, wheels = layer or ((), ())
    return Requires(packages or (), python, wheels)


def _merge_reasons(before: Package | None, ours: Package, theirs: Package, picker: Picker) -> tuple[Any, ...]:
    """Reasons go with the source that they are for, and never clash by themselves."""
    names = groups(Package)["source"]

    def source(side: Package | None) -> tuple[Any, ...] | None:
        return side and tuple(getattr(side, each) for each in names)

    if source(ours) != source(theirs):
        if source(theirs) == source(before) or (source(ours) != source(before) and picker.prefer == "ours"):
            return ours.reasons
        return theirs.reasons
    return keep_listed(before.reasons if before else (), ours.reasons, theirs.reasons)


def merge_target(had: Lock | None, mine: Lock, other: Lock, picker: Picker) -> Target:
    """The target of both sides without its Python."""
    before, ours, theirs = (part.targets[0] if part else None for part in (had, mine, other))
    assert ours is not None  # noqa: S101 -- both sides have the target
    made = {
        field.name: picker.pick(
            "target",
            ours.name,
            field.name,
            *(getattr(side, field.name, None) for side in (before, ours, theirs)),
        )
        for field in fields(Target)
        if field.name not in {"name", "python"}
    }
    return evolve(ours, **made)


def merge_python(had: Lock | None, mine: Lock, other: Lock, picker: Picker) -> Python:
    """The interpreter as one, the requirements and their wheels as one."""
    sides = [part.targets[0].python if part else None for part in (had, mine, other)]
    ours = mine.targets[0]
    interpreter = [field.name for field in fields(Python) if field.name not in LAYER]
    made: dict[str, Any] = {}
    for group, names in (("python", interpreter), ("python.wheels", LAYER)):
        values = picker.pick(
            "target",
            ours.name,
            group,
            *(tuple(getattr(side, each) for each in names) if side else None for side in sides),
        )
        made |= dict(zip(names, values or (), strict=True))
    return evolve(ours.python, **made)
