"""What a search of releases knows: candidates newest first, what each needs, and what rules it out.

Candidates are read when they are considered: no release that nobody considers is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import AbstractProvider

from ..lockfile.demands import Demands, Ranged
from ..versions.rocm import rocm_in
from .catalog import Catalog, Fact, Origin, Pin, Release, RocmRelease, TestedSet
from .choose import PassedOver
from .recipe import Recipe
from .rules import PRE_RELEASE, Violation, find_needed, find_own_violations, find_release_violations


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a package, and by whom. ``pin`` is an exact commit; ``line`` the manifest's line."""

    package: str
    specifier: str
    by: str
    origin: Origin
    line: str = ""
    pin: Pin | None = None

    @property
    def says(self) -> str:
        if self.pin:
            return f"{self.by} pins {self.package} at {self.pin.asked}"
        return f"{self.by} needs {self.package}{self.specifier}"


@dataclass(frozen=True)
class Candidate:
    """A release of a package, or a commit that another pins. ``own`` is what the release says of itself."""

    package: str
    version: str
    release: Release | None
    pin: Pin | None
    own: TestedSet | None


@dataclass(slots=True)
class Read:
    """What was learnt on the way: why candidates are out, for the explanation."""

    passed: dict[tuple[str, str], PassedOver] = field(default_factory=dict[tuple[str, str], PassedOver])

    def has(self, package: str, release: Release) -> bool:
        return (package, release.tag) in self.passed

    def out(self, package: str, release: Release, violation: Violation) -> None:
        self.passed.setdefault((package, release.tag), PassedOver(package, release, violation))


