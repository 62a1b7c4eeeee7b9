"""What a file of another tool comes to as parts of a manifest, and its commits made whole. Pure.

What such a file says and a manifest cannot say is a note; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..errors import Place
from ..lockfile.names import is_commit
from ..lockfile.urls import repository_of
from .catalog import Catalog, KnownCommit
from .readers.requirements import without_credentials
from .recipe import Recipe


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the file says and the manifest does not, with its place."""

    at: Place
    says: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package at ``ref`` (a commit, short or whole, a tag or a branch) of ``url``, or in the PEP 440 set
    ``specifier`` where ``url`` is empty. ``commit`` is whole; empty until it is known."""

    name: str
    at: Place
    url: str = ""
    ref: str = ""
    specifier: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """Parts of a manifest; what the file does not say is empty."""

    packages: tuple[Wanted, ...] = ()
    requires: tuple[str, ...] = ()
    rocm: str = ""
    python: str = ""
    gfx: tuple[str, ...] = ()
    gcc: str = ""
    notes: tuple[Note, ...] = ()


def complete(draft: Draft, catalog: Catalog, recipes: Mapping[str, Recipe]) -> Draft:
    """The draft with whole commits. A package whose commit is not known, or that needs one that is not there,
    becomes a note."""
    kept: list[Wanted] = []
    notes = list(draft.notes)
    for wanted in draft.packages:
        if not wanted.url:
            kept.append(wanted)
            continue
        known = _known(wanted, catalog)
        if known.commit is None:
            what = f"{wanted.ref} of {wanted.url}"
            says = f"{wanted.name} is left out: {what} is no commit, tag or branch that is known"
            notes.append(Note(wanted.at, says))
            continue
        if known.moves:
            notes.append(Note(wanted.at, f"{wanted.ref} is a branch, which moves: it is {known.commit} now"))
        kept.append(replace(wanted, commit=known.commit))
    whole, lacking = _with_needs(_once(kept, notes), recipes)
    return replace(draft, packages=tuple(whole), notes=(*notes, *lacking))


def _known(wanted: Wanted, catalog: Catalog) -> KnownCommit:
    repository = repository_of(wanted.url)
    if is_commit(wanted.ref):
        return KnownCommit(repository or "", wanted.ref, wanted.ref, None, None, "")
    if repository is None:
        return KnownCommit("", wanted.ref, None, None, None, "")
    return catalog.commit(repository, wanted.ref)


def _once(packages: Iterable[Wanted], notes: list[Note]) -> list[Wanted]:
    """The first of each name; one that says something else is noted."""
    first: dict[str, Wanted] = {}
    for each in packages:
        known = first.setdefault(each.name, each)
        if (known.url, known.commit, known.specifier) != (each.url, each.commit, each.specifier):
            notes.append(Note(each.at, f"{each.name} stands here a second time, differently: not taken"))
    return sorted(first.values(), key=lambda each: each.name)


def _with_needs(packages: list[Wanted], recipes: Mapping[str, Recipe]) -> tuple[list[Wanted], list[Note]]:
    """Packages whose needs are there, too: an own source brings nothing along. A range is chosen, with all
    that it needs."""
    notes: list[Note] = []
    if any(not each.url for each in packages):
        return packages, notes
    while True:
        names = {each.name for each in packages}
        lacking = {
            each.name: missing
            for each in packages
            if (missing := sorted({*_needs(each.name, recipes)} - names))
        }
        if not lacking:
            return packages, notes
        for each in packages:
            if each.name in lacking:
                needs = " and ".join(lacking[each.name])
                notes.append(Note(each.at, f"{each.name} is left out: it needs {needs}, which is not there"))
        packages = [each for each in packages if each.name not in lacking]


def _needs(name: str, recipes: Mapping[str, Recipe]) -> tuple[str, ...]:
    recipe = recipes.get(name)
    return (*recipe.needs.build, *recipe.needs.run) if recipe else ()


def take_source(url: str, ref: str, at: Place, recipes: Mapping[str, Recipe]) -> Wanted | Note:
    """The package at ``url``, or why it is none of ours."""
    url = _plain_url(url)
    name = package_of(url, recipes)
    if name is None:
        return Note(at, f"{url} is not taken: no recipe builds it")
    if not url.startswith("https://"):
        return Note(at, f"{name} is left out: {url} is no address by https")
    return Wanted(name, at, url, ref)


def package_of(url: str, recipes: Mapping[str, Recipe]) -> str | None:
    """The package that a repository holds: one of a recipe's own, or a fork, which is called the same."""
    by_repository = {each.lower(): name for name, recipe in recipes.items() for each in recipe.repositories}
    by_word = {each.rpartition("/")[2]: name for each, name in by_repository.items()}
    repository = (repository_of(url) or url).lower()
    return by_repository.get(repository) or by_word.get(repository.rstrip("/").rpartition("/")[2])


def _plain_url(url: str) -> str:
    """Without git+, credentials and .git; GitHub's ssh addresses by https."""
    plain = without_credentials(url.removeprefix("git+"))
    plain = re.sub(r"^(?:ssh://github\.com/|git@github\.com:)", "https://github.com/", plain)
    return re.sub(r"(\.git)?/?$", "", plain)
