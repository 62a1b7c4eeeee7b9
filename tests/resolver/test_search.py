"""The strategies release and newest: what fits together, newest first, and why nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolver_samples import AT, demands, recipes, snapshot

from rocmlock.errors import RocmlockError
from rocmlock.lockfile.demands import Demands
from rocmlock.resolver.catalog import (
    Fact,
    KnownCommit,
    Origin,
    Pin,
    PythonRequirement,
    Release,
    RocmRelease,
    Statement,
)
from rocmlock.resolver.catalog import (
    TestedSet as Facts,
)
from rocmlock.resolver.choose import Resolution
from rocmlock.resolver.decide import decide
from rocmlock.resolver.proof import Proof
from rocmlock.resolver.search import make_provider, make_resolution, search

REPOSITORIES = {
    "vllm": "vllm-project/vllm",
    "pytorch": "pytorch/pytorch",
    "triton": "triton-lang/triton",
    "torchvision": "pytorch/vision",
}
FILE = Origin("x", "requirements/rocm.txt", 1)


def commit_of(package: str, version: str) -> str:
    return (package + version).encode().hex().ljust(40, "0")[:40]


@dataclass
class Releases:
    """A catalog of releases: versions by package, what they need, which ROCm PyTorch is built for."""

    versions: Mapping[str, list[str]]
    needs: Mapping[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)
    pins: Mapping[tuple[str, str], str] = field(default_factory=dict)
    rocm: Mapping[str, list[str]] = field(default_factory=dict)
    days: Mapping[str, date] = field(default_factory=dict)
    dated = None

    def tops(self) -> tuple[str, ...]:
        return ("vllm", "pytorch", "triton")

    def releases(self, repository: str) -> tuple[Release, ...]:
        package = next(name for name, there in REPOSITORIES.items() if there == repository)
        found = sorted(self.versions.get(package, ()), key=Version, reverse=True)
        return tuple(
            Release(
                repository, f"v{version}", version, commit_of(package, version), None,
                self.days.get(version, date(2026, 1, 1)), Version(version).is_prerelease, AT,
            )
            for version in found
        )  # fmt: skip

    def candidates(self, top: str) -> tuple[Release, ...]:
        return self.releases(REPOSITORIES[top])

    def tested_sets(self, top: str, release: Release) -> tuple[Facts, ...]:
        needs = self.needs.get((top, release.version), [])
        own = Facts(
            top, release, "own", None, None, (), None, (),
            statements=tuple(Statement(name, specifier, FILE) for name, specifier in needs),
            requires_run=tuple(PythonRequirement(f"{name}{specifier}", FILE) for name, specifier in needs),
        )  # fmt: skip
        pinned = self.pins.get((top, release.version))
        if pinned:
            pin = Pin(
                "triton",
                "triton-lang/triton",
                commit_of("triton", pinned),
                AT,
                commit_of("triton", pinned),
                version=Fact(pinned, AT),
            )
            own = replace(own, pins=(pin,))
        rocms = self.rocm.get(release.version, []) if top == "pytorch" else []
        return tuple(replace(own, rocm=Fact(each, AT)) for each in rocms) or (own,)

    def expand(self, pin: Pin) -> Pin:
        return pin

    def commit(self, repository: str, asked: str) -> KnownCommit:
        return KnownCommit(repository, asked, None, None, None, "")

    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        return tuple(RocmRelease(version, None, (), AT) for version in ("7.2.3", "7.1.1", "7.0.0"))


def wanted(
    packages: str = 'vllm = "*"', *, strategy: str = "release", more: str = "", **others: str
) -> Demands:
    return demands(packages, more=f'[resolve]\nstrategy = "{strategy}"\n{more}', **others)


def versions(answer: object) -> dict[str, str]:
    assert isinstance(answer, Resolution), answer
    members = {pin.package: pin.version.value for pin in answer.members if pin.version}
    return {answer.tested.top: answer.tested.release.version, **members}


WORLD = Releases(
    versions={
        "vllm": ["1.0", "2.0", "3.0", "4.0rc1"],
        "pytorch": ["2.8.0", "2.9.0", "2.10.0"],
        "triton": ["3.4.0", "3.5.0", "3.6.0"],
        "torchvision": ["0.24.0", "0.25.0"],
    },
    needs={
        ("vllm", "3.0"): [("pytorch", "==2.11.0")],
        ("vllm", "2.0"): [("pytorch", "==2.10.0+rocm7.2"), ("torchvision", "==0.25.0")],
        ("vllm", "1.0"): [("pytorch", "<2.10")],
    },
    pins={("pytorch", "2.10.0"): "3.6.0", ("pytorch", "2.9.0"): "3.5.0"},
    rocm={"2.10.0": ["7.1", "7.2"], "2.9.0": ["7.0", "7.1"], "2.8.0": ["6.4"]},
)


def test_the_newest_that_fit_together() -> None:
    found = search(make_provider("vllm", wanted(), WORLD, recipes()))
    assert versions(found) == {"vllm": "2.0", "pytorch": "2.10.0", "triton": "3.6.0", "torchvision": "0.25.0"}
    assert isinstance(found, Resolution)
    assert found.tested.rocm
    assert found.tested.rocm.value == "7.2.3"
    # The commit that PyTorch pins, not the tag of that version.
    triton = next(pin for pin in found.members if pin.package == "triton")
    assert triton.says == f"pytorch 2.10.0 pins triton at {triton.asked}"
    assert triton.tag is None


def test_a_rocm_that_a_member_is_not_built_for_leaves_it_out() -> None:
    assert (
        versions(search(make_provider("vllm", wanted(rocm="==7.0.*"), WORLD, recipes())))["pytorch"]
        == "2.9.0"
    )
    assert versions(search(make_provider("vllm", wanted(rocm="==7.0.*"), WORLD, recipes())))["vllm"] == "1.0"


def test_the_rocm_is_one_that_every_member_is_built_for() -> None:
    found = search(make_provider("vllm", wanted('vllm = "==1.0"'), WORLD, recipes()))
    assert isinstance(found, Resolution)
    assert versions(found)["pytorch"] == "2.9.0"
    assert found.tested.rocm
    assert found.tested.rocm.value == "7.1.1"


@pytest.mark.parametrize("version", [None, "3.5.0"], ids=["not known", "another"])
def test_a_pinned_commit_must_be_of_a_version_that_is_asked_for(version: str | None) -> None:
    class Pinned(Releases):
        def tested_sets(self, top: str, release: Release) -> tuple[Facts, ...]:
            sets = super().tested_sets(top, release)
            at = Fact(version, AT) if version else None
            return tuple(
                replace(each, pins=tuple(replace(pin, version=at) for pin in each.pins)) for each in sets
            )

    pinned = Pinned({"vllm": ["1.0"], "pytorch": ["2.10.0"], "triton": ["3.6.0"], "torchvision": ["0.25.0"]},
                    pins={("pytorch", "2.10.0"): "3.6.0"})  # fmt: skip
    demanded = wanted('vllm = "*"\ntriton = ">=3.6"')
    provider = make_provider("vllm", demanded, pinned, recipes())
    assert isinstance(search(provider), tuple)
    proof = Proof(provider)
    assert proof.solve(proof.lines) is None
    assert proof.impossible() == ("package:triton",)
    assert proof.solve([]) is not None


def test_newest_takes_pre_releases_too() -> None:
    assert (
        versions(search(make_provider("vllm", wanted(strategy="newest"), WORLD, recipes())))["vllm"]
        == "4.0rc1"
    )


def test_what_is_locked_comes_first() -> None:
    kept = {"vllm": commit_of("vllm", "1.0")}
    assert versions(search(make_provider("vllm", wanted(), WORLD, recipes(), kept)))["vllm"] == "1.0"


def test_a_conflict_names_the_lines_the_facts_and_what_helps() -> None:
    with pytest.raises(RocmlockError) as raised:
        decide(wanted('vllm = ">=2"\npytorch = "<2.10"'), WORLD, recipes())
    error = raised.value
    assert error.reason.reference == "unsatisfiable"
    assert error.message == 'No releases meet pytorch = "<2.10" and vllm = ">=2" together.'
    assert any(
        "vllm 3.0 needs pytorch==2.11.0" in line or "outside the range" in line for line in error.context
    )
    assert 'pytorch = "==2.10.0" gives vllm 2.0' in error.hint
    assert 'vllm = "==1.0" gives vllm 1.0' in error.hint


def test_a_release_whose_needs_are_not_known_is_never_taken() -> None:
    """The facts have no requirement files of vLLM's release candidates."""
    found = decide(wanted('vllm = ">=0.26.0rc1,<=0.26.1rc0"', strategy="newest"), snapshot(), recipes())
    assert versions(found)["vllm"] == "0.26.0"


