"""Wheels of a lock that are not the newest, and the requirement lines that hold them back. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from ..lockfile.demands import Demands
from ..lockfile.model import Lock, Package
from ..lockfile.targets import lock_of
from .layers import ENVIRONMENT
from .outdated import Available, Outdated, is_newer, join_rows, newest_of

OTHER_WHEELS = "a requirement of other wheels"

Layers = Mapping[tuple[str, str], Mapping[str, str]]
"""(target, layer) -> wheel -> version."""


def find_outdated_wheels(
    lock: Lock,
    updated: Lock,
    demands: Sequence[Demands],
    offered: Mapping[str, Mapping[str, Sequence[Available]]],
) -> tuple[Outdated, ...]:
    """Wheels by name. ``updated`` is the lock that an update would write; ``offered`` is what the index has
    that a target can take, by target and wheel."""
    before, after = wheel_versions(lock), wheel_versions(updated)
    asked = {each.target: each for each in demands}
    found: list[Outdated] = []
    for (target, layer), versions in before.items():
        if target not in asked:
            continue
        part = lock_of(updated, target)  # the lines of the manifest as it is now
        for name, version in versions.items():
            newest = newest_of(offered.get(target, {}).get(name, ()), version)
            if newest is None or not is_newer(newest.version, version):
                continue
            update = after.get((target, layer), {}).get(name, "")
            held: tuple[str, ...] = ()
            if update and is_newer(newest.version, update):
                held = tuple(_held_by(name, newest, part, layer, asked[target]))
            found.append(Outdated("wheel", name, version, update or "none", newest.version, held, (layer,)))
    return join_rows(found)


def wheel_versions(lock: Lock) -> Layers:
    """The versions of every layer's wheels."""
    layers: dict[tuple[str, str], dict[str, str]] = {}
    for target in lock.targets:
        layers[target.name, ENVIRONMENT] = _versions(target.python.wheels)
        for package in lock_of(lock, target.name).packages:
            layers[target.name, f"the build of {package.name}"] = _versions(package.build.wheels)
    return layers


def _versions(ids: tuple[str, ...]) -> dict[str, str]:
    return dict(each.split("==", 1) for each in ids)


def _held_by(name: str, newest: Available, part: Lock, layer: str, demands: Demands) -> Iterator[str]:
    """Requirement lines of the layer that leave the newest out, each with whose it is."""
    before = demands.released_before
    if before and (newest.uploaded is None or newest.uploaded >= before):
        yield f"the manifest says released-before = {before}"
        return
    found = [
        f"{whose} needs {line}"
        for whose, line in _lines(part, layer)
        if _leaves_out(line, name, newest.version, demands.python)
    ]
    yield from dict.fromkeys(found) or (OTHER_WHEELS,)


def _lines(part: Lock, layer: str) -> Iterator[tuple[str, str]]:
    """(whose, requirement line) of everything that a layer has to meet."""
    packages: list[Package] = list(part.packages)
    if layer == ENVIRONMENT:
        for line in part.targets[0].python.requires:
            yield "the manifest", line
    else:
        own = next(each for each in packages if layer == f"the build of {each.name}")
        for line in own.build.python:
            yield f"the build of {own.name}", line
        packages = [each for each in packages if each.name in own.build.packages]
    for package in packages:
        for line in package.run.python:
            yield package.name, line


def _leaves_out(line: str, name: str, version: str, python: str) -> bool:
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return False
    if canonicalize_name(requirement.name) != name:
        return False
    environment = {"python_version": python, "python_full_version": f"{python}.0"}
    if requirement.marker and not requirement.marker.evaluate(environment):
        return False
    return not requirement.specifier.contains(version, prereleases=True)
