"""Reading what commands work on."""

from __future__ import annotations

from pathlib import Path

from ..lockfile.demands import Demands


def read_demands(manifest: Path) -> tuple[Demands, ...]:
    """What ``manifest`` demands of each target. Raises as read_manifest does."""
    from ..manifests.loader import read_manifest, read_recipe_folders
    from ..resolver.demands import make_demands
    from ..resolver.recipe_names import package_names

    known = package_names(read_recipe_folders(manifest))
    return make_demands(read_manifest(manifest, known))