def test_dates_and_forbidden_versions_count() -> None:
    dated = replace(WORLD, days={"2.0": date(2026, 6, 1)})
    before = wanted(more="released-before = 2026-05-01\n")
    assert versions(search(make_provider("vllm", before, dated, recipes())))["vllm"] == "1.0"
    forbid = 'forbid = [{ package = "pytorch", versions = "==2.10.0", reason = "no" }]\n'
    assert versions(search(make_provider("vllm", wanted(more=forbid), WORLD, recipes())))["vllm"] == "1.0"


def test_the_real_facts_give_a_stack_of_releases() -> None:
    found = decide(wanted('vllm = ">=0.20"\npytorch = "*"\ntriton = "*"'), snapshot(), recipes())
    got = versions(found)
    assert got["vllm"] == "0.28.0"
    assert got["pytorch"] == "2.11.0"
    assert got["torchvision"] == "0.26.0"


PACKAGES: tuple[str, ...] = ("vllm", "pytorch", "triton", "torchvision")
VERSION = st.sampled_from(["5.0", "6.0", "7.0"])
RANGE = st.sampled_from(["", "==5.0", "==6.0", "<6", ">=6", ">=7", "<7"])
WORLDS = st.builds(
    Releases,
    versions=st.fixed_dictionaries(
        {name: st.lists(VERSION, min_size=1, max_size=3, unique=True) for name in PACKAGES}
    ),
    needs=st.dictionaries(
        st.tuples(st.sampled_from(["vllm", "pytorch"]), VERSION),
        st.lists(
            st.tuples(st.sampled_from(["pytorch", "triton", "torchvision"]), RANGE.filter(bool)), max_size=2
        ),
        max_size=5,
    ),
)
ASKED = st.fixed_dictionaries({"vllm": RANGE, "pytorch": RANGE, "triton": RANGE})


