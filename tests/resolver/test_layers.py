"""Layers: a lock's wheels are kept exactly as long as what they were asked for is the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from attrs import evolve
from lock_samples import digest, full

from rocmlock.lockfile.model import Lock, Wheel, WheelFile
from rocmlock.lockfile.names import file_name
from rocmlock.resolver.layers import ENVIRONMENT, fill_layers, find_reusable, plan_layers
from rocmlock.resolver.python_layer import LayerRequest

LOCK = full()


def requests(lock: Lock, before: date | None = None) -> dict[str, LayerRequest]:
    return plan_layers(lock, lock.targets[0], before)


def with_package(name: str, change: Callable[..., object]) -> Lock:
    packages = tuple(change(package) if package.name == name else package for package in LOCK.packages)
    return evolve(LOCK, packages=packages)


def with_python(**changes: object) -> Lock:
    (target,) = LOCK.targets
    return evolve(LOCK, targets=(evolve(target, python=evolve(target.python, **changes)),))


def test_there_is_a_layer_for_the_environment_and_one_for_each_build() -> None:
    asked = requests(LOCK)
    assert set(asked) == {ENVIRONMENT, "triton", "msgspec"}
    assert asked[ENVIRONMENT].requirements == ("triton", "msgspec", "numpy")
    # msgspec's build needs triton: by its distribution's name, held out like all that is built here.
    assert asked["msgspec"].requirements == ("triton",)
    assert asked["triton"].requirements == ("cmake>=3.20,<4.0",)
    for request in asked.values():
        assert [(held.distribution, held.version) for held in request.held] == [
            ("triton", "3.6.0"),
            ("msgspec", "0.23.0"),
        ]


def test_the_same_requests_take_the_wheels_that_are_locked() -> None:
    found = find_reusable(LOCK, requests(LOCK))
    assert {name: [wheel.id for wheel in wheels] for name, wheels in found.items()} == {
        ENVIRONMENT: ["numpy==2.3.5"],
        "triton": ["cmake==3.31.6"],
        "msgspec": [],
    }


def test_a_date_bounds_what_is_new_alone() -> None:
    assert find_reusable(LOCK, requests(LOCK, date(2026, 1, 1))).keys() == requests(LOCK).keys()


def test_without_a_lock_there_is_nothing_to_keep() -> None:
    assert find_reusable(None, requests(LOCK)) == {}


@pytest.mark.parametrize(
    ("new", "kept"),
    [
        (with_python(requires=("numpy", "ray")), {"triton", "msgspec"}),
        (with_python(version="3.13"), set()),
        (with_python(platform="manylinux_2_28_x86_64"), set()),
        # What one package needs at run time shapes every layer that it stands in for.
        (with_package("msgspec", lambda p: evolve(p, run=evolve(p.run, python=("numpy>=3",)))), set()),
        (with_package("msgspec", lambda p: evolve(p, version="0.24.0")), set()),
        (
            with_package("triton", lambda p: evolve(p, build=evolve(p.build, python=("cmake<4",)))),
            {ENVIRONMENT, "msgspec"},
        ),
        (
            with_package("msgspec", lambda p: evolve(p, build=evolve(p.build, packages=()))),
            {ENVIRONMENT, "triton"},
        ),
        # Steps, variables and sources are no input of a layer.
        (
            with_package("triton", lambda p: evolve(p, environment={}, steps=())),
            {ENVIRONMENT, "triton", "msgspec"},
        ),
    ],
    ids=["requires", "python", "platform", "run", "version", "build", "needs", "steps"],
)
def test_a_layer_is_kept_iff_its_inputs_are_equal(new: Lock, kept: set[str]) -> None:
    assert set(find_reusable(LOCK, requests(new))) == kept
    assert set(find_reusable(new, requests(LOCK))) == kept


def test_wheels_of_several_layers_stand_in_the_lock_once() -> None:
    def wheel(name: str) -> Wheel:
        return Wheel(
            name, "1", (WheelFile(file_name(f"{name}-1-py3-none-any.whl"), digest("1"), ("default",)),)
        )

    layers = {ENVIRONMENT: (wheel("a"), wheel("b")), "triton": (wheel("b"),), "msgspec": ()}
    filled = fill_layers(LOCK, LOCK.targets[0], layers)
    assert sorted(found.id for found in filled.wheels) == ["a==1", "b==1"]
    assert filled.targets[0].python.wheels == ("a==1", "b==1")
    assert {package.name: package.build.wheels for package in filled.packages} == {
        "triton": ("b==1",),
        "msgspec": (),
    }
    assert find_reusable(filled, requests(filled)) == layers
