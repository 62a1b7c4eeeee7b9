"""Requirement lines of a lock against the wheels that it holds. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from .model import Lock, Target


def marker_environment(target: Target) -> dict[str, str]:
    """What PEP 508 markers see on ``target``. Its patch release of Python is not known: 0 stands for it."""
    full = f"{target.python.version}.0"
    return {
        "extra": "",
        "implementation_name": target.python.implementation,
        "implementation_version": full,
        "os_name": "posix",
        "platform_machine": machine_of(target),
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": full,
        "python_version": target.python.version,
        "sys_platform": "linux",
    }


def machine_of(target: Target) -> str:
    """``x86_64`` of ``manylinux_2_34_x86_64`` (PEP 600)."""
    return target.python.platform.split("_", 3)[-1]


def applying(lines: Iterable[str], target: Target) -> Iterator[Requirement]:
    """Those of ``lines`` that count on ``target``; what is no PEP 508 line is passed over."""
    environment = marker_environment(target)
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate(environment):
            yield requirement


def find_unmet_lines(lock: Lock) -> set[tuple[str, str]]:
    """(who, line) of each requirement line that a lock of one target does not meet: no wheel and no package
    of that name, or at a version out of range. ``who`` is a package, or empty for the manifest's own."""
    (target,) = lock.targets
    built = {canonicalize_name(package.distribution): package.version for package in lock.packages}
    run = {**built, **_versions(target.python.wheels)}
    unmet = {("", str(each)) for each in applying(target.python.requires, target) if not _met(each, run)}
    for package in lock.packages:
        build = {**built, **_versions(package.build.wheels)}
        for lines, held in ((package.run.python, run), (package.build.python, build)):
            unmet |= {(package.name, str(each)) for each in applying(lines, target) if not _met(each, held)}
    return unmet


def _versions(ids: Iterable[str]) -> dict[str, str]:
    return {canonicalize_name(name): version for name, _, version in (each.partition("==") for each in ids)}


def _met(requirement: Requirement, held: dict[str, str]) -> bool:
    version = held.get(canonicalize_name(requirement.name))
    if version is None:
        return False
    try:
        return not version or requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True
