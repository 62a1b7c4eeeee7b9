"""What must hold between the parts of a lock: every name that is used is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from .model import Lock, Package, PathSource

Faults = list[tuple[tuple[str | int, ...], str]]


def find_inconsistencies(lock: Lock) -> Faults:
    """Faults as (path into the document, sentence); empty for a whole lock."""
    if not lock.targets:
        return [((), "there is no [[target]]")]
    return [*_duplicates(lock), *_dangling(lock), *_unsafe(lock)]


def _duplicates(lock: Lock) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for key, ids in (
        ("target", [target.name for target in lock.targets]),
        ("package", [package.name for package in lock.packages]),
        ("wheel", [wheel.id for wheel in lock.wheels]),
    ):
        seen: set[str] = set()
        for index, item in enumerate(ids):
            if item in seen:
                yield (key, index), f"{item} stands here a second time"
            seen.add(item)


def _dangling(lock: Lock) -> Iterator[tuple[tuple[str | int, ...], str]]:
    targets = {target.name for target in lock.targets}
    packages = {package.name for package in lock.packages}
    wheels = {wheel.id for wheel in lock.wheels}
    for index, target in enumerate(lock.targets):
        for wheel in target.python.wheels:
            if wheel not in wheels:
                yield ("target", index, "python", "wheels"), f"{wheel} has no [[wheel]]"
    for index, package in enumerate(lock.packages):
        for field, requires in (("build", package.build), ("run", package.run)):
            for wheel in requires.wheels:
                if wheel not in wheels:
                    yield ("package", index, "requires", field, "wheels"), f"{wheel} has no [[wheel]]"
            for name in requires.packages:
                if name not in packages:
                    yield ("package", index, "requires", field, "packages"), f"{name} has no [[package]]"
        for name in package.targets:
            if name not in targets:
                yield ("package", index, "targets"), f"{name} has no [[target]]"
    cycle = _find_cycle({package.name: package for package in lock.packages})
    if cycle:
        yield ("package",), f"packages build each other in a circle: {' -> '.join(cycle)}"


def _find_cycle(packages: dict[str, Package]) -> list[str]:
    done: set[str] = set()
    for start in sorted(packages):
        trail: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = [(start, iter(packages[start].build.packages))]
        trail.append(start)
        while stack:
            _, needs = stack[-1]
            need = next((name for name in needs if name in packages and name not in done), None)
            if need is None:
                done.add(stack.pop()[0])
                trail.pop()
            elif need in trail:
                return [*trail[trail.index(need) :], need]
            else:
                trail.append(need)
                stack.append((need, iter(packages[need].build.packages)))
    return []


def _unsafe(lock: Lock) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for index, package in enumerate(lock.packages):
        if isinstance(package.source, PathSource) and PurePosixPath(package.source.path).is_absolute():
            yield ("package", index, "source", "path"), "a local source must be relative to the lock"
        if not package.steps:
            yield ("package", index), f"{package.name} has no build steps"
