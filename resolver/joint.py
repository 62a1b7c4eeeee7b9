"""Choosing for several targets: one tested set for all where one holds for all, else each its own. Pure.

Only ``choose`` judges sets. This module hides from it what is ruled out for another target, until all targets
choose the same: sets are read no further than the first that holds for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from ..lockfile.demands import Demands
from .catalog import Catalog, KnownCommit, Pin, Release, RocmRelease, TestedSet
from .choose import PassedOver, Resolution, World, choose

Answer = Resolution | tuple[PassedOver, ...]


def choose_for_all(
    world: World, demands: Sequence[Demands], kept: Mapping[str, str | None]
) -> tuple[Answer, ...]:
    """The answer of ``choose`` for each target, in order.

    ``kept`` is the top package's commit in the lock that is there, by target. Targets whose set of that lock
    still holds stay with it: the others join them or choose for themselves.
    """
    alone = tuple(choose(world, each, kept.get(each.target)) for each in demands)
    found = [answer for answer in alone if isinstance(answer, Resolution)]
    if len(found) < len(alone) or _agree(found):
        return alone
    stay = {
        answer.tested.release.commit
        for each, answer in zip(demands, found, strict=True)
        if answer.tested.release.commit == kept.get(each.target)
    }
    candidates = world.catalog.candidates(world.top)
    shown = tuple(release for release in candidates if not stay or release.commit in stay)
    return (_meet(world, demands, shown, found) if len(stay) < 2 else None) or alone


def _agree(found: Sequence[Resolution]) -> bool:
    return all(each.tested == found[0].tested for each in found)


def _meet(
    world: World, demands: Sequence[Demands], shown: tuple[Release, ...], alone: Sequence[Resolution]
) -> tuple[Resolution, ...] | None:
    """What all targets choose among the sets of ``shown``, once they agree; None where they never do.

    Each round hides what stands before the last of the answers: for some target it does not hold. What a
    target passed over ``alone`` and in each round is told together.
    """
    passed = [list(answer.passed_over) for answer in alone]
    first: TestedSet | None = None
    while True:
        view = replace(world, catalog=_View(world.catalog, shown, first))
        found: list[Resolution] = []
        for each, before in zip(demands, passed, strict=True):
            answer = choose(view, each)
            if not isinstance(answer, Resolution):
                return None
            before.extend(answer.passed_over)
            found.append(answer)
        if _agree(found):
            candidates = world.catalog.candidates(world.top)
            return tuple(
                replace(answer, passed_over=_ordered(before, candidates))
                for answer, before in zip(found, passed, strict=True)
            )
        first = max((each.tested for each in found), key=partial(_position, world, shown))
        shown = shown[shown.index(first.release) :]


def _ordered(passed: Sequence[PassedOver], candidates: Sequence[Release]) -> tuple[PassedOver, ...]:
    return tuple(sorted(dict.fromkeys(passed), key=lambda item: candidates.index(item.release)))


def _position(world: World, shown: Sequence[Release], tested: TestedSet) -> tuple[int, int]:
    sets = world.catalog.tested_sets(world.top, tested.release)
    return shown.index(tested.release), sets.index(tested)


@dataclass(frozen=True, slots=True)
class _View:
    """The catalog ``of`` with the releases ``shown`` alone as candidates. Sets of the release of ``first``
    that stand before it are hidden."""

    of: Catalog
    shown: tuple[Release, ...]
    first: TestedSet | None

    @property
    def dated(self) -> date | None:
        return self.of.dated

    def tops(self) -> tuple[str, ...]:
        return self.of.tops()

    def candidates(self, top: str) -> tuple[Release, ...]:  # noqa: ARG002 -- the protocol's: there is one top
        return self.shown

    def tested_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
        sets = self.of.tested_sets(top, release)
        if self.first is not None and release == self.first.release:
            return sets[sets.index(self.first) :]
        return sets

    def expand(self, pin: Pin) -> Pin:
        return self.of.expand(pin)

    def releases(self, repository: str) -> tuple[Release, ...]:
        return self.of.releases(repository)

    def commit(self, repository: str, asked: str) -> KnownCommit:
        return self.of.commit(repository, asked)

    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        return self.of.rocm_releases()
