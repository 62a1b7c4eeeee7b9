"""Why no tested set meets a manifest: the lines that are impossible together, and changes that help. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from attrs import evolve

from ..lockfile.demands import Demands, Forbidden, PackageDemand, Ranged
from .catalog import TestedSet
from .choose import PassedOver, World


@dataclass(frozen=True, slots=True)
class Change:
    """A manifest line that was tried in place of another and leads to ``tested``."""

    lines: tuple[str, ...]
    instead: tuple[str, ...]
    tested: TestedSet


@dataclass(frozen=True, slots=True)
class Conflict:
    """No set holds. ``impossible`` are the fewest demand lines that no set meets together: leaving any one of
    them out lets a set through as far as the others go."""

    top: str
    passed_over: tuple[PassedOver, ...]
    impossible: tuple[str, ...]
    changes: tuple[Change, ...]


def explain_conflict(world: World, demands: Demands, passed: tuple[PassedOver, ...]) -> Conflict:
    """The explanation of a world in which ``passed`` is every set."""
    judged = list(_judge_all(world, demands))
    impossible = _impossible(judged)
    lines = sorted({line for each in judged if not each.dead for line in each.lines})
    changes = _changes(world, demands, judged, lines, 1) or _changes(world, demands, judged, lines, 2)
    return Conflict(world.top, passed, impossible, changes)


class _Judged:
    """A set with the manifest lines that rule it out; its pins are expanded when that is needed."""

    def __init__(self, world: World, demands: Demands, tested: TestedSet, lines: frozenset[str]) -> None:
        self.world, self.demands, self.tested, self.lines = world, demands, tested, lines
        self.refined = False

    @property
    def dead(self) -> bool:
        """No manifest could have it: it explains nothing."""
        return "" in self.lines

    def refine(self) -> bool:
        """Whether expanding the pins told anything new."""
        if self.refined:
            return False
        self.refined = True
        found = {violation.line for violation in self.world.pin_violations(self.tested, self.demands)}
        learned = not found <= self.lines
        self.lines |= found
        return learned


def _judge_all(world: World, demands: Demands) -> Iterator[_Judged]:
    for release in world.catalog.candidates(world.top):
        lines = {violation.line for violation in world.release_violations(release, demands)}
        for tested in world.catalog.tested_sets(world.top, release):
            broken = {violation.line for violation in world.set_violations(tested, demands)}
            if "" not in broken:
                judged = _Judged(world, demands, tested, frozenset(lines | broken))
                if not judged.lines:
                    judged.refine()  # only its pins can rule it out
                yield judged


def _impossible(judged: Sequence[_Judged]) -> tuple[str, ...]:
    """The fewest lines such that each set breaks one of them.

    Each line of the answer has a set that breaks no other of them; that set's pins are expanded, lest it is
    one that nobody can have.
    """
    while True:
        usable = [each for each in judged if not each.dead]
        chosen = _fewest([each.lines for each in usable])
        sole = [_broken_by_only(usable, chosen, line) for line in chosen]
        if not any(each.refine() for each in sole if each):
            return chosen


def _broken_by_only(judged: Sequence[_Judged], chosen: tuple[str, ...], line: str) -> _Judged | None:
    return next((each for each in judged if {*each.lines} & {*chosen} == {line}), None)


def _fewest(broken: Sequence[frozenset[str]]) -> tuple[str, ...]:
    lines = sorted(frozenset[str]().union(*broken))
    distinct = set(broken)
    return next(
        (
            chosen
            for size in range(1, len(lines) + 1)
            for chosen in combinations(lines, size)
            if all(found & set(chosen) for found in distinct)
        ),
        (),
    )


def _changes(
    world: World, demands: Demands, judged: Sequence[_Judged], lines: Sequence[str], size: int
) -> tuple[Change, ...]:
    found: list[Change] = []
    for dropped in combinations(lines, size):
        for each in judged:
            if not each.lines <= set(dropped):
                continue
            each.refine()
            if not each.lines <= set(dropped):
                continue
            changed = _relaxed(world, demands, dropped, each.tested)
            if changed and not world.violations(each.tested, changed):
                instead = tuple(line_of(changed, line) for line in dropped)
                found.append(Change(dropped, instead, each.tested))
                break
    return tuple(found)


def _relaxed(world: World, demands: Demands, dropped: tuple[str, ...], tested: TestedSet) -> Demands | None:
    """The demands with the ``dropped`` lines written so that ``tested`` meets them; None where none would."""
    pins = {pin.package: pin for pin in world.members(tested, demands)}
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
        elif line.startswith("forbid:"):
            others = tuple(each for each in demands.forbidden if forbid_line(each) != line)
            demands = evolve(demands, forbidden=others)
        elif line.startswith("package:"):
            name = line.removeprefix("package:")
            version = tested.release.version if name == tested.top else None
            pin = pins.get(name)
            version = version or (pin.version.value if pin and pin.version else None)
            if version is None:
                return None
            demands = with_range(demands, name, f"=={version}")
        else:
            return None
    return demands


def with_range(demands: Demands, name: str, specifier: str) -> Demands:
    """The demands with another range of a package that is asked for."""
    packages = tuple(
        _ranged(package, specifier) if package.name == name else package for package in demands.packages
    )
    return evolve(demands, packages=packages)


def _ranged(package: PackageDemand, specifier: str) -> PackageDemand:
    """The demand with another range; what else it says stays."""
    return evolve(package, origin=Ranged(specifier), line=f'{package.name} = "{specifier}"')


def forbid_line(forbidden: Forbidden) -> str:
    """How a violation names a forbidden range."""
    return f"forbid:{forbidden.package} {forbidden.specifier}"


def line_of(demands: Demands, line: str) -> str:
    """A demand as it stands in a manifest."""
    if line.startswith("forbid:"):
        stands = next((each.line for each in demands.forbidden if forbid_line(each) == line), None)
        return stands or f"without forbidding {line.removeprefix('forbid:')}"
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
