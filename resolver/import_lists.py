"""TheRock's manifests and requirement files -> parts of a manifest. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from packaging.utils import canonicalize_name

from ..errors import Place
from .importing import Draft, Note, Wanted, take_source
from .readers.requirements import RequirementLine, Requirements
from .readers.therock_files import ManifestPin, parse_therock_manifest
from .recipe import Recipe


def kind_of(name: str, text: str) -> str:
    """``dockerfile``, ``therock`` or ``requirements``, by the name and the first thing in the file."""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return "therock"
    if "dockerfile" in name.lower() or re.search(r"^\s*FROM\s+\S+", text, re.MULTILINE | re.IGNORECASE):
        return "dockerfile"
    return "requirements"


def draft_therock(text: str, file: str, recipes: Mapping[str, Recipe]) -> Draft:
    """What TheRock's manifest pins. Raises PIN_UNREADABLE."""
    read = parse_therock_manifest(text, file)
    made = [_from_pin(pin, file, recipes) for pin in read.pins]
    patched = [
        Note(Place(file, pin.line), f"{len(pin.patches)} patches of TheRock are applied to {pin.name}")
        for pin in read.pins
        if pin.patches
    ]
    return Draft(
        packages=tuple(each for each in made if isinstance(each, Wanted)),
        rocm=f"=={read.rocm}" if read.rocm else "",
        notes=(*(each for each in made if isinstance(each, Note)), *patched),
    )


def _from_pin(pin: ManifestPin, file: str, recipes: Mapping[str, Recipe]) -> Wanted | Note:
    return take_source(pin.url, pin.commit, Place(file, pin.line), recipes)


def draft_requirements(
    files: Sequence[tuple[str, Requirements]], recipes: Mapping[str, Recipe], python: str
) -> Draft:
    """Packages that have a recipe are built from source, all others are wheels.

    ``files`` are (name, content), those that are included among them; ``python`` decides markers.
    """
    names: dict[str, str] = {
        canonicalize_name(recipe.distribution or name): name for name, recipe in recipes.items()
    }
    packages: list[Wanted] = []
    requires: list[str] = []
    notes: list[Note] = []
    for file, read in files:
        for line in read.lines:
            made = _from_line(line, Place(file, line.line), names, recipes, python)
            if isinstance(made, Wanted):
                packages.append(made)
            elif isinstance(made, Note):
                notes.append(made)
            elif made:
                requires.append(made)
        notes += [
            Note(Place(file, each.line), f"the constraints in {each.path} are not taken")
            for each in read.includes
            if each.constraint
        ]
        notes += [
            Note(
                Place(file, each.line),
                f"{each.name} is not taken: where wheels come from stands in no manifest",
            )
            for each in read.options
        ]
    return Draft(packages=tuple(packages), requires=tuple(dict.fromkeys(requires)), notes=tuple(notes))


def _from_line(
    line: RequirementLine, at: Place, names: Mapping[str, str], recipes: Mapping[str, Recipe], python: str
) -> Wanted | Note | str | None:
    """A package, a requirement line, a note; None for what the markers leave out."""
    requirement = line.requirement
    if requirement and requirement.marker:
        environment = {"python_version": python, "python_full_version": f"{python}.0"}
        if not requirement.marker.evaluate(environment):
            return None
    if line.url:
        return _from_url(line, at, recipes)
    if requirement is None:
        return Note(at, f"{line.text} is not taken: it names no version of the package index")
    name = names.get(line.name)
    if name is None:
        return str(requirement)
    # A local part ("+rocm7.2") names a build of the index: the source has none.
    public = sorted(f"{each.operator}{each.version.partition('+')[0]}" for each in requirement.specifier)
    return Wanted(name, at, specifier=",".join(public))


def _from_url(line: RequirementLine, at: Place, recipes: Mapping[str, Recipe]) -> Wanted | Note:
    bare = line.url.partition("#")[0]
    found = re.fullmatch(r"git\+(?P<url>[a-z]+://[^/]+/.+)@(?P<ref>[^@:]+)", bare)
    if not bare.startswith("git+"):
        return Note(
            at, f"{line.url} is not taken: a file or an address names no version of the package index"
        )
    if found is None:
        return Note(at, f"{line.url} is not taken: it names no commit")
    return take_source(found["url"], found["ref"], at, recipes)
