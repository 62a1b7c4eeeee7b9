"""Recipes: every shipped one is whole, and a broken one is told with its places."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from resolver_samples import recipes, snapshot, snapshot_sets

from rocmlock.errors import RocmlockError
from rocmlock.resolver.recipe import FOLDER, parse_recipe
from rocmlock.resolver.recipe_names import package_names


def test_a_recipes_file_is_called_like_its_package() -> None:
    assert sorted(recipes()) == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert set(package_names()) == {name for name in recipes() if not name.startswith("default-")}


@pytest.mark.parametrize("name", sorted(recipes()))
def test_a_shipped_recipe_is_whole(name: str) -> None:
    recipe = recipes()[name]
    for line in (*recipe.python.build, *recipe.python.run):
        Requirement(line)
    SpecifierSet(recipe.compilers.gcc)
    assert recipe.compilers.source or not recipe.compilers.gcc
    assert all(need in recipes() for need in (*recipe.needs.build, *recipe.needs.run))
    assert recipe.checks
    assert any("{out}" in argument for step in recipe.build.steps for argument in step)
    known = (
        "{gfx}",
        "{opt}",
        "{debug}",
        "{version}",
        "{cc}",
        "{cxx}",
        "{hipcxx}",
        "{gcc-install-dir}",
        "{rocm}",
    )
    for text in recipe.build.environment.values():
        for word in known:
            text = text.replace(word, "")  # noqa: PLW2901 -- what is left must hold no placeholder
        assert "{" not in text


def test_every_top_of_the_catalog_has_a_recipe() -> None:
    assert set(snapshot().tops()) <= set(recipes())


def test_no_two_recipes_make_the_same_distribution() -> None:
    made = [canonicalize_name(recipe.distribution) for recipe in recipes().values() if recipe.distribution]
    assert len(made) == len(set(made)) == len(package_names())


def test_no_requirement_line_asks_an_index_for_what_is_built_here() -> None:
    built = {canonicalize_name(recipe.distribution) for recipe in recipes().values()}
    for recipe in recipes().values():
        asked = {
            canonicalize_name(Requirement(line).name) for line in (*recipe.python.build, *recipe.python.run)
        }
        assert not asked & built, recipe.name


@pytest.mark.parametrize("needs", ["build", "run"])
def test_no_recipe_needs_itself(needs: str) -> None:
    """Not through others either: such a stack could not be built."""
    for name in recipes():
        seen: set[str] = set()
        pending = list(getattr(recipes()[name].needs, needs))
        while pending:
            if (need := pending.pop()) not in seen:
                seen.add(need)
                pending += getattr(recipes()[need].needs, needs)
        assert name not in seen


def test_every_pin_of_a_package_with_a_recipe_is_from_its_repositories() -> None:
    for tested in snapshot_sets("vllm"):
        for pin in tested.pins:
            if pin.package in recipes() and pin.wheel is None and pin.repository:
                assert pin.repository in recipes()[pin.package].repositories, (pin.package, pin.repository)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", {1}),
        ("[[", {1}),
        ('schema = "1"\nname = "x"\nchecks = []\n[build]\nsteps = []\n', {1}),
        ('schema = 1\nname = "x"\n[build]\nsteps = []\n[[checks]]\nmatch = "some"\n', {6}),
        ('schema = 1\nname = "x"\nchecks = []\n[build]\nsteps = []\nmemory_per_job = 1\n', {6}),
    ],
    ids=["empty", "no TOML", "type", "match", "underscore"],
)
def test_what_is_wrong_with_a_recipe_has_its_line(text: str, lines: set[int]) -> None:
    with pytest.raises(RocmlockError) as raised:
        parse_recipe(text, "x.toml")
    assert raised.value.reason.reference == "recipe-invalid"
    assert {problem.place.line for problem in raised.value.problems if problem.place} == lines


def test_a_broken_recipe_is_told_with_its_places() -> None:
    with pytest.raises(RocmlockError) as raised:
        parse_recipe('schema = 1\nname = "x"\ncolour = "red"\n[build]\nsteps = "make"\n', "x.toml")
    error = raised.value
    assert error.reason.reference == "recipe-invalid"
    assert {problem.place.line for problem in error.problems if problem.place} >= {3, 5}
