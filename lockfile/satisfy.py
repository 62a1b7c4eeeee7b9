"""Does a lock satisfy the demands of a manifest? Offline, by satisfiability, not by a hash of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from .demands import Demands, FromPath, FromSdist, PackageDemand, Ranged
from .model import GitSource, Lock, Package, PathSource, SdistSource, Target
from .targets import lock_of


def find_unmet(lock: Lock, demands: Sequence[Demands]) -> list[str]:
    """A sentence for each demand that the lock does not meet; empty when it satisfies all.

    ``demands`` are those of each target. What concerns not all of them has the targets' names before it.
    """
    said: dict[str, list[str]] = {}
    for each in demands:
        for sentence in _find_unmet(lock, each):
            said.setdefault(sentence, []).append(each.target)
    unmet = [
        sentence if len(targets) == len(demands) else f"{', '.join(targets)}: {sentence}"
        for sentence, targets in said.items()
    ]
    asked = {each.target for each in demands}
    missing = [f"the lock has no target {each.target!r}" for each in demands if not lock.target(each.target)]
    spare = [
        f"nothing asks for target {target.name!r} any more"
        for target in lock.targets
        if target.name not in asked
    ]
    return [*missing, *spare, *unmet]


def _find_unmet(lock: Lock, demands: Demands) -> Iterator[str]:
    target = lock.target(demands.target)
    if target is not None:
        part = lock_of(lock, demands.target)
        yield from (*_target(target, demands), *_packages(part, demands), *_requires(target, demands))


def version_in(version: str, specifier: str) -> bool:
    """Whether ``version`` is in a PEP 440 set; a pre-release counts only where the set names one."""
    if not version:
        return not specifier
    allowed = SpecifierSet(specifier)
    if Version(version).is_prerelease and not allowed.prereleases:
        return False
    return allowed.contains(version, prereleases=True)


def _rocm_in(version: str, specifier: str) -> bool:
    from ..versions.rocm import rocm_in

    try:
        return rocm_in(version, specifier)
    except ValueError:
        return False  # a hand-edited lock


def _target(target: Target, demands: Demands) -> Iterator[str]:
    if target.gfx != demands.gfx:
        yield f"gfx is {', '.join(target.gfx)} in the lock, {', '.join(demands.gfx)} in the manifest"
    if target.python.version != demands.python:
        yield f"python is {target.python.version} in the lock, {demands.python} in the manifest"
    for word, locked, wanted in (
        ("host", target.toolchain.host, demands.host),
        ("device", target.toolchain.device, demands.device),
    ):
        if locked != wanted:
            yield (
                f"the {word} compiler is {locked.kind} {locked.version} in the lock, "
                f"{wanted.kind} {wanted.version} in the manifest"
            )
    if (target.rocm is None) != (demands.rocm is None):
        yield "one of lock and manifest uses ROCm, the other does not"
    elif target.rocm and demands.rocm and not _rocm_in(target.rocm.version, demands.rocm):
        yield f'ROCm is {target.rocm.version} in the lock, the manifest wants "{demands.rocm}"'


def _packages(lock: Lock, demands: Demands) -> Iterator[str]:
    if lock.name != demands.name:
        yield f"the lock's name is {lock.name!r}, the manifest's {demands.name!r}"
    if lock.flags != demands.flags:
        yield "the flags of lock and manifest differ"
    for demand in demands.packages:
        package = lock.package(demand.name, demands.target)
        if package is None:
            yield f"{demand.name} is not in the lock"
        else:
            yield from _package(package, demand)
    for forbidden in demands.forbidden:
        package = lock.package(forbidden.package, demands.target)
        if package and package.version and version_in(package.version, forbidden.specifier):
            yield f"{package.name} {package.version} is forbidden: {forbidden.reason}"
    yield from _superfluous(lock, demands)


def _superfluous(lock: Lock, demands: Demands) -> Iterator[str]:
    """Packages that nobody asked for: a line was taken out of the manifest."""
    wanted = {demand.name for demand in demands.packages}
    while True:
        needed = {
            name
            for package in lock.packages
            if package.name in wanted
            for name in (*package.build.packages, *package.run.packages)
        }
        if needed <= wanted:
            break
        wanted |= needed
    for package in lock.packages:
        if package.name not in wanted:
            yield f"{package.name} is in the lock, but nothing asks for it any more"


def _repository(package: Package, origin: Ranged) -> Iterator[str]:
    if not origin.repository:
        return
    from .urls import repository_of

    url = package.source.url if isinstance(package.source, GitSource) else ""
    if origin.repository != repository_of(url):
        yield f"{package.name} is from {url}, the manifest wants {origin.repository}"


def _package(package: Package, demand: PackageDemand) -> Iterator[str]:
    origin, source = demand.origin, package.source
    if isinstance(origin, Ranged):
        if not version_in(package.version, origin.specifier):
            version = package.version or "of unknown version"
            yield f'{package.name} is {version}, the manifest wants "{origin.specifier}"'
        yield from _repository(package, origin)
    elif isinstance(origin, FromSdist):
        if not isinstance(source, SdistSource):
            yield f"{package.name} is not built from its source distribution in the lock"
        elif not version_in(package.version, origin.specifier):
            yield f'{package.name} is {package.version}, the manifest wants "{origin.specifier}"'
    elif isinstance(origin, FromPath):
        if not isinstance(source, PathSource):
            yield f"{package.name} is not a local folder in the lock"
    elif not (
        isinstance(source, GitSource)
        and source.url == origin.url
        and (
            origin.rev in (source.commit, source.tag)
            or any(reason.says == origin.says(package.name) for reason in package.reasons)
        )
    ):
        yield f"{package.name} is not {origin.rev} of {origin.url} in the lock"
    for name, value in sorted(demand.environment.items()):
        if package.environment.get(name) != value:
            yield f"{package.name} is not built with {name}={value} in the lock"
    if demand.gpu and any(check.match != demand.gpu for check in package.checks):
        yield f"{package.name}: its gpu check is not {demand.gpu!r} in the lock"


def _requires(target: Target, demands: Demands) -> Iterator[str]:
    if set(target.python.requires) != set(demands.requires):
        yield "[python] requires has changed"
    elif demands.requires:
        from packaging.requirements import Requirement
        from packaging.utils import canonicalize_name

        locked = dict(wheel.split("==", 1) for wheel in target.python.wheels)
        for text in demands.requires:
            requirement = Requirement(text)
            version = locked.get(canonicalize_name(requirement.name))
            if version is None or not requirement.specifier.contains(version, prereleases=True):
                yield f"{text} is not met by the lock's wheels"
