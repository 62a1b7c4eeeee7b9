"""What of the lock that is there stays: everything, apart from what ``rocmlock update`` is to move. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ..lockfile.demands import FromGit
from ..lockfile.model import GitSource, Lock, Package, Rocm, SdistSource, Wheel
from ..lockfile.targets import lock_of
from .layers import layer_wheels


@dataclass(frozen=True, slots=True)
class Kept:
    """``old`` is None where there is no lock. ``moving`` are the names of packages and wheels that are chosen
    anew; None means all. ``accepted`` are packages whose tags may have moved."""

    old: Lock | None = None
    moving: frozenset[str] | None = frozenset()
    accepted: frozenset[str] = frozenset()

    def moves(self, name: str) -> bool:
        return self.moving is None or name in self.moving

    def top_source(self, top: str, target: str) -> GitSource | None:
        """Where the set of ``top`` stands in the old lock: the target's own, or the only one of others (the
        target is new then). A tested set moves as a whole: with any of its members, the top moves."""
        sources = {
            name: package.source
            for package in self._packages()
            if package.name == top and isinstance(package.source, GitSource)
            for name in package.targets
        }
        if any(self.moves(package.name) for package in self._packages() if is_of_set(package)):
            return None
        if target in sources or len(set(sources.values())) != 1:
            return sources.get(target)
        return next(iter(sources.values()))

    def commits(self, target: str) -> dict[str, str]:
        """The commits of the packages that stay, by name: what a search of releases prefers."""
        return {
            package.name: package.source.commit
            for package in self._packages()
            if isinstance(package.source, GitSource)
            and target in package.targets
            and not self.moves(package.name)
        }

    def rocm(self, target: str) -> Rocm | None:
        """The ROCm of a target; an update of everything chooses it anew."""
        found = self.old.target(target) if self.old and self.moving is not None else None
        return found.rocm if found else None

    def sdist(self, name: str) -> Package | None:
        """The locked package of a source distribution that stays."""
        if self.moves(name):
            return None
        return next(
            (
                package
                for package in self._packages()
                if package.name == name and isinstance(package.source, SdistSource)
            ),
            None,
        )

    def git(self, name: str, origin: FromGit) -> Package | None:
        """The locked package of a git source of the user's own that stays, where it is still asked for.

        A branch stays at the commit that it named when it was locked; a moved tag that was accepted does not.
        """
        if self.moves(name) or name in self.accepted:
            return None
        return next(
            (
                package
                for package in self._packages()
                if package.name == name
                and isinstance(package.source, GitSource)
                and any(reason.says == origin.says(name) for reason in package.reasons)
            ),
            None,
        )

    def preferred(self, layer: str, target: str) -> tuple[Wheel, ...]:
        """The wheels of a layer that stay if they can when the layer has to be locked anew."""
        if self.old is None or target not in {each.name for each in self.old.targets}:
            return ()
        part = lock_of(self.old, target)
        return tuple(
            wheel for wheel in layer_wheels(part, part.targets[0], layer) if not self.moves(wheel.name)
        )

    def _packages(self) -> Iterable[Package]:
        return self.old.packages if self.old else ()


def is_of_set(package: Package) -> bool:
    """Whether a package's commit was given by a tested set, and not by the manifest itself."""
    return isinstance(package.source, GitSource) and not any(
        reason.at == "manifest" for reason in package.reasons
    )


def moves_together(lock: Lock, names: Collection[str]) -> Iterator[str]:
    """A sentence where ``names`` has members of a tested set but not all of them: the others move, too."""
    members = sorted({package.name for package in lock.packages if is_of_set(package)})
    named = [name for name in members if name in names]
    others = [name for name in members if name not in names]
    if named and others:
        yield f"One tested set gives {' and '.join(named)} with {', '.join(others)}: they move together."
