"""Satisfiability: a sentence for each demand that a lock does not meet, and none when it meets all."""

from __future__ import annotations

from typing import Any

import attrs
import lock_samples
import pytest

from rocmlock.lockfile.demands import Demands, FromGit, FromPath, FromSdist, PackageDemand, Ranged
from rocmlock.lockfile.model import Compiler, Flags
from rocmlock.lockfile.satisfy import find_unmet

LOCK = lock_samples.full()
DEMANDS = Demands(
    name="full",
    target="default",
    gfx=("gfx90a", "gfx942"),
    rocm=">=7.0,<7.3",
    python="3.12",
    host=Compiler("clang", "15", "11"),
    device=Compiler("rocm"),
    packages=(
        PackageDemand("msgspec", FromSdist(">=0.19"), "msgspec"),
        PackageDemand("triton", Ranged(">=3"), "triton"),
    ),
    flags=Flags("O2", "line"),
    requires=("numpy",),
)


def test_a_lock_that_satisfies() -> None:
    assert find_unmet(LOCK, [DEMANDS]) == []


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"gfx": ("gfx942",)},
        {"rocm": ">=7.3"},
        {"rocm": None},
        {"python": "3.11"},
        {"host": Compiler("gcc", "11")},
        {"device": Compiler("clang", "19")},
        {"flags": Flags("O3", "line")},
        {"requires": ("numpy", "ray")},
        {"packages": (PackageDemand("msgspec", FromSdist(">=0.30"), ""), DEMANDS.packages[1])},
        {"packages": (PackageDemand("msgspec", FromPath("x"), ""), DEMANDS.packages[1])},
        {"packages": (PackageDemand("msgspec", FromGit("https://x", "v1"), ""), DEMANDS.packages[1])},
        {"packages": (DEMANDS.packages[0], PackageDemand("triton", Ranged("<3"), ""))},
        {"packages": (DEMANDS.packages[0], PackageDemand("triton", FromSdist(), ""))},
        {"packages": (DEMANDS.packages[0], PackageDemand("triton", Ranged(), "", gpu="equal"))},
        {"packages": (DEMANDS.packages[0], PackageDemand("triton", Ranged(), "", environment={"A": "2"}))},
        {"packages": (*DEMANDS.packages, PackageDemand("vllm", Ranged(), ""))},
        {"packages": (PackageDemand("triton", Ranged(), ""),)},
    ],
)
def test_each_demand_that_is_not_met_is_told_once(change: dict[str, Any]) -> None:
    assert len(find_unmet(LOCK, [attrs.evolve(DEMANDS, **change)])) == 1


def test_what_a_package_needs_is_not_superfluous() -> None:
    demands = attrs.evolve(DEMANDS, packages=DEMANDS.packages[:1])
    assert find_unmet(LOCK, [demands]) == []


def test_a_git_source_is_met_by_commit_or_tag_of_the_same_url() -> None:
    url = "https://github.com/ROCm/triton"
    for rev, met in (("2" * 40, True), ("v3.6.0", True), ("v3.5.0", False)):
        demand = PackageDemand("triton", FromGit(url, rev), "")
        unmet = find_unmet(LOCK, [attrs.evolve(DEMANDS, packages=(DEMANDS.packages[0], demand))])
        assert (unmet == []) == met
