"""Three-way merges of locks: independent edits go together in any order, others are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import lock_samples
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.lockfile import model
from rocmlock.lockfile.checks import find_inconsistencies
from rocmlock.lockfile.codec import parse_lock, render_lock
from rocmlock.lockfile.conflict_text import render_conflict
from rocmlock.lockfile.merge import merge_locks
from rocmlock.lockfile.merge_parts import LAYER, groups
from rocmlock.lockfile.model import (
    Flags,
    GitSource,
    Lock,
    Package,
    Reason,
    Requires,
    Target,
    Wheel,
    WheelFile,
)
from rocmlock.lockfile.names import commit, file_name
from rocmlock.lockfile.requirement_lines import find_unmet_lines
from rocmlock.lockfile.targets import join_locks

Edit = Callable[[Lock], Lock]


def package(name: str, digit: str, needs: tuple[str, ...] = ()) -> Package:
    return Package(
        name=name,
        distribution=name,
        version="1.0",
        source=GitSource(f"https://github.com/o/{name}", commit(digit * 40)),
        targets=("default",),
        gfx=("gfx90a", "gfx942"),
        steps=lock_samples.STEPS,
        checks=(model.Check("none"),),
        environment={"CC": "{cc}"},
        build=Requires(needs, (), ("cmake==3.31.6",)),
        reasons=(Reason(f"vllm@{'1' * 40}:x:1", "why"),),
    )


BASE = evolve(
    lock_samples.full(),
    packages=tuple(package(name, digit) for name, digit in (("alpha", "1"), ("beta", "2"), ("gamma", "3"))),
)


def on_package(name: str, **changes: Any) -> Edit:
    def edit(lock: Lock) -> Lock:
        return evolve(
            lock,
            packages=tuple(evolve(each, **changes) if each.name == name else each for each in lock.packages),
        )

    return edit


def moved(name: str, digit: str, version: str = "2.0") -> Edit:
    source = GitSource(f"https://github.com/o/{name}", commit(digit * 40))
    return on_package(name, source=source, version=version, reasons=(Reason("new", digit),))


def added(name: str, digit: str, needs: tuple[str, ...] = ()) -> Edit:
    return lambda lock: evolve(lock, packages=(*lock.packages, package(name, digit, needs)))


def removed(name: str) -> Edit:
    return lambda lock: evolve(lock, packages=tuple(each for each in lock.packages if each.name != name))


def wheel(name: str, version: str) -> Wheel:
    file = file_name(f"{name}-{version}-py3-none-any.whl")
    return Wheel(name, version, (WheelFile(file, lock_samples.digest("d"), ("default",)),))


def environment_of(wheels: tuple[Wheel, ...], requires: tuple[str, ...] = ("numpy",)) -> Edit:
    """The wheels of the environment are ``wheels`` and those of the builds."""

    def edit(lock: Lock) -> Lock:
        (target,) = lock.targets
        python = evolve(target.python, requires=requires, wheels=tuple(each.id for each in wheels))
        kept = [each for each in lock.wheels if each.id not in target.python.wheels]
        return evolve(lock, targets=(evolve(target, python=python),), wheels=(*kept, *wheels))

    return edit


def build_of(name: str, *wheels: Wheel) -> Edit:
    """Another build layer for a package."""

    def edit(lock: Lock) -> Lock:
        changed = on_package(name, build=Requires((), (), tuple(each.id for each in wheels)))(lock)
        return evolve(changed, wheels=(*lock.wheels, *(each for each in wheels if each not in lock.wheels)))

    return edit


def on_target(**changes: Any) -> Edit:
    return lambda lock: evolve(lock, targets=tuple(evolve(target, **changes) for target in lock.targets))


def flagged(**changes: str) -> Edit:
    return lambda lock: evolve(lock, flags=evolve(lock.flags, **changes))


def warned(says: str) -> Edit:
    return lambda lock: evolve(lock, warnings=(*lock.warnings, model.Warning(says, ("c:1", "d:2"))))


NUMPY = wheel("numpy", "2.4.0")
# Each touches something that no other touches.
INDEPENDENT: dict[str, Edit] = {
    "alpha moves": moved("alpha", "a"),
    "beta moves": moved("beta", "b"),
    "gamma goes": removed("gamma"),
    "delta comes": added("delta", "d"),
    "epsilon comes, needing beta": added("epsilon", "e", ("beta",)),
    "a variable of alpha": on_package("alpha", environment={"CC": "{cc}", "A": "1"}),
    "memory of beta": on_package("beta", memory_per_job=9),
    "checks of alpha": on_package("alpha", checks=(model.Check("equal"),)),
    "build of alpha": build_of("alpha", wheel("ninja", "1.13")),
    "build of beta": build_of("beta", wheel("ninja", "1.13"), wheel("six", "1.17")),
    "environment": environment_of((NUMPY,)),
    "a warning": warned("x"),
    "no warning": lambda lock: evolve(lock, warnings=lock.warnings[1:]),
}
NAMES = sorted(INDEPENDENT)


def canonical(lock: Lock) -> str:
    """The bytes of a lock, whole or not."""
    return render_lock(lock)


def edited(names: list[str]) -> Lock:
    lock = BASE
    for name in names:
        lock = INDEPENDENT[name](lock)
    used = {id_ for each in lock.packages for id_ in each.build.wheels} | {*lock.targets[0].python.wheels}
    return evolve(lock, wheels=tuple(each for each in lock.wheels if each.id in used))


@pytest.mark.parametrize("name", NAMES)
def test_each_edit_is_a_lock(name: str) -> None:
    assert find_inconsistencies(edited([name])) == []
    assert canonical(edited([name])) != canonical(BASE)


@given(st.permutations(NAMES), st.integers(0, len(NAMES)), st.integers(0, len(NAMES)))
def test_independent_edits_merge_to_both(order: list[str], start: int, end: int) -> None:
    one, two = order[: min(start, end)], order[min(start, end) : max(start, end)]
    ours, theirs = edited(one), edited(two)
    for left, right in ((ours, theirs), (theirs, ours)):
        merged = merge_locks(BASE, left, right)
        assert merged.clashes == ()
        assert canonical(merged.ours) == canonical(merged.theirs) == canonical(edited([*one, *two]))


@given(st.lists(st.sampled_from(NAMES), unique=True), st.lists(st.sampled_from(NAMES), unique=True))
def test_what_both_sides_did_alike_merges(one: list[str], two: list[str]) -> None:
    ours, theirs = edited(sorted(one)), edited(sorted(two))
    merged = merge_locks(BASE, ours, theirs)
    assert merged.clashes == ()
    assert canonical(merged.ours) == canonical(edited(sorted({*one, *two})))


@given(st.lists(st.sampled_from(NAMES), unique=True))
def test_one_side_alone_is_taken_as_it_is(names: list[str]) -> None:
    other = edited(names)
    for base, ours, theirs in (
        (BASE, other, BASE),
        (BASE, BASE, other),
        (BASE, other, other),
        (None, other, other),
    ):
        merged = merge_locks(base, ours, theirs)
        assert (merged.clashes, canonical(merged.ours)) == ((), canonical(other))


def clashes(ours: Lock, theirs: Lock, base: Lock | None = BASE) -> list[tuple[str, str, str]]:
    """The clashes, which must be the same whichever side is which; the halves must be each side's."""
    merged = merge_locks(base, ours, theirs)
    back = merge_locks(base, theirs, ours)
    found = [(each.kind, each.name, each.field) for each in merged.clashes]
    assert sorted(found) == sorted((each.kind, each.name, each.field) for each in back.clashes)
    assert canonical(merged.ours) == canonical(back.theirs) or any(each.says for each in merged.clashes)
    return found


