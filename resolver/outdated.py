"""What is newer than a lock, and what holds it back. Pure, apart from asking the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from packaging.version import InvalidVersion, Version

from ..lockfile.demands import Demands, FromGit, FromSdist, PackageDemand, Ranged
from ..lockfile.model import GitSource, Lock, Package, SdistSource
from ..lockfile.satisfy import version_in
from ..lockfile.targets import lock_of
from ..lockfile.urls import repository_of
from .catalog import Catalog, Release
from .choose import Resolution
from .explain import group_lines
from .recipe import Recipe


@dataclass(frozen=True, slots=True)
class Outdated:
    """Something of a lock that is not the newest. ``update`` is what ``rocmlock update`` takes, equal to
    ``locked`` where it moves nothing; ``held_by`` is what keeps it from taking ``newest``, empty where
    nothing does. ``where`` are the targets of a package, the layers of a wheel."""

    kind: str
    name: str
    locked: str
    update: str
    newest: str
    held_by: tuple[str, ...]
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Available:
    """A version that a package index offers, and the day that it was uploaded where that is known."""

    version: str
    uploaded: date | None


def find_outdated_packages(
    lock: Lock,
    demands: Sequence[Demands],
    resolutions: Mapping[str, Resolution],
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    *,
    sdists: Mapping[str, Sequence[Available]],
) -> tuple[Outdated, ...]:
    """Packages built from source, by name.

    ``resolutions`` are what an update would choose, by target; ``sdists`` what the index has, by package: one
    that is not there was not asked for.
    """
    found: list[Outdated] = []
    for each in demands:
        for package in lock_of(lock, each.target).packages:
            demand = each.package(package.name)
            origin = demand.origin if demand else None
            newer: Outdated | None = None
            if demand and isinstance(origin, FromGit):
                newer = _own_git(package, demand, origin, catalog)
            elif demand and isinstance(origin, FromSdist):
                newer = _sdist(package, demand, origin, each, sdists.get(package.name, ()))
            elif isinstance(package.source, GitSource) and each.target in resolutions:
                newer = _stack(package, each, resolutions[each.target], catalog, recipes)
            if newer:
                found.append(replace(newer, where=(each.target,)))
    return join_rows(found)


def join_rows(rows: Iterable[Outdated]) -> tuple[Outdated, ...]:
    """Rows of equal versions as one, with all that holds them back, by name."""
    joined: dict[Outdated, list[Outdated]] = {}
    for row in rows:
        joined.setdefault(replace(row, held_by=(), where=()), []).append(row)
    made = [
        replace(
            row,
            held_by=tuple(dict.fromkeys(held for each in same for held in each.held_by)),
            where=tuple(dict.fromkeys(name for each in same for name in each.where)),
        )
        for row, same in joined.items()
    ]
    return tuple(sorted(made, key=lambda row: (row.name, row.locked, row.where)))


def is_newer(version: str, than: str) -> bool:
    """Whether a version comes after another; what is no version is not newer than anything."""
    try:
        return Version(version) > Version(than)
    except InvalidVersion:
        return False


def _stack(
    package: Package,
    demands: Demands,
    chosen: Resolution,
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
) -> Outdated | None:
    """A package that choosing gives: a tested set or a search of releases."""
    version, commit = _chosen(package.name, chosen)
    source = package.source
    moves = isinstance(source, GitSource) and commit not in {source.commit, None}
    newest = _newest_release(package, demands, catalog, recipes)
    newer = newest is not None and is_newer(newest.version, version or package.version)
    if not moves and not newer:
        return None
    held = tuple(_held_release(package, demands, chosen, newest, version)) if newest and newer else ()
    locked, update = package.version, version
    if moves and isinstance(source, GitSource) and (locked == update or not (locked and update)):
        locked = f"{locked} {source.commit[:12]}".strip()  # versions alone would not tell the two apart
        update = f"{update} {(commit or '')[:12]}".strip()
    return Outdated(
        "package", package.name, locked, update, newest.version if newest and newer else update, held, ()
    )


def _chosen(name: str, chosen: Resolution) -> tuple[str, str | None]:
    """Version (empty: not known) and commit of a package in what was chosen."""
    if name == chosen.tested.top:
        return chosen.tested.release.version, chosen.tested.release.commit
    pin = next((pin for pin in chosen.members if pin.package == name), None)
    if pin is None:
        return "", None
    return pin.version.value if pin.version else "", pin.commit


def _newest_release(
    package: Package, demands: Demands, catalog: Catalog, recipes: Mapping[str, Recipe]
) -> Release | None:
    """Upstream's newest release; a pre-release only where the manifest's range names one."""
    recipe = recipes.get(package.name)
    url = package.source.url if isinstance(package.source, GitSource) else ""
    repository = recipe.repositories[0] if recipe and recipe.repositories else repository_of(url)
    demand = demands.package(package.name)
    range_ = demand.origin.specifier if demand and isinstance(demand.origin, Ranged) else ""
    return next(
        (
            release
            for release in (catalog.releases(repository) if repository else ())
            if not (release.prerelease or Version(release.version).is_prerelease)
            or (range_ and version_in(release.version, range_))
        ),
        None,
    )


def _held_release(
    package: Package, demands: Demands, chosen: Resolution, newest: Release, version: str
) -> Iterator[str]:
    """Lines of the manifest first, then the facts that rule newer releases out, then the set's own pin."""
    lines = list(_held_by_manifest(package.name, newest.version, newest.date, demands))
    yield from lines
    passed = [
        item
        for item in chosen.passed_over
        if item.top == package.name and is_newer(item.release.version, version)
    ]
    if passed:
        yield from () if lines else group_lines(passed)
    elif package.name == chosen.tested.top:
        yield from () if lines else (f"{package.name} {newest.version} has no tested set that is known",)
    else:
        yield from _held_by_set(package, chosen)


