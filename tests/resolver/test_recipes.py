"""Recipes: every shipped one is whole, and a broken one is told with its places."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from resolver_samples import recipes, snapshot, snapshot_sets

from rocmlock.errors import RocmlockError
from rocmlock.resolver.recipe import FOLDER, parse_recipe, read_recipes
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


OWN = """schema = 1
name = "ours"
distribution = "ours"
[build]
steps = [["{python}", "-m", "build", "--outdir", "{out}", "{src}"]]
[[checks]]
match = "none"
"""


def test_a_folder_of_the_users_own_adds_recipes_and_goes_before(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(OWN)
    (tmp_path / "triton.toml").write_text(OWN.replace("ours", "triton"))
    assert {"ours", "vllm"} <= set(package_names([tmp_path]))
    mixed = read_recipes([tmp_path])
    assert mixed["ours"].distribution == "ours"
    assert mixed["triton"].repositories == []
    assert mixed["vllm"] == recipes()["vllm"]


def test_a_recipe_under_another_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(OWN)
    with pytest.raises(RocmlockError) as raised:
        read_recipes([tmp_path])
    assert raised.value.reason.reference == "recipe-invalid"
    assert "ours.toml" in raised.value.hint


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as raised:
        package_names([tmp_path / "none"])
    assert raised.value.reason.reference == "file-unreadable"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('[[reads]]\nfact = "colour"\nreader = "commit"\npaths = ["a"]\n', "no fact"),
        ('[[reads]]\nfact = "rocm"\nreader = "guess"\npaths = ["a"]\n', "Input should be"),
        ('[[reads]]\nfact = "rocm"\nreader = "commit"\npaths = []\n', "at least 1"),
        (
            '[[reads]]\nfact = "rocm"\nreader = "commit"\npaths = ["a"]\nversions = "=>1"\n',
            "no version range",
        ),
        ('[releases]\ntag = "v(.*)"\n', "no group"),
        ('[releases]\ntag = "v(?P<version>"\n', "no regular expression"),
    ],
)
def test_a_fault_in_where_facts_stand_is_told_with_its_line(lines: str, words: str) -> None:
    with pytest.raises(RocmlockError) as raised:
        parse_recipe(OWN + lines, "ours.toml")
    (problem,) = raised.value.problems
    assert words in problem.message
    assert problem.place is not None
    assert problem.place.line > OWN.count("\n")


def test_vllm_is_told_its_device() -> None:
    """Left to itself it looks at the torch of its build environment, and may build for the CPU."""
    assert recipes()["vllm"].build.environment["VLLM_TARGET_DEVICE"] == "rocm"
    assert all("--no-isolation" in step for step in recipes()["vllm"].build.steps if "build" in step)