class Provider(AbstractProvider[Wanted, Candidate, str]):
    """Candidates newest first; requirements from the manifest, the files of releases, and recipes."""

    def __init__(
        self, top: str, demands: Demands, catalog: Catalog, recipes: Mapping[str, Recipe], read: Read
    ) -> None:
        self.top, self.demands, self.catalog, self.recipes, self.read = top, demands, catalog, recipes, read
        self.kept: Mapping[str, str] = {}
        self.needed = frozenset(find_needed(demands, top, recipes))
        self._own: dict[tuple[str, str], TestedSet | None] = {}
        self._judged: dict[str, list[Candidate | None]] = {}
        self._made: dict[tuple[str, str], Candidate] = {}
        self._listed: dict[str, tuple[Release, ...]] = {}
        self._asked: dict[int, tuple[Wanted, ...]] = {}

    @cached_property
    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        return self.catalog.rocm_releases()

    def roots(self) -> list[Wanted]:
        manifest = Origin("manifest")
        return [
            Wanted(name, self._range(name), "the manifest", manifest, f"package:{name}")
            for name in sorted(self.needed)
        ]

    def _range(self, name: str) -> str:
        demand = self.demands.package(name)
        return demand.origin.specifier if demand and isinstance(demand.origin, Ranged) else ""

    def identify(self, requirement_or_candidate: Wanted | Candidate) -> str:
        return requirement_or_candidate.package

    def get_preference(self, identifier: str, *_: object, **__: object) -> tuple[int, str]:
        """The package on top first, so that it is the newest."""
        recipe = self.recipes.get(identifier)
        return (-(recipe.releases.rank if recipe else 0), identifier)

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Wanted]],
        incompatibilities: Mapping[str, Iterator[Candidate]],
    ) -> Callable[[], Iterator[Candidate]]:
        wanted = list(requirements[identifier])
        excluded = list(incompatibilities[identifier])

        def matches() -> Iterator[Candidate]:
            for each in self._candidates(identifier, wanted):
                if each not in excluded and all(self.is_satisfied_by(one, each) for one in wanted):
                    yield each

        return matches

    def _candidates(self, package: str, wanted: Sequence[Wanted]) -> Iterator[Candidate]:
        pins = [one.pin for one in wanted if one.pin]
        if pins:
            made = self.pinned(next(one for one in wanted if one.pin))
            if made is None:
                pin = pins[0]
                unknown = Release(
                    pin.repository,
                    pin.asked,
                    pin.asked,
                    None,
                    None,
                    None,
                    prerelease=False,
                    origin=pin.origin,
                )
                self.read.out(package, unknown, Violation("", "its full commit is not known"))
            else:
                yield made
            return
        for each in self._possible(package):
            refused = next((one for one in wanted if not _matches(one.specifier, each.version)), None)
            if refused is None:
                yield each
            elif each.release and not self.read.has(package, each.release):
                self.read.out(package, each.release, Violation(refused.line, refused.says))

    def _possible(self, package: str) -> Iterator[Candidate]:
        """The releases that only other packages can rule out, each judged once and when it is reached."""
        judged = self._judged.setdefault(package, [])
        releases = self.releases(package)
        for index, release in enumerate(releases):
            if index == len(judged):
                judged.append(self._judge(package, release))
            if (found := judged[index]) is not None:
                yield found

    def _judge(self, package: str, release: Release) -> Candidate | None:
        violation = next(self.violations(package, release), None)
        if violation:
            self.read.out(package, release, violation)
            return None
        return self.candidate(package, release)

    def pinned(self, wanted: Wanted) -> Candidate | None:
        """The candidate that a pin names; None where its commit is not known."""
        pin = self.catalog.expand(wanted.pin) if wanted.pin else None
        if pin is None or pin.commit is None:
            return None
        return Candidate(wanted.package, pin.version.value if pin.version else "", None, pin, None)

    def candidate(self, package: str, release: Release) -> Candidate:
        """A release as a candidate, made once."""
        key = (package, release.tag)
        if key not in self._made:
            self._made[key] = Candidate(
                package, release.version, release, None, self._facts(package, release)
            )
        return self._made[key]

    def releases(self, package: str) -> tuple[Release, ...]:
        """The releases of a package, the one that is kept first, else newest first."""
        if package not in self._listed:
            self._listed[package] = self._list(package)
        return self._listed[package]

    def _list(self, package: str) -> tuple[Release, ...]:
        demand = self.demands.package(package)
        chosen = demand.origin.repository if demand and isinstance(demand.origin, Ranged) else ""
        recipe = self.recipes[package]
        releases = self.catalog.releases(chosen or recipe.repositories[0])
        usable = [release for release in releases if release.version and release.commit]
        return tuple(sorted(usable, key=lambda release: release.commit != self.kept.get(package)))

    def violations(self, package: str, release: Release) -> Iterator[Violation]:
        """Everything about a release by itself that a line of the manifest rules out, or nobody can have."""
        newest = self.demands.strategy == "newest"
        for violation in find_release_violations(package, release, self.demands, self.recipes):
            if violation.says != PRE_RELEASE:
                yield violation
            elif not newest:
                yield replace(violation, line="")  # no range but one that names it lets it in
        own = self._facts(package, release)
        if own is None:
            return
        if self._is_unread(package, own):
            yield Violation("", "what it needs is not known")
        rocm, built = self.demands.rocm, self._rocms(package, release)
        if rocm and own.rocm and not any(rocm_in(each, rocm) for each in built):
            yield Violation("rocm", f"{package} is built for ROCm {', '.join(built)}")
        yield from find_own_violations(own, self.demands, self.recipes, self.rocm_releases)

    def _is_unread(self, package: str, own: TestedSet) -> bool:
        """Whether a release would be taken without what its files ask for."""
        recipe = self.recipes[package]
        if any(read.fact == "requires-run" for read in recipe.reads):
            return own.requires_run is None
        return bool(own.unread)

    def _rocms(self, package: str, release: Release) -> list[str]:
        sets = self.catalog.tested_sets(package, release)
        return [each.rocm.value for each in sets if each.rocm]

    def _facts(self, package: str, release: Release) -> TestedSet | None:
        """What a release says of itself. What a tested set pairs it with is of no interest."""
        key = (package, release.tag)
        if key not in self._own:
            recipe = self.recipes[package]
            sets = self.catalog.tested_sets(package, release) if recipe.releases.rank else ()
            own = sets[0] if sets else None
            if own and recipe.tested:
                own = _without_pins(own)
            self._own[key] = own
        return self._own[key]

    def is_satisfied_by(self, requirement: Wanted, candidate: Candidate) -> bool:
        if requirement.pin:
            expanded = self.catalog.expand(requirement.pin)
            return candidate.pin is not None and candidate.pin.commit == expanded.commit
        if not candidate.version:
            return not requirement.specifier
        return _matches(requirement.specifier, candidate.version)

    def get_dependencies(self, candidate: Candidate) -> Iterable[Wanted]:
        # Candidates of releases are made once: their identity is enough, and their facts are large to hash.
        if candidate.release is None:
            return tuple(self._needs(candidate))
        if id(candidate) not in self._asked:
            self._asked[id(candidate)] = tuple(self._needs(candidate))
        return self._asked[id(candidate)]

    def _needs(self, candidate: Candidate) -> Iterator[Wanted]:
        name = f"{candidate.package} {candidate.version}".strip()
        recipe = self.recipes[candidate.package]
        own = candidate.own
        if own:
            binding = {line.origin for line in (*(own.requires_run or ()), *(own.requires_build or ()))}
            for statement in own.statements:
                if statement.package in self.needed and statement.origin in binding:
                    yield Wanted(statement.package, _public(statement.specifier), name, statement.origin)
            for pin in own.pins:
                if pin.package in self.needed and pin.package in (*recipe.needs.run, *recipe.needs.build):
                    says = f"{name} pins {pin.package} at {pin.asked}"
                    yield Wanted(pin.package, "", name, pin.origin, pin=replace(pin, says=says))
        if recipe.pairs and recipe.pairs.package in self.needed:
            paired = recipe.pairs.versions.get(candidate.version)
            if paired:
                origin = Origin(f"recipe {recipe.name}: {recipe.pairs.source}")
                yield Wanted(recipe.pairs.package, paired, name, origin)

    def rocm(self, chosen: Mapping[str, Candidate]) -> Fact | None:
        """The newest ROCm release in the range that every member is built for."""
        if self.demands.rocm is None:
            return None
        lists = [
            self._rocms(each.package, each.release)
            for each in chosen.values()
            if each.release and each.own and each.own.rocm
        ]
        for release in self.rocm_releases:
            if rocm_in(release.version, self.demands.rocm) and all(
                any(_same_minor(release.version, each) for each in built) for built in lists
            ):
                return Fact(release.version, release.origin)
        return None


def _without_pins(own: TestedSet) -> TestedSet:
    return replace(own, rocm=None, python=None, gfx=(), gfx_origin=None, pins=(), unread=())


@cache
def _matches(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version, prereleases=True)


def _public(specifier: str) -> str:
    """``==2.12.0+rocm7.14.0`` names a binary; its sources are those of 2.12.0."""
    return ",".join(str(each).split("+", 1)[0] for each in SpecifierSet(specifier))


def _same_minor(first: str, second: str) -> bool:
    return Version(first).release[:2] == Version(second).release[:2]