ROCM = on_target(rocm=model.Rocm("7.2.4"))
CLASHES: dict[str, tuple[Edit, Edit, list[tuple[str, str, str]]]] = {
    "two commits": (moved("alpha", "a"), moved("alpha", "b"), [("package", "alpha", "source")]),
    "a commit and picks": (
        moved("alpha", "a"),
        on_package("alpha", picks=(commit("c" * 40),)),
        [("package", "alpha", "source")],
    ),
    "moved and taken out": (moved("alpha", "a"), removed("alpha"), [("package", "alpha", "")]),
    "two that came": (added("delta", "d"), added("delta", "e"), [("package", "delta", "source")]),
    "a variable": (
        on_package("alpha", environment={"CC": "1"}),
        on_package("alpha", environment={"CC": "2"}),
        [("package", "alpha", "environment.CC")],
    ),
    "a variable set and taken out": (
        on_package("alpha", environment={"CC": "1"}),
        on_package("alpha", environment={}),
        [("package", "alpha", "environment.CC")],
    ),
    "a need that was taken out": (
        removed("gamma"),
        added("delta", "d", ("gamma",)),
        [("package", "delta", "")],
    ),
    "a circle": (
        on_package("alpha", build=Requires(("beta",))),
        on_package("beta", build=Requires(("alpha",))),
        [("lock", "", "")],
    ),
    "the wheels of the environment": (
        environment_of((NUMPY,)),
        environment_of((wheel("numpy", "2.5.0"),)),
        [("target", "default", "python.wheels")],
    ),
    "two builds": (
        build_of("alpha", wheel("ninja", "1.13")),
        build_of("alpha", wheel("six", "1.17")),
        [("package", "alpha", "requires.build.wheels")],
    ),
    "flags": (flagged(debug="full"), flagged(debug="none"), [("lock", "", "flags.debug")]),
    "new flags and a new package": (flagged(debug="full"), added("delta", "d"), [("package", "delta", "")]),
    "another ROCm and a choice": (ROCM, moved("alpha", "a"), [("package", "alpha", "source")]),
    "another ROCm and a new package": (ROCM, added("delta", "d"), [("package", "delta", "")]),
    "another ROCm and other wheels": (
        ROCM,
        environment_of((NUMPY,)),
        [("target", "default", "python.wheels")],
    ),
    "another ROCm and another build": (
        ROCM,
        build_of("alpha", wheel("ninja", "1.13")),
        [("package", "alpha", "source")],
    ),
    "two ROCms": (ROCM, on_target(rocm=model.Rocm("7.2.5")), [("target", "default", "rocm")]),
    "a requirement that the other side's wheels do not meet": (
        on_package("alpha", run=Requires((), ("numpy<2.4",))),
        environment_of((NUMPY,)),
        [("package", "alpha", "requires")],
    ),
    "a requirement on a package that moved": (
        on_package("alpha", run=Requires((), ("beta<2",))),
        moved("beta", "b"),
        [("package", "alpha", "requires")],
    ),
}


