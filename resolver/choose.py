"""Choosing by ``tested``: enumeration of tested sets, newest first; the first whose facts all hold. Pure.

The catalog is asked for no more than the facts so far leave open: a release out of range is not read, and the
pins of a set that is ruled out are not expanded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from ..lockfile.demands import Demands, Ranged
from .catalog import Catalog, Pin, Release, TestedSet
from .recipe import Recipe
from .rules import (
    Violation,
    find_needed,
    find_pin_violations,
    find_release_violations,
    find_set_violations,
)


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A release of ``top``, or one of its sets, that was not taken, with the first fact that rules it out."""

    top: str
    release: Release
    violation: Violation


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A lower source that disagrees with the set: under ``tested`` a warning that names the places."""

    says: str
    at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """``members`` are the expanded pins of the packages that are needed beside the top package itself."""

    tested: TestedSet
    members: tuple[Pin, ...]
    contradictions: tuple[Contradiction, ...]
    passed_over: tuple[PassedOver, ...]


@dataclass(frozen=True, slots=True)
class World:
    """What choosing looks at: the tested sets of ``top`` and the facts beside them."""

    top: str
    catalog: Catalog
    recipes: Mapping[str, Recipe]

    def release_violations(self, release: Release, demands: Demands) -> Iterator[Violation]:
        return find_release_violations(self.top, release, demands, self.recipes)

    def set_violations(self, tested: TestedSet, demands: Demands) -> Iterator[Violation]:
        needed = find_needed(demands, self.top, self.recipes)
        return find_set_violations(tested, demands, needed, self.recipes, self.catalog.rocm_releases())

    def pin_violations(self, tested: TestedSet, demands: Demands) -> Iterator[Violation]:
        return find_pin_violations(tested, self.members(tested, demands), demands, self.recipes)

    def members(self, tested: TestedSet, demands: Demands) -> tuple[Pin, ...]:
        """The needed pins, expanded."""
        needed = find_needed(demands, self.top, self.recipes)
        return tuple(self.catalog.expand(pin) for pin in tested.pins if pin.package in needed)

    def violations(self, tested: TestedSet, demands: Demands) -> list[Violation]:
        """What rules a set out; its pins are expanded only where nothing else does."""
        found = [*self.release_violations(tested.release, demands), *self.set_violations(tested, demands)]
        return found or list(self.pin_violations(tested, demands))


def find_top(demands: Demands, catalog: Catalog) -> str | None:
    """The highest package asked for that has tested sets; None when the manifest asks for none of them."""
    asked = {package.name for package in demands.packages if isinstance(package.origin, Ranged)}
    return next((top for top in catalog.tops() if top in asked), None)


def choose(
    world: World, demands: Demands, kept_commit: str | None = None
) -> Resolution | tuple[PassedOver, ...]:
    """The first set that holds, or all that were passed over.

    ``kept_commit`` is the top package's commit in the lock that is there: its sets come first, so that only
    ``update`` moves pins.
    """
    candidates = world.catalog.candidates(world.top)
    kept = [release for release in candidates if kept_commit and release.commit == kept_commit]
    passed: list[PassedOver] = []
    for release in dict.fromkeys((*kept, *candidates)):
        for judged in _judge(world, release, demands):
            if isinstance(judged, TestedSet):
                # A kept set that is given up is told only where the order comes to it.
                told = sorted(passed, key=lambda item: candidates.index(item.release))
                return _resolution(world, judged, demands, tuple(told))
            passed.append(judged)
    return tuple(sorted(passed, key=lambda item: candidates.index(item.release)))


def _judge(world: World, release: Release, demands: Demands) -> Iterator[PassedOver | TestedSet]:
    violation = next(world.release_violations(release, demands), None)
    if violation:
        yield PassedOver(world.top, release, violation)
        return
    sets = world.catalog.tested_sets(world.top, release)
    if not sets:
        yield PassedOver(world.top, release, Violation("", "has no tested set"))
    for tested in sets:
        violations = world.violations(tested, demands)
        yield PassedOver(world.top, release, violations[0]) if violations else tested


def _resolution(
    world: World, tested: TestedSet, demands: Demands, passed: tuple[PassedOver, ...]
) -> Resolution:
    members = world.members(tested, demands)
    contradictions = (
        *_against_statements(tested, members),
        *_against_pairs(tested, members, world.recipes),
        *_edited(tested, members),
    )
    return Resolution(tested, members, contradictions, passed)


def _against_statements(tested: TestedSet, members: Sequence[Pin]) -> Iterator[Contradiction]:
    for pin in members:
        for statement in tested.statements:
            if statement.package == pin.package and not _fits(pin, statement.specifier):
                yield Contradiction(
                    f"{_tests(tested, pin)}, but {statement.specifier} is stated, too",
                    (str(pin.origin), str(statement.origin)),
                )


def _against_pairs(
    tested: TestedSet, members: Sequence[Pin], recipes: Mapping[str, Recipe]
) -> Iterator[Contradiction]:
    pins = {pin.package: pin for pin in members}
    for partner in members:
        recipe = recipes.get(partner.package)
        pairs = recipe.pairs if recipe else None
        pin = pins.get(pairs.package) if pairs else None
        if pairs is None or pin is None or partner.version is None:
            continue
        specifier = pairs.versions.get(partner.version.value)
        if specifier is not None and not _fits(pin, specifier):
            name = f"{partner.package} {partner.version.value}"
            yield Contradiction(
                f"{_tests(tested, pin)}, but {name} goes with {specifier}",
                (str(pin.origin), str(partner.origin)),
            )


def _edited(tested: TestedSet, members: Sequence[Pin]) -> Iterator[Contradiction]:
    """Files that the tested image changes in passing: a lock does not repeat that."""
    for pin in members:
        for edit in pin.edits:
            what = f"{tested.top} {tested.release.version} edits {edit.value} of {pin.package}"
            yield Contradiction(f"{what}, which the lock does not repeat", (str(edit.origin),))


def _fits(pin: Pin, specifier: str) -> bool:
    """A version that no fact tells contradicts nothing."""
    return pin.version is None or SpecifierSet(specifier).contains(pin.version.value, prereleases=True)


def _tests(tested: TestedSet, pin: Pin) -> str:
    version = pin.version.value if pin.version else ""
    return f"{tested.top} {tested.release.version} tests {pin.package} {version}"
