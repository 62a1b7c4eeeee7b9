"""``rocmlock tree``: who needs whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import examples, json_option, lock_argument

if TYPE_CHECKING:
    from ..lockfile.model import Lock


@click.command("tree", epilog=examples("rocmlock tree"))
@lock_argument
@json_option
def command(lock: Path, *, as_json: bool) -> None:
    """Show which packages of LOCK need which, to be built and to run."""
    from ..lockfile.codec import read_lock
    from .render import answer_json

    held = read_lock(lock)
    if as_json:
        answer_json(describe_needs(held))
        return
    needed = {n for package in held.packages for n in (*package.build.packages, *package.run.packages)}
    for package in held.packages:
        if package.name not in needed:
            for line in tree_lines(held, package.name):
                click.echo(line)


def describe_needs(lock: Lock) -> dict[str, Any]:
    """Each package with what it is built with and what it runs with."""
    return {
        package.name: {
            "version": package.version,
            "build": {"packages": list(package.build.packages), "wheels": list(package.build.wheels)},
            "run": {"packages": list(package.run.packages), "requirements": list(package.run.python)},
        }
        for package in lock.packages
    }


def tree_lines(lock: Lock, name: str, depth: int = 0, how: str = "") -> list[str]:
    """A package and, indented, what it needs. Locks hold no circles, so this ends."""
    package = lock.package(name)
    if package is None:
        return []
    counts = f"{len(package.build.wheels)} build wheels, {len(package.run.python)} requirements"
    lines = [f"{'  ' * depth}{name} {package.version or '?'}{how}  ({counts})"]
    for need in sorted({*package.build.packages, *package.run.packages}):
        kinds = [
            kind
            for kind, names in (("build", package.build.packages), ("run", package.run.packages))
            if need in names
        ]
        lines += tree_lines(lock, need, depth + 1, f" [{' and '.join(kinds)}]")
    return lines
