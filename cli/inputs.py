"""Reading what commands work on."""

from __future__ import annotations

from pathlib import Path

from ..lockfile.demands import Demands


def read_demands(manifest: Path) -> Demands:
    """What ``manifest`` demands. Raises as read_manifest does."""
    from ..manifests.loader import read_manifest
    from ..resolver.demands import make_demands
    from ..resolver.recipe_names import package_names

    return make_demands(read_manifest(manifest, package_names()))
