"""Choosing by tested sets: the first that holds, and why others do not."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from resolver_samples import (
    AT,
    SetCatalog,
    choose_from_snapshot,
    decide,
    demands,
    make_set,
    pin,
    snapshot,
    snapshot_sets,
    world,
)

from rocmlock.lockfile.demands import Demands, PackageDemand, Ranged
from rocmlock.lockfile.model import Compiler
from rocmlock.resolver import catalog
from rocmlock.resolver.catalog import Fact, Origin, Pick, Pin, RocmRelease, Statement
from rocmlock.resolver.choose import Resolution, World, find_top
from rocmlock.resolver.conflict import Change, Conflict, line_of
from rocmlock.resolver.explain import conflict_error, group_lines
from rocmlock.resolver.rules import Violation


def resolution(answer: Resolution | Conflict) -> Resolution:
    assert isinstance(answer, Resolution)
    return answer


def conflict(answer: Resolution | Conflict) -> Conflict:
    assert isinstance(answer, Conflict)
    return answer


def version(answer: Resolution | Conflict) -> str:
    return resolution(answer).tested.release.version


def test_the_stock_manifest_lands_on_the_newest_set_with_full_commits() -> None:
    answer = resolution(choose_from_snapshot(demands()))
    assert answer.tested.release.version == "0.27.1"
    assert [member.package for member in answer.members] == ["pytorch", "triton", "torchvision"]
    says = [contradiction.says for contradiction in answer.contradictions]
    assert len(says) == 3
    assert all(first != second for first, second in (found.at for found in answer.contradictions))
    passed = {item.violation.says for item in answer.passed_over}
    assert "pins pytorch at 733fca1, whose full commit is not known" in passed
    assert "tested on ROCm 10.0.0" in passed


def test_rocm_7_1_lands_on_the_release_tested_on_it() -> None:
    assert version(choose_from_snapshot(demands('vllm = "*"', rocm=">=7.1,<7.2"))) == "0.13.0"


def test_pytorch_alone_follows_its_own_pin() -> None:
    answer = resolution(choose_from_snapshot(demands('pytorch = "*"\ntriton = "*"')))
    assert answer.tested.top == "pytorch"
    assert [member.package for member in answer.members] == ["triton"]


def test_a_locked_set_is_kept_until_it_no_longer_holds() -> None:
    older = next(s for s in snapshot_sets("vllm") if s.release.version == "0.25.1").release.commit
    assert version(choose_from_snapshot(demands(), older)) == "0.25.1"
    assert version(choose_from_snapshot(demands('vllm = ">=0.26"'), older)) == "0.27.1"


def test_nothing_newer_than_the_date_counts() -> None:
    wanted = demands(more="[resolve]\nreleased-before = 2026-07-20\n")
    assert version(choose_from_snapshot(wanted)) == "0.25.1"


def test_a_source_of_the_users_own_needs_no_pin() -> None:
    packages = (
        'vllm = ">=0.28"\npytorch = { git = "https://github.com/ROCm/pytorch", rev = "' + "a" * 40 + '" }'
    )
    # 0.32 and 0.33 lack a full commit of vLLM itself.
    assert version(choose_from_snapshot(demands(packages))) == "0.31.0"


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (demands('vllm = "*"\npytorch = "<2.9"', rocm=">=7.2"), "package:pytorch"),
        (demands(gfx='["gfx1030"]'), "gfx"),
        (demands(gcc="9"), "host"),
        (demands(python="3.9"), "python"),
        (demands(rocm=">=10"), "rocm"),
        (demands('vllm = ">=0.28"'), "package:vllm"),
    ],
)
def test_an_unsatisfiable_manifest_names_the_line(wanted: Demands, line: str) -> None:
    answer = conflict(choose_from_snapshot(wanted))
    assert answer.impossible == (line,)
    error = conflict_error(answer, wanted)
    assert (error.reason.reference, int(error.reason.code)) == ("unsatisfiable", 3)
    assert line_of(wanted, line) in error.message


def test_a_change_that_is_proposed_resolves() -> None:
    wanted = demands('vllm = "*"\npytorch = "<2.9"', rocm=">=7.2")
    (change,) = conflict(choose_from_snapshot(wanted)).changes
    assert change.instead == ('pytorch = "==2.11.0"',)
    assert (
        version(choose_from_snapshot(demands('vllm = "*"\npytorch = "==2.11.0"', rocm=">=7.2"))) == "0.27.1"
    )


def test_sets_that_fail_alike_share_a_line() -> None:
    lines = list(group_lines(conflict(choose_from_snapshot(demands(rocm=">=10"))).passed_over))
    assert (
        "vllm 0.30.0, 0.31.0, 0.32.0: names a binary wheel of pytorch (2.12.0+rocm10.0.0), which is no source pin"
        in lines
    )
    assert len(lines) == len(set(lines))


ONE = 'vllm = "*"'


def test_a_package_of_the_users_own_needs_no_pin_in_any_set() -> None:
    bare = make_set("1.0", pins=[pin("triton", "3.6.0"), pin("torchvision", "0.24.1")])
    assert isinstance(decide(world(bare), demands(ONE)), Conflict)
    for own in (
        '{ path = "torch" }',
        '{ git = "https://github.com/pytorch/pytorch", rev = "' + "a" * 40 + '" }',
    ):
        answer = resolution(decide(world(bare), demands(f"{ONE}\npytorch = {own}")))
        assert [member.package for member in answer.members] == ["triton", "torchvision"]


def test_the_highest_package_asked_for_leads() -> None:
    catalog = snapshot()
    assert find_top(demands('triton = "*"\nvllm = "*"'), catalog) == "vllm"
    assert find_top(demands('triton = "*"\npytorch = "*"'), catalog) == "pytorch"
    assert find_top(demands('triton = "*"'), catalog) == "triton"
    assert find_top(demands('own = { path = "." }'), catalog) is None
    # Given by a folder, it is no longer what leads.
    assert find_top(demands('vllm = { path = "." }\npytorch = "*"'), catalog) == "pytorch"


def test_a_partner_that_goes_with_another_version_is_a_warning_with_both_places() -> None:
    """ROCm's own pages once paired torch 2.9.1 with torchvision 0.25.0: its operators were missing."""
    given = [
        replace(pin("pytorch", "2.9.1"), origin=Origin("a")),
        pin("triton", None),
        replace(pin("torchvision", "0.25.0"), origin=Origin("b")),
    ]
    (found,) = resolution(decide(world(make_set("1.0", pins=given)), demands(ONE))).contradictions
    assert found.says == "vllm 1.0 tests pytorch 2.9.1, but torchvision 0.25.0 goes with ==2.10.0"
    assert found.at == ("a", "b")


