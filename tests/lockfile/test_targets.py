"""Locks of several targets: what is equal stands once, what differs beside it, each target whole."""

from __future__ import annotations

import lock_samples
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from lock_samples import digest

from rocmlock.errors import RocmlockError
from rocmlock.lockfile.codec import parse_lock, render_lock
from rocmlock.lockfile.demands import Demands, PackageDemand, Ranged
from rocmlock.lockfile.model import Lock, WheelFile
from rocmlock.lockfile.names import file_name
from rocmlock.lockfile.satisfy import find_unmet
from rocmlock.lockfile.targets import join_locks, lock_of, pick_target


def as_target(name: str, gfx: tuple[str, ...] = ("gfx90a", "gfx942"), numpy: str = "8") -> Lock:
    """The full sample as a lock of one target; ``numpy`` is the digit of that wheel's digest."""
    full = lock_samples.full()
    (target,) = full.targets
    return evolve(
        full,
        targets=(evolve(target, name=name, gfx=gfx),),
        packages=tuple(evolve(each, targets=(name,), gfx=gfx) for each in full.packages),
        wheels=tuple(
            evolve(
                wheel,
                files=tuple(
                    evolve(
                        file, targets=(name,), digest=digest(numpy) if wheel.name == "numpy" else file.digest
                    )
                    for file in wheel.files
                ),
            )
            for wheel in full.wheels
        ),
    )


def canonical(lock: Lock) -> str:
    return render_lock(lock)


A, B, C = as_target("a"), as_target("b"), as_target("c", gfx=("gfx1100",), numpy="7")
ALL = join_locks([A, B, C])


def test_what_is_equal_stands_once_and_what_differs_beside_it() -> None:
    packages = [(package.name, package.targets, package.gfx) for package in ALL.packages]
    assert sorted(packages) == [
        ("msgspec", ("a", "b"), ("gfx90a", "gfx942")),
        ("msgspec", ("c",), ("gfx1100",)),
        ("triton", ("a", "b"), ("gfx90a", "gfx942")),
        ("triton", ("c",), ("gfx1100",)),
    ]
    files = {wheel.name: [file.targets for file in wheel.files] for wheel in ALL.wheels}
    assert files == {"cmake": [("a", "b", "c")], "numpy": [("a", "b"), ("c",)]}
    assert ALL.warnings == A.warnings


@pytest.mark.parametrize("one", [A, B, C], ids=["a", "b", "c"])
def test_each_target_gets_its_own_lock_back(one: Lock) -> None:
    assert canonical(lock_of(ALL, one.targets[0].name)) == canonical(one)


@given(st.permutations([A, B, C]))
def test_the_order_of_targets_makes_no_difference(locks: list[Lock]) -> None:
    text = canonical(join_locks(locks))
    assert text == canonical(ALL)
    assert canonical(parse_lock(text, "x.lock")) == text


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("78")), min_size=1, max_size=4))
def test_joining_and_taking_apart_are_inverse(shapes: list[tuple[bool, str]]) -> None:
    locks = [
        as_target(f"t{index}", ("gfx942",) if plain else ("gfx90a",), numpy)
        for index, (plain, numpy) in enumerate(shapes)
    ]
    joined = parse_lock(canonical(join_locks(locks)), "x.lock")
    assert [canonical(lock_of(joined, lock.targets[0].name)) for lock in locks] == [
        canonical(lock) for lock in locks
    ]


def test_a_package_is_asked_for_by_target() -> None:
    for name, gfx in (("a", ("gfx90a", "gfx942")), ("c", ("gfx1100",))):
        package = ALL.package("triton", name)
        assert package is not None
        assert package.gfx == gfx
    assert ALL.package("triton", "d") is None


def invalid(lock: Lock) -> list[str]:
    with pytest.raises(RocmlockError) as raised:
        parse_lock(render_lock(lock), "x.lock")
    assert raised.value.reason.reference == "lock-invalid"
    assert all(problem.place and problem.place.line > 1 for problem in raised.value.problems)
    return [problem.message for problem in raised.value.problems]


