"""``rocmlock outdated``: what is newer than the lock, and what holds it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option, lock_beside, manifest_argument
from .sources import offline_option, source_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock
    from ..resolver.outdated import Outdated


@click.command(
    "outdated", epilog=examples("rocmlock outdated", "rocmlock outdated stack.toml --no-wheels --json")
)
@manifest_argument
@click.option("--no-wheels", is_flag=True, help="Do not ask the package index about wheels.")
@source_option
@offline_option
@json_option
def command(manifest: Path, *, no_wheels: bool, source: str, offline: bool, as_json: bool) -> None:
    """Tell what is newer than the lock beside MANIFEST, and what holds it back.

    For each package and wheel: what is locked, what `rocmlock update` would take, the newest there is, and
    what keeps an update from it: a line of the manifest, the pin of a tested set, a fact that rules newer
    ones out, a requirement. Nothing is written. Wheels cost a request each.
    """
    from dataclasses import asdict

    from ..lockfile.codec import read_lock
    from .inputs import read_demands
    from .render import answer_json, table, talk

    lock_path = lock_beside(manifest)
    read_demands(manifest)  # faults of the manifest before those of the lock
    lock = read_lock(lock_path)
    rows = _find(lock, manifest, lock_path, source, offline=offline, wheels=not (no_wheels or offline))
    if as_json:
        answer_json({"lock": str(lock_path), "outdated": [asdict(row) for row in rows]})
        return
    if rows:
        columns = ("name", "locked", "update takes", "newest", "held back by")
        table(columns, [_row(row) for row in rows])
    else:
        talk(f"Nothing is newer than {lock_path}.")
    if offline:
        talk("Offline: wheels and source distributions were not looked at.")
    moving = sum(row.update != row.locked for row in rows)
    if moving:
        talk(f"\n{moving} would move: rocmlock update{_option(manifest)}")


def _option(manifest: Path) -> str:
    return "" if manifest == Path("rocmlock.toml") else f" -m {manifest}"


def _row(row: Outdated) -> tuple[str, ...]:
    update = row.update if row.update != row.locked else "-"
    return (row.name, row.locked, update, row.newest, "; ".join(row.held_by))


def _find(
    lock: Lock, manifest: Path, lock_path: Path, source: str, *, offline: bool, wheels: bool
) -> tuple[Outdated, ...]:
    import os

    from ..manifests.loader import read_recipe_folders
    from ..package_index import PackageIndex
    from ..resolver.kept import Kept
    from ..resolver.newest import fetch_offered_sdists, fetch_offered_wheels
    from ..resolver.outdated import find_outdated_packages
    from ..resolver.outdated_wheels import find_outdated_wheels
    from ..resolver.recipe import read_recipes
    from ..resolver.resolve import choose_targets
    from .inputs import read_demands
    from .resolving import resolve_manifest
    from .sources import ask

    demands = read_demands(manifest)
    recipes = read_recipes(read_recipe_folders(manifest))
    anew = Kept(lock, moving=None)
    index = PackageIndex(os.environ)
    sdists = {} if offline else fetch_offered_sdists(index, lock)
    packages = ask(
        source,
        recipes,
        lambda catalog: find_outdated_packages(
            lock,
            demands,
            choose_targets(demands, catalog, recipes, anew, frozenset()),
            catalog,
            recipes,
            sdists=sdists,
        ),
        offline=offline,
    )
    if not wheels:
        return packages
    updated = resolve_manifest(manifest, lock_path, anew, source, offline=offline).lock
    return (*packages, *find_outdated_wheels(lock, updated, demands, fetch_offered_wheels(index, lock)))
