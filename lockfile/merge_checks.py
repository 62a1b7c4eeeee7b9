"""Why two changes that touch different facts may still not go together. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from .checks import find_inconsistencies
from .merge_parts import groups
from .merge_picks import Clash
from .model import Lock, Package, Target
from .requirement_lines import find_unmet_lines
from .targets import lock_of

Side = tuple[str, Lock]


def find_stale(base: Lock, ours: Lock, theirs: Lock) -> Iterator[Clash]:
    """What one side chose or made for circumstances that the other side changed.

    Packages and wheels are chosen for a target's archs, ROCm, Python and compilers; a new package is made
    with the flags. Whether they are right for the new ones only a resolve can tell.
    """
    for (_, moved), (word, other) in (
        (("ours", ours), ("theirs", theirs)),
        (("theirs", theirs), ("ours", ours)),
    ):
        flags = moved.flags not in (base.flags, other.flags)
        for target in other.targets:
            had, now = base.target(target.name), moved.target(target.name)
            if had is None:
                if flags:
                    yield Clash("target", target.name, "", "", f"{word} added it for other flags")
                continue
            if now is None:
                continue  # gone altogether: that clashes by itself where the other side changed it
            circumstances = _circumstances(now) not in (_circumstances(had), _circumstances(target))
            yield from _stale(target.name, (base, moved, other), word, flags=flags, moved=circumstances)


def _stale(
    target: str, locks: tuple[Lock, Lock, Lock], word: str, *, flags: bool, moved: bool
) -> Iterator[Clash]:
    base, now, other = (lock_of(lock, target) for lock in locks)
    for package in other.packages:
        before, same = base.package(package.name, target), now.package(package.name, target)
        if same and _choice(same) == _choice(package):
            continue
        if before is None and (flags or moved):
            what = "another target" if moved else "other flags"
            yield Clash("package", package.name, "", target, f"{word} added it for {what}")
        elif moved and before and _choice(before) != _choice(package):
            yield Clash("package", package.name, "source", target, f"{word} chose it for another target")
    (before, same, mine) = (lock.targets[0].python for lock in (base, now, other))
    if moved and (mine.requires, mine.wheels) not in (
        (before.requires, before.wheels),
        (same.requires, same.wheels),
    ):
        yield Clash("target", target, "python.wheels", target, f"{word} chose its wheels for another target")


def _circumstances(target: Target) -> Target:
    """All of a target apart from its wheels, and from why it is as it is."""
    rocm = target.rocm and evolve(target.rocm, reasons=())
    return evolve(target, python=evolve(target.python, requires=(), wheels=()), rocm=rocm)


def _choice(package: Package) -> tuple[Any, ...]:
    """What was chosen: the source, and the wheels of its build."""
    chosen = tuple(getattr(package, field) for field in groups(Package)["source"])
    return (*chosen, package.build.wheels)


def find_unfit(merged: Lock, base: Lock, ours: Lock, theirs: Lock) -> list[Clash]:
    """What the merged lock lacks, and requirement lines that it alone does not meet."""
    faults = find_inconsistencies(merged)
    if faults:
        return [_fault(merged, path, sentence) for path, sentence in faults]
    found: list[Clash] = []
    for target in merged.targets:
        known: set[tuple[str, str]] = set()
        for lock in (base, ours, theirs):
            if lock.target(target.name):
                known |= find_unmet_lines(lock_of(lock, target.name))
        for who, line in sorted(find_unmet_lines(lock_of(merged, target.name)) - known):
            kind, name = ("package", who) if who else ("target", target.name)
            says = f"{line} is met on each side alone, and not by both together"
            found.append(Clash(kind, name, "requires", target.name, says))
    return found


def _fault(merged: Lock, path: tuple[str | int, ...], sentence: str) -> Clash:
    match path:
        case ("package", int(index), *_):
            package = merged.packages[index]
            return Clash("package", package.name, "", "", _needs(package, sentence))
        case ("target", int(index), *_):
            return Clash("target", merged.targets[index].name, "", "", sentence)
        case _:
            return Clash("lock", "", "", "", sentence)


def _needs(package: Package, sentence: str) -> str:
    """``triton has no [[package]]`` as what it means to the package that needs it."""
    missing, has_none, kind = sentence.partition(" has no [[")
    if not has_none:
        return sentence
    return f"{package.name} needs the {kind.partition(']]')[0]} {missing}, which the other side took out"