def test_a_statement_that_disagrees_is_a_warning_with_both_places() -> None:
    agreeing, other = (
        Statement("pytorch", "==2.11.0", AT),
        Statement("pytorch", "<2.11", Origin("there", "f", 3)),
    )
    tested = replace(make_set("1.0"), statements=(agreeing, other, Statement("aiter", "<0", AT)))
    (found,) = resolution(decide(world(tested), demands(ONE))).contradictions
    assert found.at == ("here", "there:f:3")
    assert "2.11.0" in found.says
    assert "<2.11" in found.says


def picked() -> Pin:
    return replace(pin("pytorch", "2"), picks=(Pick("ab12", None, AT),))


def wheeled() -> Pin:
    return replace(pin("pytorch", "2"), wheel="2+rocm7")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (make_set("2.0rc1"), "a pre-release, and the range names none"),
        (make_set("2.0", rocm="6.4"), "tested on ROCm 6.4"),
        (make_set("2.0", rocm=None), "does not say which ROCm it is for"),
        (make_set("2.0", gfx=("gfx90a",)), "its images are built for gfx90a"),
        (make_set("2.0", python=("3.11",)), "supports Python 3.11"),
        (make_set("2.0", commit=None), "no full commit is known for tag v2.0 of vllm"),
        (make_set("2.0", pins=(pin("pytorch", "2.11.0"), pin("triton", None))), "does not pin torchvision"),
        (
            make_set("2.0", pins=(pin("pytorch", "2", None), pin("triton", None), pin("torchvision", None))),
            "pins pytorch at short, whose full commit is not known",
        ),
        (
            make_set("2.0", pins=(picked(), pin("triton", None), pin("torchvision", None))),
            "picks ab12 onto pytorch, whose full commit is not known",
        ),
        (
            make_set("2.0", pins=(wheeled(), pin("triton", None), pin("torchvision", None))),
            "names a binary wheel of pytorch (2+rocm7), which is no source pin",
        ),
        (replace(make_set("2.0"), supported_gfx=("gfx950",)), "vllm builds for gfx950"),
        (replace(make_set("2.0"), unread=("a", "b")), "not known: a, b"),
        (replace(make_set("2.0"), supported_python=(), python=Fact("3.11", AT)), "supports Python 3.11"),
    ],
)
def test_each_rule_passes_a_set_over_with_its_fact(bad, says: str) -> None:
    good = make_set("1.0")
    answer = resolution(decide(world(bad, good), demands(ONE)))
    assert answer.tested is good
    assert [item.violation.says for item in answer.passed_over] == [says]


