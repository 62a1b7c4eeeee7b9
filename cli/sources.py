"""Which catalog a command asks: ``--source``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from ..resolver.catalog import Catalog
    from ..resolver.recipe import Recipe

Answer = TypeVar("Answer")
CACHE = "github.sqlite"

source_option = click.option(
    "--source",
    metavar="SOURCE",
    default="auto",
    envvar="ROCMLOCK_SOURCE",
    show_default=True,
    help="Where facts about releases come from: auto (GitHub, else the snapshot), github, snapshot, or the "
    "file of a snapshot.",
)
offline_option = click.option(
    "--offline",
    is_flag=True,
    envvar="ROCMLOCK_OFFLINE",
    help="Use no network; what is missing is named.",
)


def cache_folder() -> Path:
    """Where answers from GitHub are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("rocmlock", appauthor=False)


def ask(
    source: str,
    recipes: Mapping[str, Recipe],
    question: Callable[[Catalog], Answer],
    *,
    offline: bool = False,
) -> Answer:
    """The answer of the catalog that ``source`` names.

    ``auto`` asks GitHub, and when it cannot be reached says so in one line and asks the bundled snapshot;
    ``offline`` it takes what GitHub said before, if it ever did.
    """
    from ..errors import GITHUB_UNREACHABLE, RocmlockError
    from .render import talk

    if source != "auto":
        with open_catalog(source, recipes, offline=offline) as catalog:
            return question(catalog)
    if offline and (cache_folder() / CACHE).is_file():
        return ask("github", recipes, question, offline=True)
    if not offline:
        try:
            return ask("github", recipes, question)
        except RocmlockError as error:
            if error.reason is not GITHUB_UNREACHABLE:
                raise
        with open_catalog("snapshot", recipes) as catalog:
            talk(f"GitHub cannot be reached: using the facts of {catalog.dated} that rocmlock came with.")
    return ask("snapshot", recipes, question)


@contextmanager
def open_catalog(source: str, recipes: Mapping[str, Recipe], *, offline: bool = False) -> Generator[Catalog]:
    """The catalog that ``source`` names (not ``auto``); ``offline``: GitHub's answers from the cache alone.

    Raises SNAPSHOT_INVALID for a file that is none.
    """
    from ..resolver.snapshot import open_bundled, read_snapshot

    if source == "snapshot":
        yield open_bundled()
        return
    if source != "github":
        yield read_snapshot(Path(source))
        return
    import os

    from ..resolver.github.client import GitHub
    from ..resolver.live.catalog import LiveCatalog
    from .render import talk

    with closing(GitHub(os.environ, cache_folder() / CACHE, talk, offline=offline)) as github:
        yield LiveCatalog(github, recipes, open_bundled())
