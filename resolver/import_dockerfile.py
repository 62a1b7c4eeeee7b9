"""A Dockerfile that builds a stack -> parts of a manifest. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..errors import Place
from ..gfx import normalise
from .importing import Draft, Note, Wanted, take_source
from .readers.dockerfile import Setting, parse_dockerfile
from .readers.images import parse_image
from .readers.source_trees import SourceTree, find_sources
from .recipe import Recipe

# The GCC that a distribution calls gcc: what a build in that image takes unless it says otherwise.
_GCC = {
    "ubuntu-20.04": "9",
    "ubuntu-22.04": "11",
    "ubuntu-24.04": "13",
    "debian-12": "12",
    "almalinux-8": "8",
}


def draft_dockerfile(text: str, file: str, recipes: Mapping[str, Recipe]) -> Draft:
    """What a Dockerfile clones and builds, for which ROCm, Python and GPUs. Raises PIN_UNREADABLE."""
    read = parse_dockerfile(text, file)
    args = read.args()
    packages: list[Wanted] = []
    notes: list[Note] = []
    for tree in find_sources(read).trees:
        found = _from_tree(tree, file, args, recipes)
        if isinstance(found, Wanted):
            packages.append(found)
            notes += _unsaid(tree, found.name, file)
        else:
            notes.append(found)
    notes += _wheels(args, file, recipes, {each.name for each in packages})
    images = [image for _, image in read.base_images()]
    rocm = next((image.rocm for image in images if image.rocm), "") or _rocm_argument(args, recipes)
    gfx, unknown = _gfx(args, file, recipes)
    return Draft(
        packages=tuple(packages),
        rocm=f"=={rocm}" if rocm else "",
        python=_argument(args, (each.python for each in _layouts(recipes))),
        gfx=gfx,
        gcc=next((_GCC[image.distribution] for image in images if image.distribution in _GCC), ""),
        notes=(*notes, *unknown),
    )


def _from_tree(
    tree: SourceTree, file: str, args: Mapping[str, Setting], recipes: Mapping[str, Recipe]
) -> Wanted | Note:
    """The package of a clone; its place is the ARG that names the commit, where one does."""
    if tree.ref is None:
        at = Place(file, tree.line)
        return Note(at, f"{tree.url} is cloned at whatever its default branch is then: not taken")
    named = [args[name].line for name in tree.ref.variables if name in args]
    at = Place(file, named[0] if len(named) == 1 else tree.ref.line)
    return take_source(tree.url, tree.ref.value, at, recipes)


def _unsaid(tree: SourceTree, name: str, file: str) -> Iterator[Note]:
    for pick in tree.picks:
        yield Note(
            Place(file, pick.line), f"{pick.value} is cherry-picked onto {name}: a manifest cannot say that"
        )
    for action in tree.unsaid:
        yield Note(
            Place(file, action.line), f"{name} is changed by {action.kind}: a manifest cannot say that"
        )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Names of ARGs, as the recipes' layouts of tested sets have them."""

    rocm: tuple[str, ...]
    python: str
    gfx: str


def _layouts(recipes: Mapping[str, Recipe]) -> list[_Layout]:
    return [
        _Layout(tuple(each.rocm), each.python, each.gfx)
        for recipe in recipes.values()
        for each in recipe.tested
    ]


def _argument(args: Mapping[str, Setting], names: Iterable[str]) -> str:
    """The value of the first ARG of ``names`` that has one."""
    return next((setting.value for name in names if (setting := args.get(name)) and setting.value), "")


def _rocm_argument(args: Mapping[str, Setting], recipes: Mapping[str, Recipe]) -> str:
    value = _argument(args, (name for each in _layouts(recipes) for name in each.rocm))
    return parse_image(value).rocm if ":" in value else value


def _gfx(
    args: Mapping[str, Setting], file: str, recipes: Mapping[str, Recipe]
) -> tuple[tuple[str, ...], list[Note]]:
    names = [each.gfx for each in _layouts(recipes)]
    setting = next((args[name] for name in names if name in args and args[name].value), None)
    known: list[str] = []
    notes: list[Note] = []
    for word in re.split(r"[;, ]+", (setting.value or "") if setting else ""):
        try:
            known += [normalise(word)] if word else []
        except ValueError as error:
            notes.append(Note(Place(file, setting.line if setting else 0), f"{word} is not taken: {error}"))
    return tuple(dict.fromkeys(known)), notes


def _wheels(
    args: Mapping[str, Setting], file: str, recipes: Mapping[str, Recipe], built: set[str]
) -> Iterator[Note]:
    """ARGs that name a binary wheel of something that is not built here."""
    names = {
        row.wheel: package
        for recipe in recipes.values()
        for layout in recipe.tested
        for package, row in layout.pins.items()
        if row.wheel
    }
    for argument, package in sorted(names.items()):
        setting = args.get(argument)
        if setting and setting.value and package not in built:
            says = f"{argument} names the wheel {setting.value} of {package}, which is no source: not taken"
            yield Note(Place(file, setting.line), says)
