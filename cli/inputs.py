"""Reading what commands work on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..lockfile.demands import Demands
from ..resolver.recipe import Recipe


def read_demands(manifest: Path) -> tuple[Demands, Mapping[str, Recipe]]:
    """What ``manifest`` demands, and the shipped recipes. Raises as read_manifest does."""
    from ..manifests.loader import read_manifest
    from ..resolver.demands import make_demands
    from ..resolver.recipe import package_names, read_recipes

    recipes = read_recipes()
    return make_demands(read_manifest(manifest, package_names(recipes))), recipes
