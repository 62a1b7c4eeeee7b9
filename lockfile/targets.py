"""A lock of several targets as locks of one, and back. Pure.

Whatever works for one machine takes the lock of one target: names of packages and wheels are plain there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from attrs import evolve

from ..errors import TARGET_UNKNOWN, RocmlockError
from .model import Lock, Package, Target, Wheel, WheelFile

Served = TypeVar("Served", Package, WheelFile)


def lock_of(lock: Lock, target: str) -> Lock:
    """The part of ``lock`` that serves one target: the lock as if there were no other.

    Warnings are upstream's and stay. Cost: linear in the lock; none where it has that target alone.
    """
    if [each.name for each in lock.targets] == [target]:
        return lock
    return evolve(
        lock,
        targets=tuple(each for each in lock.targets if each.name == target),
        packages=tuple(_narrowed(lock.packages, target)),
        wheels=tuple(
            evolve(wheel, files=files)
            for wheel in lock.wheels
            if (files := tuple(_narrowed(wheel.files, target)))
        ),
    )


def _narrowed(items: Iterable[Served], target: str) -> Iterable[Served]:
    return (evolve(item, targets=(target,)) for item in items if target in item.targets)


def join_locks(locks: Sequence[Lock]) -> Lock:
    """One lock of locks for one target each, which share name and flags: what is equal stands once.

    Packages that differ in anything for two targets stand side by side under one name.
    """
    first, *others = locks
    if not others:
        return first
    wheels: dict[str, list[WheelFile]] = {}
    known: dict[str, Wheel] = {}
    for wheel in (wheel for lock in locks for wheel in lock.wheels):
        known.setdefault(wheel.id, wheel)
        wheels.setdefault(wheel.id, []).extend(wheel.files)
    return evolve(
        first,
        targets=tuple(target for lock in locks for target in lock.targets),
        packages=_joined((each for lock in locks for each in lock.packages), lambda each: each.name),
        wheels=tuple(
            evolve(known[id_], files=_joined(files, lambda each: each.file)) for id_, files in wheels.items()
        ),
        warnings=tuple(dict.fromkeys(warning for lock in locks for warning in lock.warnings)),
    )


def _joined(items: Iterable[Served], key: Callable[[Served], str]) -> tuple[Served, ...]:
    """Items that are equal apart from their targets as one; ``key`` is equal for equal ones, and cheap."""
    groups: dict[str, list[Served]] = {}
    for item in items:
        alike = groups.setdefault(key(item), [])
        for position, other in enumerate(alike):
            if evolve(item, targets=other.targets) == other:
                alike[position] = evolve(other, targets=tuple(sorted({*other.targets, *item.targets})))
                break
        else:
            alike.append(item)
    return tuple(item for alike in groups.values() for item in alike)


def pick_target(lock: Lock, name: str | None, command: str) -> Target:
    """The target called ``name``, or the only one; ``command`` is what to type, with ``{target}`` in it.

    Raises TARGET_UNKNOWN with every target and its command.
    """
    found = [target for target in lock.targets if name in (None, target.name)]
    if len(found) == 1:
        return found[0]
    from difflib import get_close_matches

    commands = {each.name: command.replace("{target}", f"--target {each.name}") for each in lock.targets}
    near = get_close_matches(name or "", commands, 1) or list(commands)
    words = f"The lock has no target {name!r}."
    if name is None:
        words = f"The lock has {len(lock.targets)} targets; say which one is meant."
    context = [f"{commands[each.name]}  ({describe_target(each)})" for each in lock.targets]
    raise RocmlockError(TARGET_UNKNOWN, words, context=context, hint=commands[near[0]])


def describe_target(target: Target) -> str:
    """``gfx942, ROCm 7.2.3, Python 3.12``."""
    rocm = [f"ROCm {target.rocm.version}"] if target.rocm else []
    return ", ".join((*target.gfx, *rocm, f"Python {target.python.version}"))
