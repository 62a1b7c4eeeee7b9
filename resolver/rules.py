"""The hard rules: which facts of a tested set a manifest's demands rule out. Pure.

Authority of the sources and the rules themselves: docs/architecture.md, "Choosing".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from ..lockfile.demands import Demands, FromGit, FromPath, FromSdist, Ranged
from ..versions.rocm import rocm_in
from .catalog import Pin, Release, RocmRelease, TestedSet
from .recipe import Recipe

# The first GCC and Clang that accept each C++ standard by its final flag.
_STANDARDS = {"17": {"gcc": 8, "clang": 5}, "20": {"gcc": 10, "clang": 10}}

PRE_RELEASE = "a pre-release, and the range names none"


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a set is out. ``line`` is the demand that rules it out ("rocm", "package:vllm"), empty where no
    manifest could have it. ``says`` is the fact in words, equal for sets that fail alike."""

    line: str
    says: str


def find_needed(demands: Demands, top: str, recipes: Mapping[str, Recipe]) -> tuple[str, ...]:
    """Names of the packages that must have full commits: those asked for and what they need, sorted."""
    wanted = {package.name for package in demands.packages if isinstance(package.origin, Ranged)} | {top}
    pending = list(wanted)
    while pending:
        recipe = recipes.get(pending.pop())
        for name in (*recipe.needs.build, *recipe.needs.run) if recipe else ():
            if name not in wanted:
                wanted.add(name)
                pending.append(name)
    given = {
        package.name
        for package in demands.packages
        if isinstance(package.origin, FromGit | FromPath | FromSdist)
    }
    return tuple(sorted(wanted - given))


def find_release_violations(
    top: str, release: Release, demands: Demands, recipes: Mapping[str, Recipe]
) -> Iterator[Violation]:
    """What rules a release out before anything of it is read."""
    demand = demands.package(top)
    specifier = demand.origin.specifier if demand and isinstance(demand.origin, Ranged) else ""
    line = f"package:{top}"
    if not SpecifierSet(specifier).contains(release.version, prereleases=True):
        yield Violation(line, "outside the range asked for")
    elif _is_prerelease(release) and not SpecifierSet(specifier).prereleases:
        yield Violation(line, PRE_RELEASE)
    yield from _forbidden(top, release.version, demands)
    yield from _known_bad(recipes.get(top), release.version, None, demands)
    if demand and isinstance(demand.origin, Ranged):
        yield from _elsewhere(top, demand.origin, release.repository)
    before = demands.released_before
    if before is not None and release.date is None:
        yield Violation("released-before", "its release date is not known")
    elif before is not None and release.date is not None and release.date >= before:
        yield Violation("released-before", f"released on or after {before}")


def find_set_violations(
    tested: TestedSet,
    demands: Demands,
    needed: tuple[str, ...],
    recipes: Mapping[str, Recipe],
    rocm_releases: tuple[RocmRelease, ...],
) -> Iterator[Violation]:
    """What rules a set out by the files of its release, the fact to tell first at the front."""
    yield from _rocm(tested, demands)
    yield from _known_bad(recipes.get(tested.top), tested.release.version, tested, demands)
    yield from _gfx(tested, demands, rocm_releases)
    yield from _python(tested, demands)
    yield from _compilers(tested, demands, needed, recipes)
    yield from _unread(tested)
    yield from _pinned(tested, needed)


def find_own_violations(
    tested: TestedSet,
    demands: Demands,
    recipes: Mapping[str, Recipe],
    rocm_releases: tuple[RocmRelease, ...],
) -> Iterator[Violation]:
    """What rules a release out by what it says of itself: archs, Pythons and compilers that it supports."""
    alone = replace(tested, gfx=(), python=None)
    yield from _gfx(alone, demands, rocm_releases)
    yield from _python(alone, demands)
    yield from _compilers(alone, demands, (tested.top,), recipes)
    yield from _known_bad(recipes.get(tested.top), tested.release.version, tested, demands)


def find_pin_violations(
    tested: TestedSet, pins: Iterable[Pin], demands: Demands, recipes: Mapping[str, Recipe]
) -> Iterator[Violation]:
    """What rules a set out once its needed ``pins`` are expanded."""
    if tested.release.commit is None:
        yield Violation("", f"no full commit is known for tag {tested.release.tag} of {tested.top}")
    for pin in pins:
        yield from _member(pin, demands)
        if pin.version:
            yield from _forbidden(pin.package, pin.version.value, demands)
            for about in (None, tested):
                yield from _known_bad(recipes.get(pin.package), pin.version.value, about, demands)


def _forbidden(package: str, version: str, demands: Demands) -> Iterator[Violation]:
    for forbidden in demands.forbidden:
        if forbidden.package == package and SpecifierSet(forbidden.specifier).contains(
            version, prereleases=True
        ):
            line = f"forbid:{package} {forbidden.specifier}"
            yield Violation(line, f"{package} {forbidden.specifier} is forbidden: {forbidden.reason}")


