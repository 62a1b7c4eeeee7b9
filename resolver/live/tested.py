"""Tested sets from a release's files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ...gfx import normalise, sort_targets
from ..catalog import Fact, Origin, Pick, Pin, Release, Statement, TestedSet
from ..readers.dockerfile import Dockerfile, parse_dockerfile
from ..readers.shell import Action, find_actions
from ..recipe import Recipe, Tested, TestedPin
from .checkout import Checkout
from .facts import Facts, applies, read_facts


def read_tested_sets(
    recipe: Recipe, recipes: Mapping[str, Recipe], release: Release, checkout: Checkout
) -> tuple[TestedSet, ...]:
    """The sets of a release, in the order of the recipe's layouts."""
    facts = read_facts(recipe, checkout, release.version)
    plain = _plain_set(recipe, recipes, release, facts)
    if not recipe.tested:
        return tuple(_from_facts(recipe, plain, facts))
    return tuple(
        _from_dockerfile(layout, plain, checkout, *found)
        for layout in recipe.tested
        if applies(layout.versions, release.version) and (found := checkout.first(layout.paths))
    )


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
    return sort_targets(normalise(name.strip()) for name in names if name.strip())


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
        self.dockerfile, self.checkout, self.path = dockerfile, checkout, path
        self.actions = find_actions(dockerfile)

    def _origin(self, line: int) -> Origin:
        return Origin(self.checkout.where, self.path, line)

    def arg(self, name: str) -> Fact | None:
        found = self.dockerfile.value(name) if name else None
        return Fact(found.value, self._origin(found.line)) if found and found.value else None

    def rocm(self, names: list[str]) -> Fact | None:
        """A version, or the one in an image's tag (rocm/dev-ubuntu-22.04:7.2.3-complete)."""
        for name in names:
            found = self.arg(name)
            version = re.search(r"^(?:.*:)?(?:rocm)?-?(\d+(?:\.\d+)+)", found.value) if found else None
            if found and version and (":" in found.value or version[0] == found.value):
                return Fact(version[1], found.origin)
        return None

    def pin(self, package: str, row: TestedPin) -> Pin | None:
        """The pin of a package: a commit of a repository, else the wheel that is named in its place."""
        asked, url, wheel = self.arg(row.commit), self.arg(row.repository), self.arg(row.wheel)
        if asked and url:
            repository = name_of(url.value)
            mine = [each for each in self.actions if name_of(each.repository) == repository]
            return Pin(
                package,
                repository,
                asked.value,
                asked.origin,
                picks=tuple(
                    Pick(each.ref, None, self._origin(each.line))
                    for each in mine
                    if each.kind == "cherry-pick"
                ),
                unsaid=tuple(self._unsaid(package, asked.value, mine)),
            )
        if wheel:
            return Pin(package, "", wheel.value, wheel.origin, version=wheel, wheel=wheel.value)
        return None

    def _unsaid(self, package: str, asked: str, actions: list[Action]) -> Iterator[str]:
        """What the image does to the source that pins and picks cannot say."""
        for each in actions:
            if each.kind in {"patch", "revert", "fetch"} or (each.kind == "checkout" and each.ref != asked):
                yield f"changes {package} by {each.kind} {each.ref} in {self.path}:{each.line}"


def name_of(url: str) -> str:
    """``owner/name`` of a GitHub address; other addresses stay as they are."""
    return re.sub(r"^(https://github\.com/|git@github\.com:)|(\.git)?/?$", "", url)