def test_a_package_stands_once_for_each_target() -> None:
    packages = tuple(
        evolve(package, targets=("a", "c"))
        if package.targets == ("c",) and package.name == "msgspec"
        else package
        for package in ALL.packages
    )
    assert invalid(evolve(ALL, packages=packages)) == ["msgspec stands here a second time for a"]


def test_needs_are_met_within_the_target() -> None:
    packages = tuple(each for each in ALL.packages if (each.name, each.targets) != ("triton", ("c",)))
    assert invalid(evolve(ALL, packages=packages)) == ["triton has no [[package]] for c"] * 2


def test_wheels_have_a_file_for_each_target_that_uses_them() -> None:
    def without_c(file: WheelFile) -> WheelFile:
        return evolve(file, targets=tuple(target for target in file.targets if target != "c"))

    wheels = tuple(
        evolve(wheel, files=tuple(without_c(file) for file in wheel.files if file.targets != ("c",)))
        for wheel in ALL.wheels
    )
    assert sorted(invalid(evolve(ALL, wheels=wheels))) == [
        "cmake==3.31.6 has no [[wheel]] for c",
        "numpy==2.3.5 has no [[wheel]] for c",
    ]


def test_a_wheel_has_one_file_for_a_target_and_names_no_other() -> None:
    second = WheelFile(file_name("cmake-3.31.6-py2-none-any.whl"), digest("5"), ("b", "d"))
    wheels = tuple(
        evolve(wheel, files=(*wheel.files, second)) if wheel.name == "cmake" else wheel
        for wheel in ALL.wheels
    )
    assert sorted(invalid(evolve(ALL, wheels=wheels))) == [
        "cmake==3.31.6 has a second file for b",
        "d has no [[target]]",
    ]


def demands(target: str, gfx: tuple[str, ...], specifier: str = ">=3") -> Demands:
    (one,) = A.targets
    return Demands(
        name="full",
        target=target,
        gfx=gfx,
        rocm=">=7.0,<7.3",
        python="3.12",
        host=one.toolchain.host,
        device=one.toolchain.device,
        packages=(PackageDemand("msgspec", Ranged(), ""), PackageDemand("triton", Ranged(specifier), "")),
        flags=A.flags,
        requires=("numpy",),
    )


def test_each_target_must_satisfy_and_is_named_where_it_does_not() -> None:
    wanted = [demands("a", A.targets[0].gfx), demands("b", A.targets[0].gfx), demands("c", ("gfx1100",))]
    assert find_unmet(ALL, wanted) == []
    other = [*wanted[:2], demands("c", ("gfx1101",))]
    assert find_unmet(ALL, other) == ["c: gfx is gfx1100 in the lock, gfx1101 in the manifest"]
    # What concerns all of them is told once, without names.
    newer = [evolve(each, packages=demands("", (), ">=4").packages) for each in wanted]
    assert find_unmet(ALL, newer) == ['triton is 3.6.0, the manifest wants ">=4"']


def test_targets_that_come_and_go_are_told() -> None:
    gfx = A.targets[0].gfx
    assert find_unmet(join_locks([A, B]), [demands("a", gfx), demands("mi250", gfx)]) == [
        "the lock has no target 'mi250'",
        "nothing asks for target 'b' any more",
    ]


def test_a_target_is_picked_by_name_or_because_it_is_the_only_one() -> None:
    assert pick_target(A, None, "rocmlock run {target}").name == "a"
    assert pick_target(ALL, "b", "rocmlock run {target}").name == "b"
    for lock, name, hint in (
        (ALL, None, "run --target a"),
        (ALL, "cc", "run --target c"),
        (A, "b", "run --target a"),
    ):
        with pytest.raises(RocmlockError) as raised:
            pick_target(lock, name, "run {target}")
        assert raised.value.reason.reference == "target-unknown"
        assert raised.value.hint == hint
        assert len(raised.value.context) == len(lock.targets)
