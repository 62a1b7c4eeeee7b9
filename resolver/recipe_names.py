"""Which recipes there are. Names alone: checking a lock needs no recipe's content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import FILE_UNREADABLE, RocmlockError

FOLDER = Path(__file__).parent.parent / "recipes"
PATH_DEFAULT = "default-path"
SDIST_DEFAULT = "default-sdist"


def package_names(folders: Sequence[Path] = ()) -> tuple[str, ...]:
    """The names a manifest may ask for by a range alone; a recipe's file is called like its package.

    ``folders`` hold recipes of the user's own beside the shipped ones. Raises FILE_UNREADABLE
    where one is not there.
    """
    for folder in folders:
        if not folder.is_dir():
            raise RocmlockError(FILE_UNREADABLE, f"There is no folder {folder} with recipes.")
    names = {path.stem for folder in (FOLDER, *folders) for path in folder.glob("*.toml")}
    return tuple(sorted(names - {PATH_DEFAULT, SDIST_DEFAULT}))