@pytest.mark.parametrize("case", CLASHES)
def test_what_cannot_be_had_together_is_told(case: str) -> None:
    one, two, expected = CLASHES[case]
    assert clashes(one(BASE), two(BASE)) == expected


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (flagged(opt_level="O3"), flagged(debug="full")),
        (flagged(debug="full"), moved("alpha", "a")),
        (ROCM, on_package("alpha", environment={"CC": "{cc}", "A": "1"})),
        (ROCM, removed("gamma")),
        (ROCM, lambda lock: moved("alpha", "a")(ROCM(lock))),
        (moved("alpha", "a"), on_package("alpha", environment={"CC": "{cc}", "A": "1"})),
    ],
)
def test_what_goes_together_is_no_clash(one: Edit, two: Edit) -> None:
    assert clashes(one(BASE), two(BASE)) == []
    merged = merge_locks(BASE, one(BASE), two(BASE)).ours
    assert canonical(merged) == canonical(two(one(BASE)))


def test_reasons_go_with_their_source_and_never_clash() -> None:
    ours = on_package("alpha", reasons=(Reason("a", "a"),))(BASE)
    theirs = on_package("alpha", reasons=(*BASE.packages[0].reasons, Reason("b", "b")))(BASE)
    for left, right in ((ours, theirs), (theirs, ours)):
        (found, *_) = merge_locks(BASE, left, right).ours.packages
        assert found.reasons == (Reason("a", "a"), Reason("b", "b"))
    source_moved = moved("alpha", "a")(BASE)
    for left, right in ((ours, source_moved), (source_moved, ours)):
        merged = merge_locks(BASE, left, right)
        assert merged.clashes == ()
        assert merged.ours.packages[0].reasons == (Reason("new", "a"),)


def test_a_wheel_that_one_side_dropped_and_the_other_needs_now_stays() -> None:
    with_ninja = build_of("alpha", wheel("ninja", "1.13"))(BASE)
    dropped = evolve(build_of("alpha", wheel("cmake", "3.31.6"))(with_ninja), wheels=BASE.wheels)
    needed = on_package("beta", build=Requires((), (), ("ninja==1.13",)))(with_ninja)
    merged = merge_locks(with_ninja, dropped, needed)
    assert merged.clashes == ()
    assert merged.ours.wheel("ninja==1.13")


def test_a_wheel_that_nothing_names_any_more_goes() -> None:
    both = build_of("beta", wheel("ninja", "1.13"))(build_of("alpha", wheel("ninja", "1.13"))(BASE))
    plain = Requires((), (), ("cmake==3.31.6",))
    merged = merge_locks(both, on_package("alpha", build=plain)(both), on_package("beta", build=plain)(both))
    assert merged.clashes == ()
    assert merged.ours.wheel("ninja==1.13") is None


