"""Explanations: why no set holds, which lines are to blame, what would help."""

from __future__ import annotations

import pytest
from resolver_samples import choose_from_snapshot, decide, demands, make_set, world

from rocmlock.errors import RocmlockError
from rocmlock.lockfile.demands import Demands
from rocmlock.resolver.choose import PassedOver, World
from rocmlock.resolver.conflict import Conflict, line_of
from rocmlock.resolver.explain import conflict_error, group_lines
from rocmlock.resolver.rules import Violation

ONE = 'vllm = "*"'


def error_of(here: World, wanted: Demands) -> RocmlockError:
    answer = decide(here, wanted)
    assert isinstance(answer, Conflict)
    return conflict_error(answer, wanted)


def test_one_line_is_named_alone() -> None:
    error = error_of(world(make_set("1.0", rocm="6.4")), demands(ONE, rocm=">=7"))
    assert error.reason.reference == "unsatisfiable"
    assert error.message.endswith('meets rocm = ">=7".')
    assert error.context == ("vllm 1.0: tested on ROCm 6.4",)
    assert 'rocm = "==6.4" gives vllm 1.0' in error.hint


def test_lines_that_are_impossible_together_are_all_named() -> None:
    here = world(make_set("2.0", torch="2.11.0"), make_set("1.0", rocm="6.4", torch="2.7.0"))
    error = error_of(here, demands(f'{ONE}\npytorch = "<2.8"', rocm=">=7"))
    assert 'pytorch = "<2.8"' in error.message
    assert 'rocm = ">=7"' in error.message
    # Each alone would do.
    assert 'pytorch = "==2.11.0" gives vllm 2.0' in error.hint
    assert 'rocm = "==6.4" gives vllm 1.0' in error.hint


def test_two_lines_are_changed_where_one_does_not_help() -> None:
    here = world(make_set("1.0", rocm="6.4", torch="2.7.0"))
    error = error_of(here, demands(f'{ONE}\npytorch = ">=2.8"', rocm=">=7"))
    assert 'pytorch = "==2.7.0" and rocm = "==6.4" gives vllm 1.0' in error.hint


def test_what_no_manifest_can_have_blames_no_line() -> None:
    error = error_of(world(make_set("1.0", commit=None)), demands(ONE))
    assert error.message == "No tested set of vllm meets the manifest."
    assert error.context == ("vllm 1.0: no full commit is known for tag v1.0 of vllm",)
    assert "tried" not in error.hint


def test_an_empty_world_is_told() -> None:
    assert error_of(world(), demands(ONE)).context == ()


def test_groups_name_few_versions_and_span_many() -> None:
    def passed(version: str, says: str = "a") -> PassedOver:
        return PassedOver("vllm", make_set(version).release, Violation("", says))

    few = [passed("3.0"), passed("2.0", "b"), passed("1.0"), passed("1.0")]
    assert list(group_lines(few)) == ["vllm 1.0, 3.0: a", "vllm 2.0: b"]
    many = [passed(f"{number}.0") for number in range(6, 0, -1)]
    assert list(group_lines(many)) == ["vllm 1.0 to 6.0 (6 releases): a"]


def test_every_line_of_a_manifest_can_be_shown() -> None:
    wanted = demands(
        f'{ONE}\nown = {{ sdist = "<2" }}',
        gfx='["gfx942", "gfx90a"]',
        more="[resolve]\nreleased-before = 2026-01-01\n",
    )
    assert line_of(wanted, "gfx") == 'gfx = ["gfx90a", "gfx942"]'
    assert line_of(wanted, "host") == 'host = { gcc = "11" }'
    assert line_of(wanted, "python") == 'python = "3.12"'
    assert line_of(wanted, "released-before") == "released-before = 2026-01-01"
    assert line_of(wanted, "package:own") == 'own = { sdist = "<2" }'
    assert line_of(demands(ONE), "released-before") == "no released-before"


@pytest.mark.parametrize(
    "wanted",
    [
        demands('vllm = "*"\npytorch = "<2.9"', rocm=">=7.2"),
        demands(gfx='["gfx942", "gfx1030"]'),
        demands(python="3.9"),
        demands(rocm=">=10"),
        demands('vllm = ">=0.28"'),
    ],
    ids=["pytorch", "gfx", "python", "rocm", "vllm"],
)
def test_the_real_facts_explain_themselves_shortly(wanted: Demands) -> None:
    answer = choose_from_snapshot(wanted)
    assert isinstance(answer, Conflict)
    error = conflict_error(answer, wanted)
    assert 1 <= len(error.context) <= 40
    assert all("://" not in line for line in (error.message, *error.context, error.hint))
    assert "vllm" in error.message


def test_a_kept_set_that_is_given_up_is_told_once() -> None:
    bad, older = make_set("2.0", rocm="6.4"), make_set("1.0", rocm="6.3", commit="e" * 40)
    answer = decide(world(bad, older), demands(ONE), older.release.commit)
    assert isinstance(answer, Conflict)
    assert [item.release for item in answer.passed_over] == [bad.release, older.release]
    good = make_set("0.9")
    found = decide(world(bad, older, good), demands(ONE), older.release.commit)
    assert not isinstance(found, Conflict)
    assert [item.release for item in found.passed_over] == [bad.release, older.release]
