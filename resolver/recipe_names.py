"""Which recipes there are. Names alone: checking a lock needs no recipe's content."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent.parent / "recipes"
PATH_DEFAULT = "default-path"
SDIST_DEFAULT = "default-sdist"


def package_names(folder: Path = FOLDER) -> tuple[str, ...]:
    """The names a manifest may ask for by a range alone; a recipe's file is called like its package."""
    names = (path.stem for path in folder.glob("*.toml"))
    return tuple(sorted(name for name in names if name not in {PATH_DEFAULT, SDIST_DEFAULT}))
