"""``rocmlock tree``: who needs whom."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_LOCK, examples, json_option, lock_argument, shown_target_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock, Package


@click.command("tree", epilog=examples("rocmlock tree", "rocmlock tree --target mi250"))
@lock_argument
@shown_target_option
@json_option
def command(lock: Path, target: str | None, *, as_json: bool) -> None:
    """Show which packages of LOCK need which, to be built and to run."""
    from ..lockfile.codec import read_lock
    from ..lockfile.targets import lock_of
    from .lock_view import group_by_target, show_alone
    from .render import answer_json

    named = "" if lock == DEFAULT_LOCK else f" {lock}"
    held = show_alone(read_lock(lock), target, f"rocmlock tree{named} {{target}}")
    if as_json:
        answer_json({each.name: describe_needs(lock_of(held, each.name)) for each in held.targets})
        return
    for line in group_by_target(held, tree_lines):
        click.echo(line)


def describe_needs(lock: Lock) -> dict[str, Any]:
    """Each package of a lock of one target with what it is built with and what it runs with."""
    return {
        package.name: {
            "version": package.version,
            "build": {"packages": list(package.build.packages), "wheels": list(package.build.wheels)},
            "run": {"packages": list(package.run.packages), "requirements": list(package.run.python)},
        }
        for package in lock.packages
    }


def tree_lines(lock: Lock) -> list[str]:
    """The packages of a lock of one target that no other needs, each with what it needs."""
    needed = {n for package in lock.packages for n in (*package.build.packages, *package.run.packages)}
    packages = {package.name: package for package in lock.packages}
    return [line for name in packages if name not in needed for line in _branch(packages, name)]


def _branch(packages: Mapping[str, Package], name: str, depth: int = 0, how: str = "") -> list[str]:
    """A package and, indented, what it needs. Locks hold no circles, so this ends."""
    package = packages[name]
    counts = f"{len(package.build.wheels)} build wheels, {len(package.run.python)} requirements"
    lines = [f"{'  ' * depth}{name} {package.version or '?'}{how}  ({counts})"]
    for need in sorted({*package.build.packages, *package.run.packages}):
        kinds = [
            kind
            for kind, names in (("build", package.build.packages), ("run", package.run.packages))
            if need in names
        ]
        lines += _branch(packages, need, depth + 1, f" [{' and '.join(kinds)}]")
    return lines