def _held_by_set(package: Package, chosen: Resolution) -> Iterator[str]:
    """The pin of the set that would be chosen, with its place."""
    pin = next((pin for pin in chosen.members if pin.package == package.name), None)
    if pin is None:
        return
    release = chosen.tested.release
    yield f"{chosen.tested.top} {release.version} pins {pin.asked} ({pin.origin.path or pin.origin.where}" + (
        f":{pin.origin.line})" if pin.origin.line else ")"
    )


def _held_by_manifest(name: str, version: str, day: date | None, demands: Demands) -> Iterator[str]:
    demand = demands.package(name)
    range_ = demand.origin.specifier if demand and isinstance(demand.origin, Ranged | FromSdist) else ""
    if demand and range_ and not version_in(version, range_):
        yield f"the manifest says {demand.line}"
    before = demands.released_before
    if before and (day is None or day >= before):
        yield f"the manifest says released-before = {before}"
    for forbidden in demands.forbidden:
        if forbidden.package == name and version_in(version, forbidden.specifier):
            yield f"the manifest forbids {name} {forbidden.specifier}: {forbidden.reason}"


def _own_git(package: Package, demand: PackageDemand, origin: FromGit, catalog: Catalog) -> Outdated | None:
    """A source of the user's own: a branch that went on, or a tag that is not the newest release."""
    source, repository = package.source, repository_of(origin.url)
    if not isinstance(source, GitSource) or repository is None:
        return None
    known = catalog.commit(repository, origin.rev)
    if known.moves and known.commit and known.commit != source.commit:
        now = known.commit[:12]
        return Outdated("package", package.name, source.commit[:12], now, now, (), ())
    newest = next((each for each in catalog.releases(repository) if not each.prerelease), None)
    if newest is None or not package.version or not is_newer(newest.version, package.version):
        return None
    held = (f"the manifest says {demand.line}",)
    return Outdated("package", package.name, package.version, package.version, newest.version, held, ())


def _sdist(
    package: Package, demand: PackageDemand, origin: FromSdist, demands: Demands, offered: Sequence[Available]
) -> Outdated | None:
    if not isinstance(package.source, SdistSource) or not offered:
        return None
    before = demands.released_before
    taken = [
        each
        for each in offered
        if version_in(each.version, origin.specifier)
        and not (before and (each.uploaded is None or each.uploaded >= before))
    ]
    newest = newest_of(offered, package.version)
    update = newest_of(taken, package.version)
    best = update.version if update and is_newer(update.version, package.version) else package.version
    if newest is None or not is_newer(newest.version, package.version):
        return None
    held: tuple[str, ...] = ()
    if is_newer(newest.version, best):
        held = tuple(_held_by_manifest(demand.name, newest.version, newest.uploaded, demands))
    return Outdated("package", package.name, package.version, best, newest.version, held, ())


def newest_of(offered: Iterable[Available], locked: str) -> Available | None:
    """The newest that is offered; pre-releases count where the lock has one."""
    counted = [
        each
        for each in offered
        if _is_version(each.version) and (_is_prerelease(locked) or not _is_prerelease(each.version))
    ]
    return max(counted, key=lambda each: Version(each.version), default=None)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _is_prerelease(text: str) -> bool:
    return _is_version(text) and Version(text).is_prerelease
