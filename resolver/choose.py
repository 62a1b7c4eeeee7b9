"""Choosing by ``tested``: enumeration of tested sets, newest first; the first whose facts all hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from attrs import evolve
from packaging.specifiers import SpecifierSet

from ..lockfile.demands import Demands, PackageDemand, Ranged
from .catalog import Catalog, Pin, RocmRelease, TestedSet
from .recipe import Recipe
from .rules import Violation, find_needed, find_violations


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A set that was not taken, with the first fact that rules it out."""

    tested: TestedSet
    violation: Violation


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A lower source that disagrees with the set: under ``tested`` a warning that names both places."""

    says: str
    at: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """``members`` are the pins of the packages that are needed, the top package's own release aside."""

    tested: TestedSet
    members: tuple[Pin, ...]
    contradictions: tuple[Contradiction, ...]
    passed_over: tuple[PassedOver, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A manifest line that was tried in place of another and leads to ``tested``."""

    lines: tuple[str, ...]
    instead: tuple[str, ...]
    tested: TestedSet


@dataclass(frozen=True, slots=True)
class Conflict:
    """No set holds. ``impossible`` are the fewest demand lines that no set meets together."""

    top: str
    passed_over: tuple[PassedOver, ...]
    impossible: tuple[str, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class World:
    """What choosing looks at: the sets of the top package and the facts beside them."""

    top: str
    sets: tuple[TestedSet, ...]
    recipes: Mapping[str, Recipe]
    rocm_releases: tuple[RocmRelease, ...]

    def violations(self, tested: TestedSet, demands: Demands) -> list[Violation]:
        needed = find_needed(demands, self.top, self.recipes)
        return find_violations(tested, demands, needed, self.recipes, self.rocm_releases)


def find_top(demands: Demands, catalog: Catalog) -> str | None:
    """The highest package asked for that has tested sets; None when the manifest asks for none of them."""
    asked = {package.name for package in demands.packages if isinstance(package.origin, Ranged)}
    return next((top for top in catalog.tops() if top in asked), None)


def choose(world: World, demands: Demands, kept_commit: str | None = None) -> Resolution | Conflict:
    """The first set that holds. ``kept_commit`` is the top package's commit in the lock that is there: its
    set comes first, so that only ``update`` moves pins."""
    kept = [tested for tested in world.sets if kept_commit and tested.release.commit == kept_commit]
    passed: list[PassedOver] = []
    for tested in (*kept, *world.sets):
        violations = world.violations(tested, demands)
        if not violations:
            # A kept set that is given up comes by twice; it is told once.
            return _resolution(world, tested, demands, tuple(dict.fromkeys(passed)))
        passed.append(PassedOver(tested, violations[0]))
    return _conflict(world, demands, tuple(passed[len(kept) :]))


def _resolution(
    world: World, tested: TestedSet, demands: Demands, passed: tuple[PassedOver, ...]
) -> Resolution:
    needed = find_needed(demands, world.top, world.recipes)
    members = tuple(pin for pin in tested.pins if pin.package in needed)
    return Resolution(tested, members, tuple(_contradictions(tested, members)), passed)


def _contradictions(tested: TestedSet, members: Sequence[Pin]) -> list[Contradiction]:
    found: list[Contradiction] = []
    for pin in members:
        if pin.version is None:
            continue
        for statement in tested.statements:
            if statement.package != pin.package:
                continue
            if not SpecifierSet(statement.specifier).contains(pin.version.value, prereleases=True):
                found.append(
                    Contradiction(
                        f"{tested.top} {tested.release.version} tests {pin.package} {pin.version.value}, "
                        f"but {statement.specifier} is stated, too",
                        (str(pin.origin), str(statement.origin)),
                    )
                )
    return found


def _conflict(world: World, demands: Demands, passed: tuple[PassedOver, ...]) -> Conflict:
    broken = {
        index: {violation.line for violation in world.violations(tested, demands)}
        for index, tested in enumerate(world.sets)
    }
    # A set with a violation of no line ("") can't be had by any manifest: it explains nothing.
    usable = [lines for lines in broken.values() if "" not in lines]
    lines = sorted({line for found in usable for line in found})
    impossible = next(
        (
            chosen
            for size in range(1, len(lines) + 1)
            for chosen in combinations(lines, size)
            if all(found & set(chosen) for found in usable)
        ),
        (),
    )
    changes = _changes(world, demands, lines, 1) or _changes(world, demands, lines, 2)
    return Conflict(world.top, passed, tuple(impossible), changes)


def _changes(world: World, demands: Demands, lines: list[str], size: int) -> tuple[Change, ...]:
    found: list[Change] = []
    for dropped in combinations(lines, size):
        for tested in world.sets:
            violations = world.violations(tested, demands)
            if all(violation.line in dropped for violation in violations):
                changed = _relaxed(demands, dropped, tested)
                if changed and not world.violations(tested, changed):
                    instead = tuple(line_of(changed, line) for line in dropped)
                    found.append(Change(dropped, instead, tested))
                    break
    return tuple(found)


def _relaxed(demands: Demands, dropped: tuple[str, ...], tested: TestedSet) -> Demands | None:
    """The demands with the ``dropped`` lines written so that ``tested`` meets them; None where none would."""
    pins = {pin.package: pin for pin in tested.pins}
    for line in dropped:
        if line == "rocm" and tested.rocm:
            demands = evolve(demands, rocm=f"=={tested.rocm.value}")
        elif line == "gfx":
            listed = [set(found) for found in (tested.gfx, tested.supported_gfx) if found]
            kept = tuple(
                gfx for gfx in demands.gfx if all(gfx.partition(":")[0] in found for found in listed)
            )
            demands = evolve(demands, gfx=kept)
            if not kept:
                return None
        elif line == "python" and (tested.supported_python or tested.python):
            demands = evolve(
                demands, python=tested.python.value if tested.python else tested.supported_python[-1]
            )
        elif line == "released-before":
            demands = evolve(demands, released_before=None)
        elif line.startswith("package:"):
            name = line.removeprefix("package:")
            version = tested.release.version if name == tested.top else None
            pin = pins.get(name)
            version = version or (pin.version.value if pin and pin.version else None)
            if version is None:
                return None
            demands = _with_package(demands, name, f"=={version}")
        else:
            return None
    return demands


def _with_package(demands: Demands, name: str, specifier: str) -> Demands:
    packages = tuple(
        PackageDemand(name, Ranged(specifier), f'{name} = "{specifier}"') if package.name == name else package
        for package in demands.packages
    )
    return evolve(demands, packages=packages)


def line_of(demands: Demands, line: str) -> str:
    """A demand as it stands in a manifest."""
    package = demands.package(line.removeprefix("package:")) if line.startswith("package:") else None
    if package:
        return package.line
    words = {
        "rocm": f'rocm = "{demands.rocm}"',
        "gfx": f"gfx = [{', '.join(repr(gfx).replace(chr(39), chr(34)) for gfx in demands.gfx)}]",
        "python": f'python = "{demands.python}"',
        "host": f'host = {{ {demands.host.kind} = "{demands.host.version}" }}',
        "released-before": (
            f"released-before = {demands.released_before}"
            if demands.released_before
            else "no released-before"
        ),
    }
    return words[line]
