"""What is newer than a lock, and what holds it back, from facts alone."""

from __future__ import annotations

from datetime import date

import pytest
from attrs import evolve
from resolver_samples import demands, recipes, snapshot, snapshot_sets

from rocmlock.lockfile.demands import Demands
from rocmlock.lockfile.model import GitSource, Lock, Python, Target, Toolchain
from rocmlock.lockfile.names import commit
from rocmlock.resolver.assemble import make_stack, make_target
from rocmlock.resolver.choose import Resolution, World, choose
from rocmlock.resolver.outdated import Available, Outdated, find_outdated_packages, newest_of
from rocmlock.resolver.outdated_wheels import OTHER_WHEELS, find_outdated_wheels


def chosen(wanted: Demands) -> Resolution:
    answer = choose(World("vllm", snapshot(), recipes()), wanted)
    assert isinstance(answer, Resolution)
    return answer


def locked(wanted: Demands) -> Lock:
    resolution = chosen(wanted)
    return Lock(
        "x",
        (make_target(wanted, resolution),),
        tuple(make_stack(resolution, wanted, recipes(), frozenset())),
        (),
    )


def find(lock: Lock, wanted: Demands) -> dict[str, Outdated]:
    resolutions = {wanted.target: chosen(wanted)}
    rows = find_outdated_packages(lock, [wanted], resolutions, snapshot(), recipes(), sdists={})
    return {row.name: row for row in rows}


def stack(vllm: str, more: str = "") -> Demands:
    return demands(f'pytorch = "*"\ntriton = "*"\nvllm = "{vllm}"', more=more)


def test_a_package_that_an_update_would_move() -> None:
    old = locked(stack("<0.25"))
    rows = find(old, stack("*"))
    vllm = rows["vllm"]
    assert (vllm.locked, vllm.update) == ("0.24.0", chosen(stack("*")).tested.release.version)
    assert vllm.where == ("default",)
    # What rules newer releases out is told as conflicts tell it.
    newest = snapshot().candidates("vllm")[0].version
    assert vllm.newest == newest
    assert vllm.held_by
    assert all(line.startswith("vllm ") for line in vllm.held_by)


def test_the_manifest_line_holds_a_package_back() -> None:
    wanted = stack("<0.25")
    row = find(locked(wanted), wanted)["vllm"]
    assert (row.locked, row.update) == ("0.24.0", "0.24.0")
    assert row.held_by == ('the manifest says vllm = "<0.25"',)
    dated = stack("*", "[resolve]\nreleased-before = 2026-07-01")
    held = find(locked(dated), dated)["vllm"].held_by
    assert "the manifest says released-before = 2026-07-01" in held


def test_the_set_holds_its_members_back_with_the_place_of_its_pin() -> None:
    wanted = stack("<0.25")
    row = find(locked(wanted), wanted)["triton"]
    assert row.held_by == ("vllm 0.24.0 pins 0f380657 (docker/Dockerfile.rocm_base:2)",)


def test_a_commit_that_moves_without_its_version_is_told_apart() -> None:
    wanted = stack("<0.25")
    lock = locked(wanted)
    packages = tuple(
        evolve(each, source=evolve(each.source, commit=commit("a" * 40)))
        if each.name == "triton" and isinstance(each.source, GitSource)
        else each
        for each in lock.packages
    )
    row = find(evolve(lock, packages=packages), wanted)["triton"]
    assert (row.locked, row.update) == ("3.6.0 aaaaaaaaaaaa", "3.6.0 0f380657dbf3")


def test_every_set_of_the_snapshot_is_told_without_a_fault() -> None:
    seen = 0
    for version in dict.fromkeys(each.release.version for each in snapshot_sets("vllm")):
        wanted = stack(f"=={version}")
        answer = choose(World("vllm", snapshot(), recipes()), wanted)
        if isinstance(answer, Resolution):
            seen += 1
            for row in find(locked(wanted), wanted).values():
                assert row.held_by or row.update != row.locked, row
    assert seen > 2


def wheels(version: str, *requires: str) -> Lock:
    wanted = stack("<0.25")
    target = make_target(wanted, None)
    python = Python("3.12", "cp312", target.python.platform, requires=requires, wheels=(f"thing=={version}",))
    toolchain = Toolchain(wanted.host, wanted.device)
    return Lock("x", (Target("default", wanted.gfx, python, toolchain),), (), ())


@pytest.mark.parametrize(
    ("requires", "held"),
    [
        (("thing<2",), ("the manifest needs thing<2",)),
        (("thing<2; python_version < '3.12'", "thing"), (OTHER_WHEELS,)),
        (("other<2",), (OTHER_WHEELS,)),
    ],
)
def test_requirement_lines_that_leave_the_newest_out(
    requires: tuple[str, ...], held: tuple[str, ...]
) -> None:
    lock = wheels("1.0", *requires)
    offered = {"default": {"thing": [Available("1.0", None), Available("2.0", None)]}}
    (row,) = find_outdated_wheels(lock, lock, [stack("<0.25")], offered)
    assert (row.locked, row.update, row.newest, row.held_by) == ("1.0", "1.0", "2.0", held)


def test_a_wheel_that_is_too_new_or_no_longer_needed() -> None:
    lock, day = wheels("1.0"), date(2026, 3, 1)
    offered = {"default": {"thing": [Available("2.0", day)]}}
    dated = stack("*", "[resolve]\nreleased-before = 2026-03-01")
    (row,) = find_outdated_wheels(lock, lock, [dated], offered)
    assert row.held_by == ("the manifest says released-before = 2026-03-01",)
    gone = evolve(lock, targets=(evolve(lock.targets[0], python=evolve(lock.targets[0].python, wheels=())),))
    (row,) = find_outdated_wheels(lock, gone, [stack("*")], offered)
    assert (row.update, row.held_by) == ("none", ())


def test_pre_releases_count_where_the_lock_has_one() -> None:
    offered = [Available("2.0", None), Available("3.0a1", None), Available("of no order", None)]
    assert newest_of(offered, "1.0") == offered[0]
    assert newest_of(offered, "2.9rc1") == offered[1]