def brute_force(world: Releases, asked: Mapping[str, str]) -> list[dict[str, str]]:
    """Every assignment that meets all ranges and needs."""
    fitting: list[dict[str, str]] = []
    for combination in product(*(world.versions[name] for name in PACKAGES)):
        chosen = dict(zip(PACKAGES, combination, strict=True))
        ranges = [(name, asked.get(name, "")) for name in PACKAGES]
        for name in PACKAGES:
            ranges += world.needs.get((name, chosen[name]), []) if name != "torchvision" else []
        if all(SpecifierSet(specifier).contains(chosen[name]) for name, specifier in ranges):
            fitting.append(chosen)
    return fitting


@given(WORLDS, ASKED)
def test_the_search_agrees_with_brute_force(world: Releases, asked: dict[str, str]) -> None:
    lines = "\n".join(f'{name} = "{specifier or "*"}"' for name, specifier in asked.items())
    answer = search(make_provider("vllm", wanted(lines), world, recipes()))
    fitting = brute_force(world, asked)
    if not fitting:
        assert isinstance(answer, tuple)
        return
    assert versions(answer) in fitting
    newest = max(Version(chosen["vllm"]) for chosen in fitting)
    assert Version(versions(answer)["vllm"]) == newest


@given(WORLDS, ASKED)
def test_each_line_that_is_named_is_needed_for_the_conflict(world: Releases, asked: dict[str, str]) -> None:
    lines = "\n".join(f'{name} = "{specifier or "*"}"' for name, specifier in asked.items())
    demanded = wanted(lines)
    if isinstance(search(make_provider("vllm", demanded, world, recipes())), Resolution):
        return
    with pytest.raises(RocmlockError) as raised:
        decide(demanded, world, recipes())
    said = raised.value.message
    named = [name for name in asked if (package := demanded.package(name)) and package.line in said]
    ranges = {name: asked[name] for name in named}
    if not named:
        assert not brute_force(world, {})
        return
    assert not brute_force(world, ranges)
    for left_out in named:
        assert brute_force(world, {name: specifier for name, specifier in ranges.items() if name != left_out})


@given(WORLDS, ASKED)
def test_the_proof_agrees_with_brute_force(world: Releases, asked: dict[str, str]) -> None:
    lines = "\n".join(f'{name} = "{specifier or "*"}"' for name, specifier in asked.items())
    provider = make_provider("vllm", wanted(lines), world, recipes())
    proof = Proof(provider)
    chosen = proof.solve(proof.lines)
    fitting = brute_force(world, asked)
    assert (chosen is None) == (not fitting)
    if chosen:
        assert {name: each.version for name, each in chosen.items()} in fitting
        assert versions(make_resolution(chosen, provider)) in fitting