def test_rocm_itself_must_be_made_for_the_gpu() -> None:
    here = world(make_set("1.0"), rocm=[RocmRelease("7.2.1", None, ("gfx90a",), AT)])
    answer = conflict(decide(here, demands(ONE)))
    assert answer.passed_over[0].violation == Violation("gfx", "ROCm 7.2 is made for gfx90a")


@pytest.mark.parametrize(
    ("standard", "gcc", "fits"), [("20", "9", False), ("20", "11", True), ("17", "11", True)]
)
def test_the_compiler_must_know_the_standard(standard: str, gcc: str, fits: bool) -> None:
    here = world(replace(make_set("1.0"), cxx_standard=Fact(standard, AT)))
    answer = decide(here, demands(ONE, gcc=gcc))
    assert isinstance(answer, Resolution) == fits
    if isinstance(answer, Conflict):
        assert answer.passed_over[0].violation.line == "host"


@pytest.mark.parametrize(("clang", "fits"), [("9", False), ("10", True)])
def test_a_clang_is_held_to_the_standard_too(clang: str, fits: bool) -> None:
    wanted = attrs.evolve(demands(ONE), host=Compiler("clang", clang, "11"))
    answer = decide(world(replace(make_set("1.0"), cxx_standard=Fact("20", AT))), wanted)
    assert isinstance(answer, Resolution) == fits


def test_no_change_is_proposed_that_does_not_help() -> None:
    tested = make_set("1.0", gfx=("gfx90a", "gfx942"))
    here = world(tested, rocm=[RocmRelease("7.2.1", None, ("gfx90a",), AT)])
    assert conflict(decide(here, demands(ONE, gfx='["gfx90a", "gfx942"]'))).changes == ()


def test_a_range_on_a_version_that_no_fact_tells_is_not_met() -> None:
    unknown = make_set("1.0", torch=None)
    answer = conflict(decide(world(unknown), demands(f'{ONE}\npytorch = ">=2"')))
    assert answer.impossible == ("package:pytorch",)
    assert answer.changes == ()
    assert isinstance(decide(world(unknown), demands(f'{ONE}\npytorch = "*"')), Resolution)


def test_the_first_fact_is_the_one_that_is_told() -> None:
    bad = make_set("2.0rc1", rocm="6.4", gfx=("gfx90a",), python=("3.11",), commit=None)
    (told,) = conflict(decide(world(bad), demands(ONE))).passed_over
    assert told.violation.says == "a pre-release, and the range names none"


