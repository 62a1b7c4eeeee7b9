"""``rocmlock catalog``: what is known of upstream, and how old it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option
from .sources import source_option

if TYPE_CHECKING:
    from ..resolver.catalog import Catalog
    from ..resolver.catalog_view import TopView
    from ..resolver.recipe import Recipe

_SHOWN = 12


@click.group(
    "catalog",
    epilog=examples("rocmlock catalog show", "rocmlock catalog snapshot -o facts.json"),
)
def command() -> None:
    """Show or write down what is known of upstream's releases."""


@command.command(
    "show", epilog=examples("rocmlock catalog show vllm", "rocmlock catalog show --source facts.json")
)
@click.argument("package", required=False)
@source_option
@json_option
def show(package: str | None, source: str, *, as_json: bool) -> None:
    """Show which tested sets are known, how old that is, and what is lacking.

    With PACKAGE only its sets, each that lacks something on a line of its own.
    """
    from ..resolver.recipe import read_recipes
    from .sources import ask

    recipes = read_recipes()
    ask(source, recipes, lambda catalog: _show(catalog, package, recipes, as_json=as_json))


def _show(catalog: Catalog, package: str | None, recipes: Mapping[str, Recipe], *, as_json: bool) -> None:
    from dataclasses import asdict

    from ..errors import USAGE, RocmlockError
    from ..resolver.catalog_view import view_top
    from .render import answer_json, table, talk

    tops = catalog.tops()
    if package is not None and package not in tops:
        raise RocmlockError(
            USAGE,
            f"{package} has no tested sets of its own; {', '.join(tops)} have.",
            hint="rocmlock catalog show",
        )
    views = [view_top(catalog, top, recipes) for top in tops if package in {None, top}]
    rocm = [release.version for release in catalog.rocm_releases()]
    dated = catalog.dated.isoformat() if catalog.dated else ""
    if as_json:
        answer_json({"dated": dated, "tops": [asdict(view) for view in views], "rocm": rocm})
        return
    columns = ("package", "repository", "releases", "newest", "tested sets", "with full commits")
    table(
        columns,
        [(v.name, v.repository, str(v.releases), v.newest, str(v.sets), str(v.whole)) for v in views],
    )
    talk(f"\nFacts of {dated or 'now, from GitHub'}. ROCm {rocm[-1]} to {rocm[0]} ({len(rocm)} releases).")
    for view in views:
        _talk_lacks(view, whole=package is not None)


def _talk_lacks(view: TopView, *, whole: bool) -> None:
    from .render import talk

    shown = view.lacks if whole else view.lacks[:_SHOWN]
    for name, lacks in shown:
        talk(f"  {view.name} {name} lacks {lacks}")
    if len(shown) < len(view.lacks):
        talk(f"  … and {len(view.lacks) - len(shown)} more: rocmlock catalog show {view.name}")


@command.command(
    "snapshot",
    epilog=examples("rocmlock catalog snapshot -o facts.json", "rocmlock resolve --source facts.json"),
)
@click.option(
    *("-o", "--output", "path"), type=click.Path(path_type=Path), required=True, help="The file to write."
)
@source_option
@json_option
def snapshot(path: Path, source: str, *, as_json: bool) -> None:
    """Write all that GitHub says into one file, for machines without network.

    It reads every release, so it takes minutes and, without a token, several hours' worth of GitHub's quota;
    what was read is kept, and the same command goes on from there.
    """
    from datetime import UTC, datetime

    from ..files import write_text
    from ..resolver.recipe import read_recipes
    from ..resolver.snapshot_writer import make_snapshot, render_snapshot
    from .render import answer_json, talk
    from .sources import ask

    recipes = read_recipes()
    today = datetime.now(UTC).date()

    def tell(text: str) -> None:
        talk(f"{text} …")

    made = ask(source, recipes, lambda catalog: make_snapshot(catalog, catalog.dated or today, tell))
    write_text(path, render_snapshot(made))
    counts = {top: len(rows) for top, rows in made["sets"].items()}
    if as_json:
        answer_json({"snapshot": str(path), "dated": made["dated"], "sets": counts})
    else:
        talk(f"Wrote {path}: {', '.join(f'{count} sets of {top}' for top, count in counts.items())}.")
