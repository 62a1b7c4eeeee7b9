"""Choosing for several targets: one set where one holds for all, else each its own; a lock's sets are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from resolver_samples import SetCatalog, demands, make_set, recipes

from rocmlock.lockfile.demands import Demands
from rocmlock.resolver import catalog as facts
from rocmlock.resolver.choose import Resolution, World
from rocmlock.resolver.joint import choose_for_all

ARCH = {"a": "gfx942", "b": "gfx90a", "c": "gfx1100"}


def a_set(version: str, targets: str, variant: str = "v") -> facts.TestedSet:
    """A set of vLLM ``version`` that holds for ``targets``; each version has its own commit."""
    made = make_set(version, gfx=[ARCH[name] for name in targets], commit=commit(version))
    return replace(made, variant=variant)


def commit(version: str) -> str:
    return version.replace(".", "").rjust(40, "0")


def targets(names: str, **changes: object) -> list[Demands]:
    return [evolve(demands(gfx=f'["{ARCH[name]}"]'), target=name, **changes) for name in names]


def choose(
    sets: Sequence[facts.TestedSet], wanted: Sequence[Demands], kept: Mapping[str, str] | None = None
) -> list[str]:
    """Version and variant for each target; empty where there is none."""
    kept_commits = {name: commit(version) for name, version in (kept or {}).items()}
    world = World("vllm", SetCatalog(sets), recipes())
    answers = choose_for_all(world, wanted, kept_commits)
    return [
        f"{each.tested.release.version}{each.tested.variant}" if isinstance(each, Resolution) else ""
        for each in answers
    ]


V3, V2, V1 = "0.23.0", "0.22.0", "0.21.0"


@pytest.mark.parametrize(
    ("sets", "chosen"),
    [
        ([a_set(V3, "ab"), a_set(V2, "ab")], [f"{V3}v"] * 2),
        ([a_set(V3, "a"), a_set(V2, "ab")], [f"{V2}v"] * 2),
        ([a_set(V3, "a"), a_set(V2, "b"), a_set(V1, "ab")], [f"{V1}v"] * 2),
        ([a_set(V3, "a"), a_set(V2, "b")], [f"{V3}v", f"{V2}v"]),
        ([a_set(V3, "a"), a_set(V3, "b", "w"), a_set(V3, "ab", "x")], [f"{V3}x"] * 2),
        ([a_set(V3, "a"), a_set(V3, "b", "w")], [f"{V3}v", f"{V3}w"]),
        ([a_set(V3, "a")], [f"{V3}v", ""]),
    ],
)
def test_one_set_for_all_where_one_holds_else_each_its_own(
    sets: list[facts.TestedSet], chosen: list[str]
) -> None:
    assert choose(sets, targets("ab")) == chosen


def test_targets_whose_ranges_no_set_meets_together() -> None:
    sets = [a_set(V3, "ab"), replace(a_set(V2, "ab"), rocm=replace_rocm("7.0"))]
    wanted = [*targets("a", rocm=">=7.2"), *targets("b", rocm="<7.2")]
    assert choose(sets, wanted) == [f"{V3}v", f"{V2}v"]


def replace_rocm(version: str):
    rocm = make_set("1", rocm=version).rocm
    assert rocm is not None
    return rocm


@pytest.mark.parametrize(
    ("kept", "chosen"),
    [
        # All hold: nothing moves, although one set would hold for all by now.
        ({"a": V3, "b": V2}, [V3, V2]),
        ({"a": V1, "b": V1}, [V1, V1]),
        # A target without a set of its own joins those that stay, where theirs holds for it.
        ({"a": V1}, [V1, V1]),
        ({"a": V3}, [V3, V2]),
        # A set that does not hold any more is given up, and that target alone moves.
        ({"a": V2, "b": V1}, [V1, V1]),
        ({"a": V2, "b": V2}, [V3, V2]),
    ],
)
def test_what_a_lock_has_is_kept(kept: dict[str, str], chosen: list[str]) -> None:
    sets = [a_set(V3, "a"), a_set(V2, "b"), a_set(V1, "ab")]
    assert choose(sets, targets("ab"), kept) == [f"{version}v" for version in chosen]


def test_targets_that_stay_apart_are_not_brought_together() -> None:
    sets = [a_set(V3, "a"), a_set(V2, "ab")]
    assert choose(sets, targets("ab"), {"a": V3, "b": V2}) == [f"{V3}v", f"{V2}v"]
    assert choose(sets, targets("ab")) == [f"{V2}v"] * 2


def test_what_each_target_passed_over_is_told() -> None:
    sets = [a_set(V3, "a"), a_set(V2, "b"), a_set(V1, "ab")]
    answers = choose_for_all(World("vllm", SetCatalog(sets), recipes()), targets("ab"), {})
    passed = [
        [item.release.version for item in answer.passed_over]
        for answer in answers
        if isinstance(answer, Resolution)
    ]
    assert passed == [[V2], [V3]]


def test_no_set_below_the_joint_one_is_read() -> None:
    catalog = SetCatalog([a_set(V3, "a"), a_set(V2, "ab"), a_set(V1, "ab")])
    choose_for_all(World("vllm", catalog, recipes()), targets("ab"), {})
    assert set(catalog.read) == {V3, V2}


SETS = st.lists(
    st.tuples(st.integers(0, 4), st.sets(st.sampled_from("abc")).map("".join)), min_size=1, max_size=6
)


def make_world(rows: list[tuple[int, str]]) -> list[facts.TestedSet]:
    ordered = sorted(enumerate(rows), key=lambda row: -row[1][0])
    return [
        a_set(f"0.{30 + version}.0", names or "", f"v{index}") for index, (version, names) in ordered if names
    ]


@given(SETS, st.integers(1, 3))
def test_it_agrees_with_brute_force_and_stays(rows: list[tuple[int, str]], count: int) -> None:
    sets, names = make_world(rows), "abc"[:count]
    wanted = targets(names)

    def holds(each: facts.TestedSet, name: str) -> bool:
        return ARCH[name] in each.gfx

    def label(each: facts.TestedSet | None) -> str:
        return f"{each.release.version}{each.variant}" if each else ""

    alone = [next((each for each in sets if holds(each, name)), None) for name in names]
    joint = next((each for each in sets if all(holds(each, name) for name in names)), None)
    expected = [label(joint)] * count if joint else [label(each) for each in alone]
    chosen = choose(sets, wanted)
    assert chosen == expected
    if all(chosen):
        kept = {name: version.partition("v")[0] for name, version in zip(names, chosen, strict=True)}
        assert choose(sets, wanted, kept) == chosen
    backwards = choose(sets, wanted[::-1])
    assert backwards == chosen[::-1]
