"""Merging two locks that come from one: three locks in, one lock and what cannot be had together out. Pure.

Merged is by target, package and kind of fact, not by line. Facts that only make sense together (a source
and what is applied to it, the requirement lines of a layer and the wheels that they came to) count as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from attrs import evolve, fields, frozen

from .merge_checks import find_stale, find_unfit
from .merge_parts import merge_package, merge_python, merge_target
from .merge_picks import Clash, Picker, keep_listed
from .model import Flags, Lock, Package, Wheel, WheelFile
from .targets import join_locks, lock_of
from .wire_v1 import render_document

_NOTHING = Lock("", (), (), ())


@frozen
class Merged:
    """``ours`` and ``theirs`` are equal where nothing clashes; else each has its side of what does."""

    ours: Lock
    theirs: Lock
    clashes: tuple[Clash, ...]


def merge_locks(base: Lock | None, ours: Lock, theirs: Lock) -> Merged:
    """``base`` is what both sides began with, None where they share nothing.

    The lock is whole (find_inconsistencies) where there are no clashes.
    """
    documents = [render_document(lock) if lock else None for lock in (base, ours, theirs)]
    if documents[1] in (documents[0], documents[2]):
        return Merged(theirs, theirs, ())
    if documents[2] == documents[0]:
        return Merged(ours, ours, ())
    mine, clashes = _merge(base, ours, theirs, "ours")
    other, _ = _merge(base, ours, theirs, "theirs")
    base = base or _NOTHING
    clashes = [*clashes, *find_stale(base, ours, theirs)]
    return Merged(mine, other, tuple(clashes or find_unfit(mine, base, ours, theirs)))


def _merge(
    base: Lock | None, ours: Lock, theirs: Lock, prefer: Literal["ours", "theirs"]
) -> tuple[Lock, list[Clash]]:
    picker = Picker(prefer)
    name = picker.pick("lock", "", "name", base and base.name, ours.name, theirs.name)
    flags: dict[str, Any] = {
        field.name: picker.pick(
            "lock",
            "",
            f"flags.{field.name}",
            *(lock and getattr(lock.flags, field.name) for lock in (base, ours, theirs)),
        )
        for field in fields(Flags)
    }
    base = base or _NOTHING
    names = sorted({target.name for lock in (base, ours, theirs) for target in lock.targets})
    parts = [part for target in names if (part := _merge_part(target, base, ours, theirs, picker))]
    whole = join_locks(parts) if parts else evolve(ours, targets=(), packages=(), wheels=())
    warnings = keep_listed(base.warnings, ours.warnings, theirs.warnings)
    return evolve(whole, name=name, flags=Flags(**flags), warnings=warnings), picker.clashes


def _merge_part(name: str, base: Lock, ours: Lock, theirs: Lock, picker: Picker) -> Lock | None:
    """One target of the merged lock; None where it is gone."""
    had, mine, other = (lock_of(lock, name) if lock.target(name) else None for lock in (base, ours, theirs))
    if mine is None or other is None:
        # Warnings and flags are not the target's own.
        return picker.pick("target", name, "", *(_alone(part) for part in (had, mine, other)))
    picker.target = name
    packages = tuple(_merge_packages(had, mine, other, picker))
    python = merge_python(had, mine, other, picker)
    target = evolve(merge_target(had, mine, other, picker), python=python)
    part = evolve(mine, targets=(target,), packages=packages, wheels=())
    part = evolve(part, wheels=tuple(_merge_wheels(part, had, mine, other, picker)))
    picker.target = ""
    return part


def _alone(part: Lock | None) -> Lock | None:
    return part and evolve(part, name="", warnings=(), flags=Flags())


def _merge_packages(had: Lock | None, mine: Lock, other: Lock, picker: Picker) -> Iterator[Package]:
    sides = [{each.name: each for each in part.packages} if part else {} for part in (had, mine, other)]
    for name in sorted({*sides[0], *sides[1], *sides[2]}):
        before, left, right = (side.get(name) for side in sides)
        if left and right:
            yield merge_package(before, left, right, picker)
        elif found := picker.pick("package", name, "", before, left, right):
            yield found


def _merge_wheels(merged: Lock, had: Lock | None, mine: Lock, other: Lock, picker: Picker) -> Iterator[Wheel]:
    """The wheels that the merged lists name, wherever they are, and what stood in a side without a list."""
    named = _named(merged)
    sides = [{each.id: each for each in part.wheels} if part else {} for part in (had, mine, other)]
    spare = {
        id_ for part, side in ((mine, sides[1]), (other, sides[2])) for id_ in side if id_ not in _named(part)
    }
    for id_ in sorted({*sides[1], *sides[2]}):
        before, left, right = (_file(side.get(id_)) for side in sides)
        found: Any = None
        if id_ in named:
            found = (
                picker.pick("wheel", id_, "file", before, left, right) if left and right else left or right
            )
        elif id_ in spare:
            found = picker.pick("wheel", id_, "", before, left, right)
        if found:
            yield evolve(sides[1].get(id_) or sides[2][id_], files=(found,))


def _file(wheel: Wheel | None) -> WheelFile | None:
    return wheel.files[0] if wheel else None


def _named(part: Lock) -> set[str]:
    lists = [target.python.wheels for target in part.targets]
    lists += [needs.wheels for package in part.packages for needs in (package.build, package.run)]
    return {id_ for names in lists for id_ in names}
