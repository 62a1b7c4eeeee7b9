"""Recipes: what the project knows of an upstream project, as data (rocmlock/recipes/*.toml)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ..errors import FILE_UNREADABLE, RECIPE_INVALID, Place, Problem, RocmlockError
from ..lockfile.model import GpuMatch
from ..versions.tags import DEFAULT, check_pattern
from .recipe_names import FOLDER


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=lambda name: name.replace("_", "-")
    )


ReaderName = Literal[
    "assignment",
    "cmake",
    "commit",
    "pyproject-build",
    "requirements",
    "version",
]
"""The readers that a recipe can name; docs/recipes.md says what each reads."""


def _fact_name(text: str) -> str:
    if not re.fullmatch(rf"{'|'.join(_FACTS)}|(pin|states|version-of):[a-z0-9-]+", text):
        raise ValueError(
            f"{text!r} is no fact; known are {', '.join(_FACTS)}, pin:NAME, states:NAME, version-of:NAME"
        )
    return text


def _versions(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError(f"{text!r} is no version range") from None
    return text


_FACTS = (
    "rocm",
    "gfx",
    "supported-gfx",
    "supported-python",
    "cxx-standard",
    "requires-run",
    "requires-build",
    "version",
)
TagPattern = Annotated[str, AfterValidator(check_pattern)]
FactName = Annotated[str, AfterValidator(_fact_name)]
Versions = Annotated[str, AfterValidator(_versions)]


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


class Releases(_Strict):
    """Which tags of the first repository are releases: those that start with ``prefix`` and match ``tag``
    whole. ``rank`` is above 0 for a package that has tested sets of its own; the highest sits on top."""

    prefix: str = "v"
    tag: TagPattern = DEFAULT.pattern
    rank: int = Field(default=0, ge=0)


class TestedPin(_Strict):
    """ARGs that hold a package's commit, its repository, and a wheel's version in their place."""

    __test__: ClassVar = False  # pytest takes Test… for its own

    commit: str = ""
    repository: str = ""
    wheel: str = ""


class Tested(_Strict):
    """A layout of tested sets: a Dockerfile at the first of ``paths`` that is there. ``rocm``, ``python`` and
    ``gfx`` are ARGs (of ``rocm`` the first that is set: a version, or an image whose tag holds one)."""

    __test__: ClassVar = False

    variant: str
    paths: list[str] = Field(min_length=1)
    versions: Versions = ""
    rocm: list[str]
    python: str = ""
    gfx: str = ""
    pins: dict[str, TestedPin]


class Read(_Strict):
    """A fact that stands in a file of the project: the first of ``paths`` that is there, read by ``reader``.

    ``name`` is the variable, key or assignment that it is; ``repository`` is where a pin's commits live;
    ``versions`` are the releases that have this layout (any, where empty); ``required``: a release without
    the file is one whose layout is not known.
    """

    fact: FactName
    reader: ReaderName
    paths: list[str] = Field(min_length=1)
    name: str = ""
    repository: str = ""
    versions: Versions = ""
    required: bool = False


class Pairs(_Strict):
    """The versions of ``package`` that this project's go with, where its files do not say so."""

    package: str
    source: str
    versions: dict[str, Versions]


class KnownBad(_Strict):
    """Official versions that cannot be built as they stand: at all, or only with some ROCm or GCC.

    ``reason`` is a fact, ``source`` where it was read, ``instead`` the way out.
    """

    versions: Versions = ""
    rocm: Versions = ""
    gcc: Versions = ""
    reason: str
    source: str
    instead: str


class Recipe(_Strict):
    """``repositories`` are the places a commit may come from, upstream first."""

    schema_: int = Field(alias="schema")
    name: str
    distribution: str = ""
    repositories: list[str] = []
    releases: Releases = Releases()
    tested: list[Tested] = []
    reads: list[Read] = []
    pairs: Pairs | None = None
    known_bad: list[KnownBad] = []
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


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file. Raises FILE_UNREADABLE or RECIPE_INVALID."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RocmlockError(FILE_UNREADABLE, f"{path} cannot be read: {error}.") from None
    return parse_recipe(text, str(path))


def read_recipes(folders: Iterable[Path] = ()) -> Mapping[str, Recipe]:
    """The shipped recipes by name, and those of the user's own ``folders``, which go before shipped ones.

    Raises FILE_UNREADABLE or RECIPE_INVALID.
    """
    recipes: dict[str, Recipe] = {}
    for folder in (FOLDER, *folders):
        for path in sorted(folder.glob("*.toml")):
            recipe = read_recipe(path)
            if recipe.name != path.stem:
                raise RocmlockError(
                    RECIPE_INVALID,
                    f"{path} is the recipe of {recipe.name}.",
                    hint=f"Call it {recipe.name}.toml: manifests are checked by the names of the files.",
                )
            recipes[recipe.name] = recipe
    return recipes
