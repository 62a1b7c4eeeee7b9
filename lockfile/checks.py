"""What must hold between the parts of a lock: every name that is used is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from .model import Lock, Package, PathSource
from .targets import lock_of

Path = tuple[str | int, ...]
Faults = list[tuple[Path, str]]


def find_inconsistencies(lock: Lock) -> Faults:
    """Faults as (path into the document, sentence); empty for a whole lock."""
    if not lock.targets:
        return [((), "there is no [[target]]")]
    return [*_duplicates(lock), *_dangling(lock), *_circles(lock), *_unsafe(lock)]


def _duplicates(lock: Lock) -> Iterator[tuple[Path, str]]:
    """Names that are taken: by a target, by a package or a file on one target, by a wheel."""
    taken: set[tuple[str, ...]] = set()

    def again(*name: str) -> bool:
        found = name in taken
        taken.add(name)
        return found

    for index, target in enumerate(lock.targets):
        if again("target", target.name):
            yield ("target", index), f"{target.name} stands here a second time"
    several = len(lock.targets) > 1
    for index, package in enumerate(lock.packages):
        for name in package.targets:
            if again("package", package.name, name):
                on = f" for {name}" if several else ""
                yield ("package", index), f"{package.name} stands here a second time{on}"
    for index, wheel in enumerate(lock.wheels):
        if again("wheel", wheel.id):
            yield ("wheel", index), f"{wheel.id} stands here a second time"
        for position, file in enumerate(wheel.files):
            for name in file.targets:
                if again("file", wheel.id, name):
                    words = f"{wheel.id} has a second file for {name}"
                    yield ("wheel", index, "file", position, "targets"), words


def _dangling(lock: Lock) -> Iterator[tuple[Path, str]]:
    """Names of targets, packages and wheels that are used and not there on the targets that use them."""
    targets = {target.name for target in lock.targets}
    packages = {(package.name, target) for package in lock.packages for target in package.targets}
    wheels = {(wheel.id, target) for wheel in lock.wheels for file in wheel.files for target in file.targets}
    several = len(targets) > 1

    def lacks(path: Path, names: tuple[str, ...], have: set[tuple[str, str]], on: tuple[str, ...]) -> Faults:
        kind = "package" if have is packages else "wheel"
        return [
            (path, f"{name} has no [[{kind}]]{f' for {target}' if several else ''}")
            for name in names
            for target in on
            if (name, target) not in have
        ]

    for index, target in enumerate(lock.targets):
        yield from lacks(("target", index, "python", "wheels"), target.python.wheels, wheels, (target.name,))
    for index, package in enumerate(lock.packages):
        for field, requires in (("build", package.build), ("run", package.run)):
            path = ("package", index, "requires", field)
            yield from lacks((*path, "wheels"), requires.wheels, wheels, package.targets)
            yield from lacks((*path, "packages"), requires.packages, packages, package.targets)
        for name in package.targets:
            if name not in targets:
                yield ("package", index, "targets"), f"{name} has no [[target]]"
    for index, wheel in enumerate(lock.wheels):
        for position, file in enumerate(wheel.files):
            for name in file.targets:
                if name not in targets:
                    yield ("wheel", index, "file", position, "targets"), f"{name} has no [[target]]"


def _circles(lock: Lock) -> Iterator[tuple[Path, str]]:
    for target in lock.targets:
        cycle = _find_cycle({package.name: package for package in lock_of(lock, target.name).packages})
        if cycle:
            yield ("package",), f"packages build each other in a circle: {' -> '.join(cycle)}"
            return


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


def _unsafe(lock: Lock) -> Iterator[tuple[Path, str]]:
    for index, package in enumerate(lock.packages):
        if isinstance(package.source, PathSource) and PurePosixPath(package.source.path).is_absolute():
            yield ("package", index, "source", "path"), "a local source must be relative to the lock"
        if not package.steps:
            yield ("package", index), f"{package.name} has no build steps"
