"""What a catalog knows and what it lacks, in figures. Pure, apart from asking the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .catalog import Catalog, TestedSet
from .recipe import Recipe


@dataclass(frozen=True, slots=True)
class TopView:
    """One package with tested sets. ``whole`` sets have every commit of what the package needs; ``lacks``
    says of the others, newest first, what is not known."""

    name: str
    repository: str
    releases: int
    newest: str
    sets: int
    whole: int
    lacks: tuple[tuple[str, str], ...]


def view_top(catalog: Catalog, top: str, recipes: Mapping[str, Recipe]) -> TopView:
    """What ``catalog`` knows of ``top``."""
    packages = _needs(top, recipes)
    candidates = catalog.candidates(top)
    sets = [tested for each in candidates for tested in catalog.tested_sets(top, each)]
    lacks: list[tuple[str, str]] = []
    for tested in sets:
        missing = list(_missing(catalog, tested, packages))
        if missing:
            lacks.append((f"{tested.release.tag} {tested.variant}", "; ".join(missing)))
    return TopView(
        name=top,
        repository=candidates[0].repository if candidates else "",
        releases=len(candidates),
        newest=candidates[0].version if candidates else "",
        sets=len(sets),
        whole=len(sets) - len(lacks),
        lacks=tuple(lacks),
    )


def _needs(top: str, recipes: Mapping[str, Recipe]) -> frozenset[str]:
    found = {top}
    pending = [top]
    while pending:
        needs = recipes[pending.pop()].needs
        new = {*needs.build, *needs.run} - found
        found |= new
        pending += new
    return frozenset(found)


def _missing(catalog: Catalog, tested: TestedSet, packages: frozenset[str]) -> Iterator[str]:
    if tested.release.commit is None:
        yield "the commit of the tag"
    yield from tested.unread
    for pin in tested.pins:
        if pin.package not in packages:
            continue
        known = catalog.expand(pin)
        if known.wheel is not None:
            yield f"a source of {pin.package} (it names the wheel {known.wheel})"
        elif known.commit is None:
            yield f"the commit of {pin.package} ({pin.repository} {pin.asked})"
        yield from (
            f"the commit of {pick.asked} onto {pin.package}" for pick in known.picks if not pick.commit
        )
