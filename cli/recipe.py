"""``rocmlock recipe``: what rocmlock knows of each upstream project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import examples, json_option
from .sources import source_option

if TYPE_CHECKING:
    from ..resolver.catalog import Catalog, Origin, TestedSet
    from ..resolver.recipe import Recipe


@click.group(
    "recipe", epilog=examples("rocmlock recipe list", "rocmlock recipe check recipes/ours.toml --at v1.2.0")
)
def command() -> None:
    """List, show and check recipes: where a project's pins stand and how it is built."""


@command.command("list")
@json_option
def list_recipes(*, as_json: bool) -> None:
    """List the recipes that rocmlock comes with."""
    from ..resolver.recipe import read_recipes
    from .render import answer_json, table

    recipes = [recipe for recipe in read_recipes().values() if recipe.repositories]
    if as_json:
        answer_json([{"name": each.name, "repositories": each.repositories} for each in recipes])
        return
    table(
        ("package", "repositories", "needs"),
        [
            (each.name, ", ".join(each.repositories), ", ".join(sorted({*each.needs.build, *each.needs.run})))
            for each in recipes
        ],
    )


@command.command("show", epilog=examples("rocmlock recipe show vllm"))
@click.argument("name")
@json_option
def show(name: str, *, as_json: bool) -> None:
    """Print the recipe of a package."""
    from ..resolver.recipe import read_recipes
    from ..resolver.recipe_names import FOLDER
    from .render import answer_json

    recipe = _named(name, read_recipes())
    if as_json:
        answer_json(recipe.model_dump(by_alias=True))
    else:
        click.echo((FOLDER / f"{recipe.name}.toml").read_text(encoding="utf-8"), nl=False)


def _named(name: str, recipes: Mapping[str, Recipe]) -> Recipe:
    from difflib import get_close_matches

    from ..errors import USAGE, RocmlockError

    if name not in recipes:
        near = get_close_matches(name, recipes, 1)
        hint = f"rocmlock recipe show {near[0]}" if near else "rocmlock recipe list"
        raise RocmlockError(USAGE, f"There is no recipe {name}.", hint=hint)
    return recipes[name]


@command.command(
    "check",
    epilog=examples("rocmlock recipe check vllm --at v0.27.1", "rocmlock recipe check recipes/ours.toml"),
)
@click.argument("recipe")
@click.option("--at", "tag", metavar="TAG", help="Tell what it reads at a tag.")
@source_option
@json_option
def check(recipe: str, tag: str | None, source: str, *, as_json: bool) -> None:
    """Check a RECIPE (a file, or the name of one that rocmlock has); with --at, tell what it reads there."""
    from ..resolver.recipe import read_recipe, read_recipes
    from .render import answer_json, talk
    from .sources import ask

    recipes = dict(read_recipes())
    path = Path(recipe)
    checked = read_recipe(path) if path.suffix == ".toml" else _named(recipe, recipes)
    recipes[checked.name] = checked
    if tag is None:
        if as_json:
            answer_json({"recipe": checked.name, "valid": True})
        else:
            talk(f"{recipe} is a whole recipe of {checked.name}.")
        return
    sets = ask(source, recipes, lambda catalog: _sets(catalog, checked, tag))
    if as_json:
        answer_json({"recipe": checked.name, "tag": tag, "sets": [describe_set(each) for each in sets]})
        return
    for each in sets:
        _print_set(each)


def _sets(catalog: Catalog, recipe: Recipe, tag: str) -> list[TestedSet]:
    from dataclasses import replace
    from difflib import get_close_matches

    from ..errors import USAGE, RocmlockError

    candidates = {release.tag: release for release in catalog.candidates(recipe.name)}
    if tag not in candidates:
        near = get_close_matches(tag, candidates, 1)
        hint = f"rocmlock recipe check {recipe.name} --at {near[0]}" if near else ""
        raise RocmlockError(USAGE, f"{recipe.name} has no release {tag} that is known.", hint=hint)
    sets = catalog.tested_sets(recipe.name, candidates[tag])
    return [replace(each, pins=tuple(catalog.expand(pin) for pin in each.pins)) for each in sets]


def describe_set(tested: TestedSet) -> dict[str, Any]:
    """A set for scripts: every value with its place."""
    facts = {"rocm": tested.rocm, "python": tested.python, "cxx-standard": tested.cxx_standard}
    return {
        "variant": tested.variant,
        **{name: {"value": fact.value, "at": str(fact.origin)} for name, fact in facts.items() if fact},
        "gfx": {"values": list(tested.gfx), "at": str(tested.gfx_origin or "")},
        "pins": [
            {
                "package": pin.package,
                "repository": pin.repository,
                "asked": pin.asked,
                "at": str(pin.origin),
                "commit": pin.commit,
                "version": pin.version.value if pin.version else None,
                "picks": [{"asked": pick.asked, "commit": pick.commit} for pick in pin.picks],
            }
            for pin in tested.pins
        ],
        "states": [
            {"package": each.package, "specifier": each.specifier, "at": str(each.origin)}
            for each in tested.statements
        ],
        "unread": list(tested.unread),
    }


def _print_set(tested: TestedSet) -> None:
    release = tested.release
    own = f"{tested.top}@{release.commit}:"

    def at(origin: Origin | None) -> str:
        """A place; of the release's own files the path alone."""
        return f"[{str(origin or '').removeprefix(own)}]"

    click.echo(f"{tested.top} {release.version}  {tested.variant}  {release.commit or 'commit not known'}")
    for name, fact in (("ROCm", tested.rocm), ("Python", tested.python), ("C++", tested.cxx_standard)):
        if fact:
            click.echo(f"  {name} {fact.value}  {at(fact.origin)}")
    if tested.gfx:
        click.echo(f"  built for {', '.join(tested.gfx)}  {at(tested.gfx_origin)}")
    if tested.supported_gfx:
        click.echo(f"  supports {', '.join(tested.supported_gfx)}  {at(tested.supported_gfx_origin)}")
    if tested.supported_python:
        pythons = ", ".join(tested.supported_python)
        click.echo(f"  supports Python {pythons}  {at(tested.supported_python_origin)}")
    for pin in tested.pins:
        version = f" ({pin.version.value})" if pin.version else ""
        commit = pin.wheel or pin.commit or "commit not known"
        click.echo(f"  pins {pin.package}{version} {pin.repository} {pin.asked}: {commit}  {at(pin.origin)}")
        for pick in pin.picks:
            click.echo(f"    picks {pick.asked}: {pick.commit or 'commit not known'}  {at(pick.origin)}")
    for each in tested.statements:
        click.echo(f"  states {each.package}{each.specifier}  {at(each.origin)}")
    for words in tested.unread:
        click.echo(f"  unread: {words}")
