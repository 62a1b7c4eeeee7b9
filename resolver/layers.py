"""Which Python layers a lock has, and how their wheels are put into it. Pure.

A lock has one layer for each target's environment and one for the build of each package. A layer's request
can be made from the lock alone, so that an old lock tells whether its wheels are still the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from attrs import evolve

from ..lockfile.model import Lock, Package, Target, Wheel
from .python_layer import LayerRequest
from .stubs import HeldOut

ENVIRONMENT = "the environment"


def plan_layers(lock: Lock, target: Target, before: date | None = None) -> dict[str, LayerRequest]:
    """The requests of a target by name: ENVIRONMENT and the name of each package."""
    held = tuple(
        HeldOut(package.distribution, package.version, package.run.python) for package in lock.packages
    )

    def request(name: str, roots: tuple[str, ...], lines: tuple[str, ...]) -> LayerRequest:
        python = target.python
        return LayerRequest(
            name, (*roots, *lines), held, python.version, python.platform, target.name, before
        )

    distributions = {package.name: package.distribution for package in lock.packages}
    requests = {
        ENVIRONMENT: request(ENVIRONMENT, tuple(distributions.values()), target.python.requires),
    }
    for package in lock.packages:
        roots = tuple(distributions[name] for name in package.build.packages)
        requests[package.name] = request(f"the build of {package.name}", roots, package.build.python)
    return requests


def find_reusable(lock: Lock | None, requests: Mapping[str, LayerRequest]) -> dict[str, tuple[Wheel, ...]]:
    """The layers of an older lock that answer the same requests."""
    if lock is None:
        return {}
    found: dict[str, tuple[Wheel, ...]] = {}
    for target in lock.targets:
        old = plan_layers(lock, target)
        for name, request in requests.items():
            if old.get(name) == _undated(request):
                found[name] = tuple(
                    wheel
                    for wheel_id in _wheel_ids(lock, target, name)
                    if (wheel := lock.wheel(wheel_id)) is not None
                )
    return found


def _undated(request: LayerRequest) -> LayerRequest:
    """The request as a lock tells it: a date bounds what is new, not what is already locked."""
    return LayerRequest(
        request.name, request.requirements, request.held, request.python, request.platform, request.target
    )


def _wheel_ids(lock: Lock, target: Target, name: str) -> tuple[str, ...]:
    if name == ENVIRONMENT:
        return target.python.wheels
    package = lock.package(name)
    return package.build.wheels if package else ()


def fill_layers(lock: Lock, target: Target, layers: Mapping[str, tuple[Wheel, ...]]) -> Lock:
    """The lock with the wheels of its layers, each wheel once."""
    wheels: dict[str, Wheel] = {}
    for layer in layers.values():
        for wheel in layer:
            wheels[wheel.id] = wheel
    ids = {name: tuple(wheel.id for wheel in layer) for name, layer in layers.items()}

    def filled(package: Package) -> Package:
        return evolve(package, build=evolve(package.build, wheels=ids[package.name]))

    python = evolve(target.python, wheels=ids[ENVIRONMENT])
    return evolve(
        lock,
        targets=(evolve(target, python=python),),
        packages=tuple(filled(package) for package in lock.packages),
        wheels=tuple(wheels.values()),
    )
