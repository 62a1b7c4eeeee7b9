"""Recipes: every shipped one is whole, and a broken one is told with its places."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from resolver_samples import recipes, snapshot

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


def test_a_broken_recipe_is_told_with_its_places() -> None:
    with pytest.raises(RocmlockError) as raised:
        parse_recipe('schema = 1\nname = "x"\ncolour = "red"\n[build]\nsteps = "make"\n', "x.toml")
    error = raised.value
    assert error.reason.reference == "recipe-invalid"
    assert {problem.place.line for problem in error.problems if problem.place} >= {3, 5}
