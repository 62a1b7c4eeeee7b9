"""Which Python layers a lock has, and how their wheels are put into it. Pure.

A lock has one layer for each target's environment and one for the build of each package. A layer's request
can be made from the lock alone, so that an old lock tells whether its wheels are still the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date

from attrs import evolve

from ..lockfile.model import Lock, Package, Target, Wheel
from ..lockfile.targets import lock_of
from .python_layer import LayerRequest
from .stubs import HeldOut

ENVIRONMENT = "the environment"


def plan_layers(lock: Lock, target: Target, before: date | None = None) -> dict[str, LayerRequest]:
    """The requests of the only target of a lock by name: ENVIRONMENT and the name of each package."""
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


def find_reusable(
    lock: Lock | None, requests: Mapping[str, LayerRequest], moves: Callable[[str], bool] = lambda _: False
) -> dict[str, tuple[Wheel, ...]]:
    """The layers of an older lock that answer the same requests, whichever target they were asked for.

    The requests are those of one target; its own layers come before those of others. A layer with a wheel
    that ``moves`` is no answer.
    """
    found: dict[str, tuple[Wheel, ...]] = {}
    if lock is None:
        return found
    asking = {request.target for request in requests.values()}
    for target in sorted(lock.targets, key=lambda target: (target.name not in asking, target.name)):
        part = lock_of(lock, target.name)
        old = {name: without_target(request) for name, request in plan_layers(part, target).items()}
        for name, request in requests.items():
            if name not in found and old.get(name) == replace(without_target(request), released_before=None):
                # A date bounds what is new, not what is already locked.
                wheels = layer_wheels(part, target, name)
                if not any(moves(wheel.name) for wheel in wheels):
                    found[name] = relabel(wheels, request.target)
    return found


def without_target(request: LayerRequest) -> LayerRequest:
    """The request as it is for any target: which wheels answer it depends on no other part of one."""
    return replace(request, target="")


def relabel(wheels: tuple[Wheel, ...], target: str) -> tuple[Wheel, ...]:
    """The wheels of a layer as another target has them."""
    return tuple(
        evolve(wheel, files=tuple(evolve(file, targets=(target,)) for file in wheel.files))
        for wheel in wheels
    )


def layer_wheels(lock: Lock, target: Target, layer: str) -> tuple[Wheel, ...]:
    """The wheels of a layer in the lock of one target; none where the lock has no such layer."""
    package = lock.package(layer, target.name)
    build = package.build.wheels if package else ()
    wheels = {wheel.id: wheel for wheel in lock.wheels}
    return tuple(wheels[name] for name in (target.python.wheels if layer == ENVIRONMENT else build))


def fill_layers(lock: Lock, target: Target, layers: Mapping[str, tuple[Wheel, ...]]) -> Lock:
    """The lock of one target with the wheels of its layers, each wheel once."""
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
