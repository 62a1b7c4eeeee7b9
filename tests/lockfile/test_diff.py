"""What differs between two locks: every field is told, and nothing else."""

from __future__ import annotations

from typing import Any

import lock_samples
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.lockfile.diff import Change, compare_link, diff_locks
from rocmlock.lockfile.model import Lock, Reason, Warning  # noqa: A004 -- the lock's own word for it
from rocmlock.lockfile.names import commit

FULL = lock_samples.full()


def changed(lock: Lock, index: int, **fields: Any) -> Lock:
    """The lock with one package changed."""
    packages = list(lock.packages)
    packages[index] = evolve(packages[index], **fields)
    return evolve(lock, packages=tuple(packages))


def test_a_lock_does_not_differ_from_itself() -> None:
    assert diff_locks(FULL, FULL, reasons=True) == ()


def test_order_is_no_difference() -> None:
    turned = evolve(FULL, packages=FULL.packages[::-1], wheels=FULL.wheels[::-1], targets=FULL.targets[::-1])
    assert diff_locks(FULL, turned, reasons=True) == ()


@given(st.integers(0, len(FULL.packages) - 1), st.data())
def test_each_field_of_a_package_is_told_alone(index: int, data: st.DataObject) -> None:
    package = FULL.packages[index]
    field, value, path = data.draw(
        st.sampled_from(
            [
                ("version", "99.0", "version"),
                ("distribution", "other", "distribution"),
                ("memory_per_job", 77, "memory-per-job"),
                ("environment", {**package.environment, "NEW": "1"}, "environment.NEW"),
                ("gfx", (*package.gfx, "gfx950"), "gfx"),
                ("picks", (*package.picks, commit("9" * 40)), "picks"),
                ("steps", (*package.steps, ("make",)), "steps"),
                ("run", evolve(package.run, python=("zzz",)), "requires.run.python"),
            ]
        )
    )
    (change,) = diff_locks(FULL, changed(FULL, index, **{field: value}))
    assert (change.kind, change.name, change.field) == ("package", package.name, path)
    assert change.before != change.after


def test_packages_and_wheels_come_and_go() -> None:
    fewer = evolve(FULL, packages=FULL.packages[1:], wheels=FULL.wheels[1:])
    gone = diff_locks(FULL, fewer)
    assert {(change.kind, change.name, change.field, change.after) for change in gone} == {
        ("package", FULL.packages[0].name, "", None),
        ("wheel", FULL.wheels[0].name, "", None),
    }
    assert {change.before for change in diff_locks(fewer, FULL)} == {None}


def test_reasons_and_warnings_are_told_when_asked_for() -> None:
    other = changed(FULL, 0, reasons=(Reason("elsewhere", "so it is"),))
    other = evolve(other, warnings=(*FULL.warnings, Warning("new", ("here",))))
    assert diff_locks(FULL, other) == ()
    assert {change.kind for change in diff_locks(FULL, other, reasons=True)} == {"package", "lock"}


def test_a_wheel_at_another_version_is_one_line() -> None:
    wheel = FULL.wheels[0]
    other = evolve(FULL, wheels=(evolve(wheel, version="99"), *FULL.wheels[1:]))
    assert Change("wheel", wheel.name, "version", wheel.version, "99") in diff_locks(FULL, other)


def test_a_link_is_given_for_one_repository_alone() -> None:
    url = "https://github.com/ROCm/triton"
    assert compare_link(url, f"{url}.git", "a", "b") == f"{url}/compare/a...b"
    assert compare_link(url, "https://github.com/triton-lang/triton", "a", "b") is None
    assert compare_link("https://example.org/x", "https://example.org/x", "a", "b") is None
