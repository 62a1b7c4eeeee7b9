"""Recipes: what the project knows of an upstream project, as data (rocmlock/recipes/*.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import RECIPE_INVALID, Place, Problem, RocmlockError
from ..lockfile.model import GpuMatch
from .recipe_names import FOLDER


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=lambda name: name.replace("_", "-")
    )


class Needs(_Strict):
    """Packages of the stack by name. What a tested set pins beyond them is taken only when asked for."""

    build: list[str] = []
    run: list[str] = []


class PythonNeeds(_Strict):
    """Requirement lines. ``build`` holds what every build needs beside what the catalog has read upstream."""

    build: list[str] = []
    run: list[str] = []


class Build(_Strict):
    """``steps`` are argument lists; ``memory_per_job`` is in MiB. Placeholders: docs/formats/lock.md."""

    steps: list[list[str]]
    environment: dict[str, str] = {}
    memory_per_job: int = 1024


class Compilers(_Strict):
    """Oldest compilers that build the project, with where that was read."""

    gcc: str = ""
    clang: str = ""
    source: str = ""


class CheckRule(_Strict):
    match: GpuMatch
    paths: list[str] = ["**"]


class Recipe(_Strict):
    """``repositories`` are the places a commit may come from, upstream first."""

    schema_: int = Field(alias="schema")
    name: str
    distribution: str = ""
    repositories: list[str] = []
    needs: Needs = Needs()
    python: PythonNeeds = PythonNeeds()
    build: Build
    compilers: Compilers = Compilers()
    checks: list[CheckRule]


def parse_recipe(text: str, file: str) -> Recipe:
    """The recipe in ``text``. Raises RECIPE_INVALID with every fault and its place."""
    from ..toml_places import find_place, syntax_place

    try:
        return Recipe.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        problems = [Problem(str(error), Place(file, *syntax_place(error, text)))]
    except ValidationError as error:
        problems = [
            Problem(fault["msg"], Place(file, *find_place(text, fault["loc"]))) for fault in error.errors()
        ]
    raise RocmlockError(RECIPE_INVALID, f"{file} is not a recipe.", problems=problems)


def read_recipes(folder: Path = FOLDER) -> Mapping[str, Recipe]:
    """All shipped recipes by name."""
    recipes = (parse_recipe(path.read_text(), path.name) for path in sorted(folder.glob("*.toml")))
    return {recipe.name: recipe for recipe in recipes}