def test_nothing_shared_before() -> None:
    assert clashes(BASE, BASE, None) == []
    assert ("package", "alpha", "source") in clashes(BASE, moved("alpha", "a")(BASE), None)
    assert ("lock", "", "flags.debug") in clashes(BASE, flagged(debug="full")(BASE), None)


def named(lock: Lock, name: str) -> Lock:
    return evolve(
        lock,
        targets=tuple(evolve(each, name=name) for each in lock.targets),
        packages=tuple(evolve(each, targets=(name,)) for each in lock.packages),
        wheels=tuple(
            evolve(each, files=tuple(evolve(file, targets=(name,)) for file in each.files))
            for each in lock.wheels
        ),
    )


def joined(**locks: Lock) -> Lock:
    return join_locks([named(lock, name) for name, lock in locks.items()])


def test_targets_merge_one_by_one() -> None:
    alpha = moved("alpha", "a")(BASE)
    base, ours, theirs = joined(a=BASE, b=BASE), joined(a=alpha, b=BASE), joined(a=BASE, b=alpha)
    for left, right in ((ours, theirs), (theirs, ours)):
        merged = merge_locks(base, left, right)
        assert merged.clashes == ()
        assert canonical(merged.ours) == canonical(joined(a=alpha, b=alpha))
    beta = moved("beta", "b")(BASE)
    grown = merge_locks(joined(a=BASE), joined(a=BASE, b=BASE), joined(a=beta))
    assert (grown.clashes, canonical(grown.ours)) == ((), canonical(joined(a=beta, b=BASE)))
    shrunk = merge_locks(base, joined(a=BASE), joined(a=beta, b=BASE))
    assert (shrunk.clashes, canonical(shrunk.ours)) == ((), canonical(joined(a=beta)))
    assert clashes(joined(a=BASE), joined(a=BASE, b=beta), base) == [("target", "b", "")]
    found = merge_locks(base, joined(a=alpha, b=BASE), joined(a=beta, b=alpha)).clashes
    assert found == ()
    other = moved("alpha", "c")(BASE)
    (clash,) = merge_locks(base, joined(a=alpha, b=BASE), joined(a=other, b=BASE)).clashes
    assert (clash.name, clash.target) == ("alpha", "a")


def test_no_target_left_is_no_lock() -> None:
    base = joined(a=BASE, b=BASE)
    assert clashes(joined(a=BASE), joined(b=BASE), base) == [("lock", "", "")]


def test_every_field_of_the_model_is_merged() -> None:
    apart = {"name", "targets", "environment", "build", "run", "reasons"}
    grouped = {name for names in groups(Package).values() for name in names}
    assert grouped | apart == {field.name for field in attrs.fields(Package)}
    assert {field.name for field in attrs.fields(Requires)} == {"packages", "python", "wheels"}
    assert set(LAYER) < {field.name for field in attrs.fields(model.Python)}
    assert {field.name for field in attrs.fields(Lock)} == {
        *("name", "targets", "packages", "wheels", "flags", "warnings")
    }
    assert {field.name for field in attrs.fields(Target)} >= {"name", "python"}
    assert {field.name for field in attrs.fields(Flags)} == {"opt_level", "debug"}


def test_requirement_lines_that_a_lock_does_not_meet() -> None:
    lines = (
        "numpy>=3",
        "six",
        'pywin32; sys_platform == "win32"',
        'six; extra == "x"',
        "not a line!",
        "beta",
    )
    lock = on_package("alpha", run=Requires((), lines))(BASE)
    assert find_unmet_lines(lock) == {("alpha", "numpy>=3"), ("alpha", "six")}


TEXT = st.text(st.sampled_from("ab\n"), max_size=30)


@given(TEXT, TEXT)
def test_each_side_can_be_taken_from_a_conflict(ours: str, theirs: str) -> None:
    taken: dict[str, list[str]] = {"ours": [], "theirs": []}
    side = ""
    for line in render_conflict(ours, theirs).splitlines():
        if line in {"<<<<<<< ours", "=======", ">>>>>>> theirs"}:
            side = {"<": "ours", "=": "theirs", ">": ""}[line[0]]
            continue
        for name in [side] if side else ["ours", "theirs"]:
            taken[name].append(line)
    assert taken == {"ours": ours.splitlines(), "theirs": theirs.splitlines()}
    with pytest.raises(RocmlockError) as raised:
        parse_lock(render_conflict(ours, theirs), "x.lock")
    assert raised.value.reason.reference == "lock-conflict"
