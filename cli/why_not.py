"""``rocmlock why-not``: what rules a version out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option
from .sources import offline_option, source_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..lockfile.demands import Demands
    from ..resolver.catalog import Catalog
    from ..resolver.recipe import Recipe
    from ..resolver.why_not import Answer


@click.command(
    "why-not", epilog=examples("rocmlock why-not vllm==0.12.0", "rocmlock why-not 'pytorch>=2.12'")
)
@click.argument("requirement")
@click.option(
    *("-m", "--manifest", "manifest"),
    type=click.Path(path_type=Path),
    default=Path("rocmlock.toml"),
    show_default=True,
    help="The manifest that it is asked of.",
)
@source_option
@offline_option
@json_option
def command(requirement: str, manifest: Path, *, source: str, offline: bool, as_json: bool) -> None:
    """Say what rules REQUIREMENT out: it is put in the place of the manifest's own line, and resolved.

    Where nothing does, tell what would be chosen.
    """
    from dataclasses import asdict

    from ..manifests.loader import read_recipe_folders
    from ..resolver.recipe import read_recipes
    from .inputs import read_demands
    from .render import answer_json, talk
    from .sources import ask

    name, specifier = _parse(requirement)
    demands = read_demands(manifest)
    recipes = read_recipes(read_recipe_folders(manifest))
    answers = ask(
        source,
        recipes,
        lambda catalog: _answers(name, specifier, demands, catalog, recipes),
        offline=offline,
    )
    if as_json:
        answer_json([asdict(answer) for answer in answers])
        return
    for answer in answers:
        for line in _lines(answer, requirement, several=len(answers) > 1):
            click.echo(line)
        for line in answer.instead:
            talk(f"instead: {line}")


def _parse(requirement: str) -> tuple[str, str]:
    """The name and the range. Raises click's UsageError."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    try:
        parsed = Requirement(requirement)
    except InvalidRequirement:
        raise click.UsageError(f"{requirement!r} is no version: write for example vllm==0.12.0") from None
    return canonicalize_name(parsed.name), str(parsed.specifier)


def _answers(
    name: str,
    specifier: str,
    demands: Sequence[Demands],
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
) -> list[Answer]:
    from ..resolver.why_not import why_not

    return [why_not(name, specifier, each, catalog, recipes) for each in demands]


def _lines(answer: Answer, requirement: str, *, several: bool) -> list[str]:
    where = f"{answer.target}: " if several else ""
    if answer.by_line:
        gives = ", ".join(answer.chosen)
        return [f"{where}The manifest's own line rules it out: {answer.by_line}", f"  without it: {gives}"]
    if answer.chosen:
        return [f"{where}Nothing rules {requirement} out: it gives {', '.join(answer.chosen)}."]
    return [f"{where}{answer.sentence}", *(f"  {line}" for line in answer.ruled_out)]
