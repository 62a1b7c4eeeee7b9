"""``rocmlock resolve``: manifest to lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option, lock_beside, manifest_argument
from .sources import source_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock
    from ..resolver.resolve import Resolved


@click.command(
    "resolve",
    epilog=examples("rocmlock resolve", "rocmlock resolve stack.toml -o shared/stack.lock"),
)
@manifest_argument
@click.option("-o", "--output", "lock_path", type=click.Path(path_type=Path), help="The lock to write.")
@click.option(
    "--locked",
    is_flag=True,
    envvar="ROCMLOCK_LOCKED",
    help="Fail where the lock that is there does not satisfy the manifest; write nothing.",
)
@source_option
@json_option
def command(manifest: Path, lock_path: Path | None, *, locked: bool, source: str, as_json: bool) -> None:
    """Resolve MANIFEST to a lock of exact commits and hashes.

    Each comes with its reason. The lock stands beside the manifest (NAME.toml -> NAME.lock); what an
    existing lock pins is kept as long as it satisfies the manifest.
    """
    import os

    from ..files import write_text
    from ..lockfile.codec import read_lock, render_lock
    from ..manifests.loader import read_recipe_folders
    from ..resolver.own_sources import Surroundings
    from ..resolver.recipe import read_recipes
    from ..resolver.resolve import resolve
    from ..store.trees import tree_digest
    from .check import require_satisfied
    from .inputs import read_demands
    from .render import talk
    from .sources import ask

    lock_path = lock_path or lock_beside(manifest)
    demands = read_demands(manifest)
    old = read_lock(lock_path) if lock_path.exists() else None
    if locked:
        lock = old if old is not None else read_lock(lock_path)
        require_satisfied(lock, demands, lock_path, manifest)
        _answer(lock, lock_path, as_json=as_json)
        return
    around = Surroundings(
        manifest_folder=manifest.absolute().parent,
        lock_folder=lock_path.absolute().parent,
        environ=dict(os.environ),
        tree_digest=lambda folder: str(tree_digest(folder)),
        tell=lambda text: talk(f"{text} …"),
    )
    recipes = read_recipes(read_recipe_folders(manifest))
    resolved = ask(source, recipes, lambda catalog: resolve(demands, catalog, recipes, around, old))
    changed = write_text(lock_path, render_lock(resolved.lock))
    _answer(resolved.lock, lock_path, as_json=as_json)
    if not as_json:
        _talk(resolved, lock_path, changed=changed)


def _answer(lock: Lock, lock_path: Path, *, as_json: bool) -> None:
    from .lock_view import describe_lock, package_table
    from .render import answer_json, table

    if as_json:
        answer_json({"lock": str(lock_path), **describe_lock(lock)})
    else:
        table(*package_table(lock))


def _talk(resolved: Resolved, lock_path: Path, *, changed: bool) -> None:
    from .lock_view import group_by_target
    from .render import talk
    from .words import place_words

    lock = resolved.lock
    lines = list(group_by_target(lock, lambda part: _passed_over(resolved, part)))
    for line in ["\nPassed over:", *(f"  {line}" for line in lines)] if lines else []:
        talk(line)
    for warning in lock.warnings:
        places = " against ".join(place_words(at, lock) for at in warning.at)
        talk(f"warning: {warning.says}  [{places}]")
    word = "Wrote" if changed else "Unchanged:"
    packages = len({package.name for package in lock.packages})
    on = f" for {len(lock.targets)} targets" if len(lock.targets) > 1 else ""
    talk(f"\n{word} {lock_path}: {packages} packages from source{on}, {len(lock.wheels)} wheels.")


def _passed_over(resolved: Resolved, part: Lock) -> list[str]:
    """The sets that were not taken for the target of ``part``, in words."""
    from ..resolver.explain import group_lines

    resolution = resolved.resolutions.get(part.targets[0].name)
    return list(group_lines(resolution.passed_over)) if resolution else []