def test_a_pre_release_counts_where_the_range_names_one() -> None:
    early = make_set("2.0rc1")
    assert resolution(decide(world(early), demands('vllm = ">=2.0rc1"'))).tested is early


def test_an_unknown_date_does_not_count_as_old() -> None:
    wanted = demands(ONE, more="[resolve]\nreleased-before = 2026-06-01\n")
    same_day = make_set("3.0", day=date(2026, 6, 1))
    undated, old = make_set("2.0", day=None), make_set("1.0", day=date(2026, 5, 1))
    assert resolution(decide(world(same_day, undated, old), wanted)).tested is old


SETS = st.lists(
    st.builds(
        lambda number, rocm, gfx, torch, python, commit: make_set(
            f"{number}.0", rocm=rocm, gfx=gfx, torch=torch, python=python, commit=commit
        ),
        st.integers(1, 9),
        st.sampled_from(["6.4", "7.1", "7.2"]),
        st.sampled_from([("gfx90a",), ("gfx942",), ("gfx90a", "gfx942")]),
        st.sampled_from(["2.7.0", "2.9.0", "2.11.0"]),
        st.sampled_from([("3.11",), ("3.12",)]),
        st.sampled_from(["d" * 40, "e" * 40, None]),
    ),
    min_size=1,
    max_size=6,
)
WANTED = st.builds(
    lambda rocm, gfx, torch, python: demands(
        f'vllm = "*"\npytorch = "{torch}"', rocm=rocm, gfx=gfx, python=python
    ),
    st.sampled_from([">=7.0", "<7.0", "==7.1"]),
    st.sampled_from(['["gfx942"]', '["gfx90a"]', '["gfx90a", "gfx942"]']),
    st.sampled_from([">=2.8", "<2.8"]),
    st.sampled_from(["3.11", "3.12"]),
)


@given(SETS, WANTED)
def test_the_lines_named_are_impossible_and_none_can_be_left_out(sets, wanted: Demands) -> None:
    here = world(*sets)
    answer = decide(here, wanted)
    broken = [lines_that_rule_out(here, tested, wanted) for tested in sets]
    if isinstance(answer, Resolution):
        assert set() in broken
        return
    # What no manifest could have says nothing of the manifest's lines.
    broken = [lines for lines in broken if "" not in lines]
    assert all(set(answer.impossible) & lines for lines in broken)
    for left_out in answer.impossible:
        others = set(answer.impossible) - {left_out}
        assert any(not others & lines for lines in broken)


def lines_that_rule_out(here: World, tested: catalog.TestedSet, wanted: Demands) -> set[str]:
    found = [
        *here.release_violations(tested.release, wanted),
        *here.set_violations(tested, wanted),
        *here.pin_violations(tested, wanted),
    ]
    return {violation.line for violation in found}


def test_nothing_is_asked_of_the_catalog_that_an_earlier_fact_rules_out() -> None:
    here = world(make_set("3.0"), make_set("2.0", rocm="6.4"), make_set("1.0"))
    assert version(decide(here, demands('vllm = "<3"'))) == "1.0"
    asked = here.catalog
    assert isinstance(asked, SetCatalog)
    assert asked.read == ["2.0", "1.0"]
    assert set(asked.expanded) == {f"{name} of ['1.0']" for name in ("pytorch", "triton", "torchvision")}


@given(SETS, WANTED)
def test_every_change_that_is_proposed_resolves(sets, wanted: Demands) -> None:
    here = world(*sets)
    answer = decide(here, wanted)
    for change in answer.changes if isinstance(answer, Conflict) else ():
        found = resolution(decide(here, apply(wanted, change)))
        assert found.tested.release.version


