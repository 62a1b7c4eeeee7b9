"""Tested sets from a release's files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ...errors import PIN_UNREADABLE, RocmlockError
from ...gfx import sort_targets
from ...lockfile.urls import repository_of
from ..catalog import Fact, Origin, Pick, Pin, Release, Statement, TestedSet
from ..readers.actions import Action
from ..readers.dockerfile import Dockerfile, parse_dockerfile
from ..readers.images import parse_image
from ..readers.source_text import refuse
from ..readers.source_trees import SourceTree, find_sources
from ..recipe import Recipe, Tested, TestedPin
from .checkout import Checkout
from .facts import Facts, applies, read_facts


def read_tested_sets(
    recipe: Recipe, recipes: Mapping[str, Recipe], release: Release, checkout: Checkout
) -> tuple[TestedSet, ...]:
    """The sets of a release, in the order of the recipe's layouts.

    A release with a file that cannot be read has one set, which tells so and can't be chosen.
    """
    try:
        facts = read_facts(recipe, checkout, release.version)
        plain = _plain_set(recipe, recipes, release, facts)
        if not recipe.tested:
            return tuple(_from_facts(recipe, plain, facts))
        return tuple(
            _from_dockerfile(layout, plain, checkout, *found)
            for layout in recipe.tested
            if applies(layout.versions, release.version) and (found := checkout.first(layout.paths))
        )
    except RocmlockError as error:
        if error.reason is not PIN_UNREADABLE:
            raise
        told = "; ".join(str(problem.place or "") + " " + problem.message for problem in error.problems)
        plain = _plain_set(recipe, recipes, release, Facts({}, (told or error.message,)))
        return (replace(plain, variant="unreadable"),)


def _plain_set(recipe: Recipe, recipes: Mapping[str, Recipe], release: Release, facts: Facts) -> TestedSet:
    """What all sets of a release share."""
    return TestedSet(
        top=recipe.name,
        release=release,
        variant="",
        rocm=None,
        python=None,
        gfx=_targets(facts.values("gfx")),
        gfx_origin=facts.origin("gfx"),
        pins=(),
        statements=tuple(_statements(recipe, recipes, facts)),
        supported_gfx=_targets(facts.values("supported-gfx")),
        supported_gfx_origin=facts.origin("supported-gfx"),
        # Without free-threaded builds ("3.14t").
        supported_python=tuple(name for name in facts.values("supported-python") if not name.endswith("t")),
        supported_python_origin=facts.origin("supported-python"),
        cxx_standard=facts.one("cxx-standard"),
        requires_run=facts.requirements("requires-run") or None,
        requires_build=facts.requirements("requires-build") or None,
        unread=facts.missing,
    )


def _from_dockerfile(layout: Tested, plain: TestedSet, checkout: Checkout, path: str, text: str) -> TestedSet:
    dockerfile = parse_dockerfile(text, checkout.name_file(path))
    reader = _DockerfileReader(dockerfile, checkout, path)
    gfx = reader.arg(layout.gfx)
    return replace(
        plain,
        variant=layout.variant,
        rocm=reader.rocm(layout.rocm),
        python=reader.arg(layout.python),
        gfx=_targets(re.split("[;, ]", gfx.value)) if gfx else (),
        gfx_origin=gfx.origin if gfx else None,
        pins=tuple(pin for name, row in layout.pins.items() if (pin := reader.pin(name, row))),
    )


def _from_facts(recipe: Recipe, plain: TestedSet, facts: Facts) -> Iterator[TestedSet]:
    """A set for each ROCm version that binaries are built for, newest first; one where none is named."""
    pins = tuple(_own_pins(recipe, facts))
    rocms: list[Fact | None] = [*reversed(facts.all("rocm"))] or [None]
    for rocm in rocms:
        yield replace(plain, variant=f"rocm{rocm.value}" if rocm else "tag", rocm=rocm, pins=pins)


def _own_pins(recipe: Recipe, facts: Facts) -> Iterator[Pin]:
    for read in recipe.reads:
        name = read.fact.removeprefix("pin:")
        found = facts.one(read.fact) if name != read.fact else None
        if found:
            version = facts.one(f"version-of:{name}")
            yield Pin(name, read.repository, found.value, found.origin, version=version)


def _targets(names: Iterable[str]) -> tuple[str, ...]:
    """In numeric order. Names are not held to the GPUs that are known here: upstream adds new ones."""
    return sort_targets(
        name.strip() for name in names if re.fullmatch(r"gfx[0-9]+[0-9a-f]{2}.*", name.strip())
    )


def _statements(recipe: Recipe, recipes: Mapping[str, Recipe], facts: Facts) -> Iterator[Statement]:
    for read in recipe.reads:
        name = read.fact.removeprefix("states:")
        found = facts.one(read.fact) if name != read.fact else None
        if found:
            yield Statement(name, f"=={found.value}", found.origin)
    built = {canonicalize_name(each.distribution): each.name for each in recipes.values()}
    for fact in (*facts.all("requires-build"), *facts.all("requires-run")):
        requirement = Requirement(fact.value)
        name = built.get(canonicalize_name(requirement.name))
        # What pyproject.toml asks for is what the wheels on the package index are built with: CUDA's.
        if name and requirement.specifier and fact.origin.path != "pyproject.toml":
            yield Statement(name, str(requirement.specifier), fact.origin)


class _DockerfileReader:
    """One Dockerfile's values with their places."""

    def __init__(self, dockerfile: Dockerfile, checkout: Checkout, path: str) -> None:
        self.args, self.checkout, self.path = dockerfile.args(), checkout, path
        self.trees = find_sources(dockerfile).trees

    def _origin(self, line: int) -> Origin:
        return Origin(self.checkout.where, self.path, line)

    def arg(self, name: str) -> Fact | None:
        """The value of an ARG. Raises PIN_UNREADABLE for one that cannot be evaluated."""
        found = self.args.get(name)
        if found is None or found.value == "":
            return None
        if found.value is None or found.unset:
            words = found.problem or f"{name} depends on {', '.join(found.unset)}, which nothing sets."
            raise refuse(self.checkout.name_file(self.path), found.line, words)
        return Fact(found.value, self._origin(found.line))

    def rocm(self, names: list[str]) -> Fact | None:
        """A version by itself, or the one in an image's tag."""
        for name in names:
            found = self.arg(name)
            if found and ":" in found.value:
                version = parse_image(found.value).rocm
                if version:
                    return Fact(version, found.origin)
            elif found:
                return found
        return None

    def pin(self, package: str, row: TestedPin) -> Pin | None:
        """The pin of a package: a commit of a repository, else the wheel that is named in its place."""
        asked, url, wheel = self.arg(row.commit), self.arg(row.repository), self.arg(row.wheel)
        if asked and url:
            trees = [tree for tree in self.trees if name_of(tree.url) == name_of(url.value)]
            return Pin(
                package,
                name_of(url.value),
                asked.value,
                asked.origin,
                picks=tuple(
                    Pick(pick.value, None, self._origin(pick.line)) for tree in trees for pick in tree.picks
                ),
                unsaid=tuple(says for tree in trees for says in self._unsaid(package, asked.value, tree))
                or self._not_cloned(name_of(url.value), trees),
                edits=tuple(self._edit(each) for tree in trees for each in tree.unsaid if _is_edit(each)),
            )
        if wheel:
            return Pin(package, "", wheel.value, wheel.origin, version=wheel, wheel=wheel.value)
        return None

    def _not_cloned(self, repository: str, trees: list[SourceTree]) -> tuple[str, ...]:
        """Without its clone nobody can tell what is done to a source."""
        return () if trees else (f"does not clone {repository} in {self.path}",)

    def _unsaid(self, package: str, asked: str, tree: SourceTree) -> Iterator[str]:
        """What the image does to the source that a commit and picks cannot say."""
        if tree.ref and tree.ref.value != asked:
            yield f"checks out {tree.ref.value} of {package} in {self.path}:{tree.ref.line}"
        for each in tree.unsaid:
            if not _is_edit(each):
                yield f"changes {package} by {each.kind} in {self.path}:{each.line}"

    def _edit(self, action: Action) -> Fact:
        return Fact(" ".join(file.text for file in action.files) or action.text, self._origin(action.line))


def _is_edit(action: Action) -> bool:
    return action.kind == "edit"


def name_of(url: str) -> str:
    """``owner/name`` of an address of GitHub; other addresses stay as they are."""
    return repository_of(url) or url