def _known_bad(
    recipe: Recipe | None, version: str, tested: TestedSet | None, demands: Demands
) -> Iterator[Violation]:
    """What cannot be built as it stands: at all (without ``tested``), or with the ROCm or GCC of a set."""
    for bad in recipe.known_bad if recipe else ():
        conditional = bool(bad.rocm or bad.gcc)
        if conditional == (tested is None) or not SpecifierSet(bad.versions).contains(
            version, prereleases=True
        ):
            continue
        rocm = tested.rocm.value if tested and tested.rocm and demands.rocm is not None else ""
        if bad.rocm and not (rocm and SpecifierSet(bad.rocm).contains(rocm, prereleases=True)):
            continue
        gcc = demands.host.version if demands.host.kind == "gcc" else demands.host.gcc_install
        if bad.gcc and not SpecifierSet(bad.gcc).contains(gcc):
            continue
        line = "host" if bad.gcc else "rocm" if bad.rocm else ""
        name = recipe.name if recipe else ""
        yield Violation(line, f"{name} is known bad: {bad.reason} ({bad.source}); instead: {bad.instead}")


def _elsewhere(package: str, wanted: Ranged, repository: str) -> Iterator[Violation]:
    if wanted.repository and wanted.repository != repository:
        yield Violation(f"package:{package}", f"takes {package} from {repository or 'a wheel'}")


def _is_prerelease(release: Release) -> bool:
    return release.prerelease or Version(release.version).is_prerelease


def _rocm(tested: TestedSet, demands: Demands) -> Iterator[Violation]:
    if demands.rocm is None:
        return
    if tested.rocm is None:
        if not tested.unread:  # that tells more
            yield Violation("", "does not say which ROCm it is for")
    else:
        try:
            if not rocm_in(tested.rocm.value, demands.rocm):
                yield Violation("rocm", f"tested on ROCm {tested.rocm.value}")
        except ValueError as error:
            yield Violation("", str(error))


def _gfx(tested: TestedSet, demands: Demands, rocm_releases: tuple[RocmRelease, ...]) -> Iterator[Violation]:
    lists = [(tested.gfx, "its images are built"), (tested.supported_gfx, f"{tested.top} builds")]
    if tested.rocm is not None and demands.rocm is not None:
        version = tested.rocm.value
        known = next(
            (
                release.gfx
                for release in rocm_releases
                if release.gfx and (release.version == version or release.version.startswith(f"{version}."))
            ),
            (),
        )
        lists.append((known, f"ROCm {version} is made"))
    for wanted in demands.gfx:
        for listed, words in lists:
            if listed and wanted not in listed and wanted.partition(":")[0] not in listed:
                yield Violation("gfx", f"{words} for {', '.join(listed)}")


def _python(tested: TestedSet, demands: Demands) -> Iterator[Violation]:
    supported = tested.supported_python or ((tested.python.value,) if tested.python else ())
    if supported and demands.python not in supported:
        yield Violation("python", f"supports Python {', '.join(supported)}")


def _pinned(tested: TestedSet, needed: tuple[str, ...]) -> Iterator[Violation]:
    pins = {pin.package: pin for pin in tested.pins}
    for name in needed:
        pin = pins.get(name)
        if pin is None and name != tested.top:
            yield Violation("", f"does not pin {name}")
        elif pin is not None and pin.wheel is not None:
            yield Violation("", f"names a binary wheel of {name} ({pin.wheel}), which is no source pin")
        elif pin is not None:
            yield from (Violation("", says) for says in pin.unsaid)


def _member(pin: Pin, demands: Demands) -> Iterator[Violation]:
    demand = demands.package(pin.package)
    specifier = demand.origin.specifier if demand and isinstance(demand.origin, Ranged) else ""
    if demand and isinstance(demand.origin, Ranged):
        yield from _elsewhere(pin.package, demand.origin, pin.repository)
    if specifier:
        line = f"package:{pin.package}"
        if pin.version is None:
            yield Violation(line, f"the version of {pin.package} at {pin.asked} is not known")
        elif not SpecifierSet(specifier).contains(pin.version.value, prereleases=True):
            yield Violation(line, f"tests {pin.package} {pin.version.value}")
    if pin.commit is None:
        yield Violation("", f"pins {pin.package} at {pin.asked}, whose full commit is not known")
    for pick in pin.picks:
        if pick.commit is None:
            yield Violation("", f"picks {pick.asked} onto {pin.package}, whose full commit is not known")


def _compilers(
    tested: TestedSet, demands: Demands, needed: tuple[str, ...], recipes: Mapping[str, Recipe]
) -> Iterator[Violation]:
    host = demands.host
    oldest = _STANDARDS.get(tested.cxx_standard.value, {}).get(host.kind) if tested.cxx_standard else None
    if tested.cxx_standard and oldest and int(host.version) < oldest:
        yield Violation(
            "host", f"{tested.top} is C++{tested.cxx_standard.value}: {host.kind} {oldest} or later"
        )
    for name in needed:
        recipe = recipes.get(name)
        specifier = (recipe.compilers.gcc if host.kind == "gcc" else recipe.compilers.clang) if recipe else ""
        # A major stands for its newest release: "9" meets ">=9.4".
        if recipe and specifier and not SpecifierSet(specifier).contains(f"{host.version}.99"):
            yield Violation("host", f"{name} needs {host.kind} {specifier} ({recipe.compilers.source})")


def _unread(tested: TestedSet) -> Iterator[Violation]:
    if tested.unread:
        yield Violation("", f"not known: {', '.join(tested.unread)}")
