"""What resolve and update share: reading the inputs, asking a catalog, and saying how it went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lockfile.model import Lock
    from ..resolver.kept import Kept
    from ..resolver.resolve import Resolved


def resolve_manifest(manifest: Path, lock_path: Path, kept: Kept, source: str, *, offline: bool) -> Resolved:
    """The lock for ``manifest`` by the catalog that ``source`` names. Raises as resolve does."""
    import os

    from ..manifests.loader import read_recipe_folders
    from ..resolver.own_sources import Surroundings
    from ..resolver.recipe import read_recipes
    from ..resolver.resolve import resolve
    from .inputs import read_demands
    from .render import talk
    from .sources import ask

    demands = read_demands(manifest)
    around = Surroundings(
        manifest_folder=manifest.absolute().parent,
        lock_folder=lock_path.absolute().parent,
        environ=dict(os.environ),
        tree_digest=digest_folder,
        tell=lambda text: talk(f"{text} …"),
        offline=offline,
    )
    recipes = read_recipes(read_recipe_folders(manifest))
    return ask(
        source,
        recipes,
        lambda catalog: resolve(demands, catalog, recipes, around, kept),
        offline=offline,
    )


def digest_folder(folder: Path) -> str:
    """The content digest of a local source. Few manifests name one: what it takes is imported then."""
    from ..store.trees import tree_digest

    return str(tree_digest(folder))


def talk_of_resolved(resolved: Resolved) -> None:
    """The sets that were passed over, and the warnings."""
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


def count_words(lock: Lock) -> str:
    """``4 packages from source, 215 wheels``."""
    packages = len({package.name for package in lock.packages})
    on = f" for {len(lock.targets)} targets" if len(lock.targets) > 1 else ""
    return f"{packages} packages from source{on}, {len(lock.wheels)} wheels"


def _passed_over(resolved: Resolved, part: Lock) -> list[str]:
    """The sets that were not taken for the target of ``part``, in words."""
    from ..resolver.explain import group_lines

    resolution = resolved.resolutions.get(part.targets[0].name)
    return list(group_lines(resolution.passed_over)) if resolution else []