def apply(wanted: Demands, change: Change) -> Demands:
    """The demands with a change's lines in place of the others, as a user would edit them."""
    for line, instead in zip(change.lines, change.instead, strict=True):
        value = instead.split(" = ", 1)[1]
        if line == "rocm":
            wanted = attrs.evolve(wanted, rocm=value.strip('"'))
        elif line == "python":
            wanted = attrs.evolve(wanted, python=value.strip('"'))
        elif line == "gfx":
            wanted = attrs.evolve(
                wanted, gfx=tuple(part.strip(' "') for part in value.strip("[]").split(","))
            )
        else:
            name = line.removeprefix("package:")
            changed = PackageDemand(name, Ranged(value.strip('"')), instead)
            packages = tuple(changed if each.name == name else each for each in wanted.packages)
            wanted = attrs.evolve(wanted, packages=packages)
    return wanted


FORBID = '[resolve]\nforbid = [{ package = "pytorch", versions = "==2.11.0", reason = "it crashes here" }]\n'


def test_what_the_user_forbids_is_passed_over_with_the_users_reason() -> None:
    new, old = make_set("2.0"), make_set("1.0", torch="2.9.1")
    answer = resolution(decide(world(new, old), demands(ONE, more=FORBID)))
    assert answer.tested is old
    (told,) = answer.passed_over
    assert told.violation.says == "pytorch ==2.11.0 is forbidden: it crashes here"
    only = conflict(decide(world(new), demands(ONE, more=FORBID)))
    assert only.impossible == ("forbid:pytorch ==2.11.0",)
    assert [change.instead for change in only.changes] == [("without forbidding pytorch ==2.11.0",)]
    assert line_of(demands(ONE, more=FORBID), only.impossible[0]).startswith("forbid = [{ package")


def test_the_top_package_can_be_forbidden_too() -> None:
    wanted = demands(ONE, more=FORBID.replace("pytorch", "vllm").replace("==2.11.0", ">=2"))
    assert version(decide(world(make_set("2.0"), make_set("1.0")), wanted)) == "1.0"


def test_a_version_that_is_known_to_be_bad_is_never_chosen() -> None:
    bad = [*(pin("pytorch", "2.11.0"), pin("torchvision", "0.26.0")), pin("triton", "2.3.0")]
    answer = resolution(decide(world(make_set("2.0", pins=bad), make_set("1.0")), demands(ONE)))
    assert answer.tested.release.version == "1.0"
    says = answer.passed_over[0].violation.says
    assert says.startswith("triton is known bad: its build fetches an LLVM archive")
    assert "instead: Triton 3.0.0 or later" in says


def test_what_is_bad_with_a_rocm_or_a_gcc_alone_names_that_line() -> None:
    old = world(make_set("0.7.3", rocm="6.2"))
    found = conflict(decide(old, demands('vllm = "*"', rocm=">=6")))
    assert found.impossible == ("rocm",)
    assert isinstance(
        decide(world(make_set("0.7.3", rocm="6.3")), demands('vllm = "*"', rocm=">=6")), Resolution
    )
    assert conflict(decide(world(make_set("1.0")), demands(ONE, gcc="15"))).impossible == ("host",)
    assert isinstance(decide(world(make_set("1.0")), demands(ONE, gcc="14")), Resolution)


def test_a_fork_is_another_source_of_the_package() -> None:
    given = [
        replace(pin("pytorch", "2.11.0"), repository="ROCm/pytorch"),
        pin("triton", None),
        pin("torchvision", None),
    ]
    here = world(make_set("1.0", pins=given))
    wanted = f'{ONE}\npytorch = {{ version = "*", repository = "%s" }}'
    assert isinstance(decide(here, demands(wanted % "ROCm/pytorch")), Resolution)
    answer = conflict(decide(here, demands(wanted % "pytorch/pytorch")))
    assert answer.impossible == ("package:pytorch",)
    assert answer.passed_over[0].violation.says == "takes pytorch from ROCm/pytorch"
