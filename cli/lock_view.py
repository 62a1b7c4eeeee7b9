"""A lock laid out for tables and JSON. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import asdict

from ..lockfile.model import Lock
from ..lockfile.targets import lock_of, pick_target
from .words import source_words, target_words, why_words

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Names of columns, and rows."""


def package_table(lock: Lock) -> Table:
    """What a lock has of each package: what reads alike for several targets is one row. A column names the
    targets where the lock has several."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for package in lock.packages:
        row = (package.name, package.version or "?", source_words(package), why_words(package, lock))
        rows.setdefault(row, []).extend(package.targets)
    columns = ("package", "version", "source", "why")
    if len(lock.targets) == 1:
        return columns, list(rows)
    named = [(row[0], target_words(targets, lock), *row[1:]) for row, targets in rows.items()]
    return (columns[0], "targets", *columns[1:]), named


def show_alone(lock: Lock, target: str | None, command: str) -> Lock:
    """The lock as it is shown: of the target that is named alone. ``command``, errors: as in pick_target."""
    return lock if target is None else lock_of(lock, pick_target(lock, target, command).name)


def group_by_target(lock: Lock, lines_of: Callable[[Lock], list[str]]) -> Iterator[str]:
    """The lines of each target's part of a lock. Targets with equal lines share them; a heading names the
    targets where not all have the same."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for target in lock.targets:
        lines = tuple(lines_of(lock_of(lock, target.name)))
        if lines:
            groups.setdefault(lines, []).append(target.name)
    for lines, targets in groups.items():
        if len(targets) == len(lock.targets):
            yield from lines
        else:
            yield f"{', '.join(targets)}:"
            yield from (f"  {line}" for line in lines)


def describe_lock(lock: Lock) -> dict[str, Any]:
    """The lock for ``--json``: targets, packages with their reasons, wheels, warnings."""
    packages = [
        {
            "name": package.name,
            "targets": list(package.targets),
            "version": package.version,
            "source": asdict(package.source),
            "picks": list(package.picks),
            "gfx": list(package.gfx),
            "reasons": [asdict(reason) for reason in package.reasons],
        }
        for package in lock.packages
    ]
    return {
        "name": lock.name,
        "targets": [asdict(target) for target in lock.targets],
        "packages": packages,
        "wheels": [wheel.id for wheel in lock.wheels],
        "warnings": [asdict(warning) for warning in lock.warnings],
    }
