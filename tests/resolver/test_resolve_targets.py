"""Locks of several targets as resolving writes them, from the bundled facts and with the real uv."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from lock_samples import digest
from resolver_samples import recipes, snapshot

from rocmlock.lockfile.codec import parse_lock, render_lock
from rocmlock.lockfile.demands import Demands
from rocmlock.lockfile.model import GitSource, Lock
from rocmlock.lockfile.satisfy import find_unmet
from rocmlock.lockfile.targets import lock_of
from rocmlock.manifests.loader import parse_manifest
from rocmlock.resolver.demands import make_demands
from rocmlock.resolver.kept import Kept
from rocmlock.resolver.own_sources import Surroundings
from rocmlock.resolver.recipe_names import package_names
from rocmlock.resolver.resolve import Resolved, resolve

pytestmark = [
    pytest.mark.requires("network"),
    pytest.mark.xdist_group("resolve-targets"),  # its locks are made once, by one worker
]

PACKAGES = 'pytorch = "*"\ntriton = "*"\nvllm = "*"\n'
MI300X = '[target.mi300x]\ngfx = ["gfx942"]\n'
MI250 = '[target.mi250]\ngfx = ["gfx90a"]\n'
SHARED = '[target]\nrocm = ">=7.0,<7.3"\npython = "3.12"\n'


def demands(*tables: str) -> tuple[Demands, ...]:
    head = f'schema = 1\nname = "x"\n[toolchain]\nhost = {{ gcc = "11" }}\n[packages]\n{PACKAGES}'
    return make_demands(parse_manifest(head + "".join(tables), "m.toml", package_names()))


def resolved(wanted: tuple[Demands, ...], old: Lock | None = None) -> Resolved:
    around = Surroundings(Path("/"), Path("/"), dict(os.environ), lambda _: str(digest("a")), lambda _: None)
    return resolve(wanted, snapshot(), recipes(), around, Kept(old))


@cache
def lock(*tables: str) -> Lock:
    """As it comes back from its file."""
    return parse_lock(render_lock(resolved(demands(*tables)).lock), "x.lock")


def commits(held: Lock, target: str) -> dict[str, str]:
    packages = lock_of(held, target).packages
    return {each.name: each.source.commit for each in packages if isinstance(each.source, GitSource)}


def test_two_archs_have_the_same_commits_and_share_all_wheels() -> None:
    both = lock(SHARED, MI300X, MI250)
    assert [target.name for target in both.targets] == ["mi250", "mi300x"]
    assert commits(both, "mi250") == commits(both, "mi300x")
    assert {package.targets for package in both.packages} == {("mi250",), ("mi300x",)}
    for name in commits(both, "mi250"):
        one, other = both.package(name, "mi250"), both.package(name, "mi300x")
        assert one is not None
        assert other is not None
        assert (one.gfx, other.gfx) == (("gfx90a",), ("gfx942",))
        # They differ in that, and in the variables that say it.
        alike = evolve(one, targets=other.targets, gfx=other.gfx, environment=other.environment)
        assert alike == other
    assert all([file.targets for file in wheel.files] == [("mi250", "mi300x")] for wheel in both.wheels)
    assert both.warnings == tuple(dict.fromkeys(both.warnings))


def test_a_target_is_resolved_as_if_it_were_alone() -> None:
    alone = lock(SHARED, MI300X)
    assert render_lock(lock_of(lock(SHARED, MI300X, MI250), "mi300x")) == render_lock(alone)


def test_targets_of_the_same_arch_share_their_packages() -> None:
    wanted = demands(SHARED, MI300X, MI300X.replace("mi300x", "mi325x"))
    twins = resolved(wanted, lock(SHARED, MI300X)).lock
    assert [package.targets for package in twins.packages] == [("mi300x", "mi325x")] * len(twins.packages)


def test_ranges_that_no_set_meets_together_give_each_target_its_own() -> None:
    tables = (SHARED, MI300X, 'rocm = ">=7.2"\n', MI250, 'rocm = ">=7.0,<7.2"\n')
    apart = lock(*tables)
    rocm = {target.name: target.rocm.version for target in apart.targets if target.rocm}
    assert rocm["mi300x"] >= "7.2" > rocm["mi250"]
    assert commits(apart, "mi250")["vllm"] != commits(apart, "mi300x")["vllm"]
    assert find_unmet(apart, demands(*tables)) == []
    again = resolved(demands(*tables), apart)
    assert render_lock(again.lock) == render_lock(apart)
    assert again.layers_run == ()


def test_pythons_that_differ_have_wheels_of_their_own() -> None:
    tables = (SHARED, MI300X, MI250, 'python = "3.11"\n')
    pythons = lock(*tables)
    assert [target.python.abi for target in pythons.targets] == ["cp311", "cp312"]
    files = [
        (file.file, file.targets) for wheel in pythons.wheels if wheel.name == "numpy" for file in wheel.files
    ]
    assert all(("cp311" in name) == (targets == ("mi250",)) for name, targets in files)
    shared = [wheel for wheel in pythons.wheels if wheel.name == "setuptools"]
    assert any(file.targets == ("mi250", "mi300x") for wheel in shared for file in wheel.files)


def test_a_second_time_writes_the_same_bytes_and_runs_nothing() -> None:
    both = lock(SHARED, MI300X, MI250)
    again = resolved(demands(SHARED, MI300X, MI250), both)
    assert render_lock(again.lock) == render_lock(both)
    assert again.layers_run == ()


def test_the_order_of_tables_makes_no_difference() -> None:
    assert render_lock(resolved(demands(MI250, SHARED, MI300X)).lock) == render_lock(
        lock(SHARED, MI300X, MI250)
    )


@given(st.permutations([SHARED, MI300X, MI250]), st.permutations([0, 1]))
def test_no_order_of_anything_makes_a_difference(tables: list[str], order: list[int]) -> None:
    both = lock(SHARED, MI300X, MI250)
    wanted = demands(*tables)
    again = resolved(tuple(wanted[index] for index in order), both)
    assert render_lock(again.lock) == render_lock(both)


def test_targets_that_come_and_go_leave_the_pins_alone() -> None:
    single = lock(SHARED, 'gfx = ["gfx942"]\n')
    assert [target.name for target in single.targets] == ["default"]
    named = resolved(demands(SHARED, MI300X, MI250), single)
    assert render_lock(named.lock) == render_lock(lock(SHARED, MI300X, MI250))
    assert named.layers_run == ()
    back = resolved(demands(SHARED, MI300X), named.lock)
    assert render_lock(back.lock) == render_lock(lock(SHARED, MI300X))
    assert back.layers_run == ()


def test_a_conflict_names_its_target() -> None:
    from rocmlock.errors import RocmlockError

    with pytest.raises(RocmlockError) as raised:
        resolved(demands(SHARED, MI300X, '[target.other]\ngfx = ["gfx1036"]\n'))
    assert raised.value.reason.reference == "unsatisfiable"
    assert raised.value.message.startswith("Target other: ")
