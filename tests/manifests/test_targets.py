"""Targets of a manifest: one without a name, or several tables, with what they share beside them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import Problem, RocmlockError
from rocmlock.manifests.loader import parse_manifest
from rocmlock.manifests.schema import Manifest
from rocmlock.resolver.demands import make_demands

TAIL = '[toolchain]\nhost = { gcc = "11" }\n[packages]\nvllm = "*"\n'
MI300X = '[target.mi300x]\ngfx = ["gfx942"]\n'
MI250 = '[target.mi250]\ngfx = ["gfx90a"]\n'
SHARED = '[target]\nrocm = ">=7"\npython = "3.12"\n'


def parse(targets: str) -> Manifest:
    return parse_manifest(f'schema = 1\nname = "x"\n{targets}{TAIL}', "m.toml", ("vllm",))


def faults(targets: str) -> dict[tuple[int, int], Problem]:
    with pytest.raises(RocmlockError) as raised:
        parse(targets)
    assert raised.value.reason.reference == "manifest-invalid"
    found = [
        (problem.place.line, problem.place.column, problem)
        for problem in raised.value.problems
        if problem.place
    ]
    # Nothing is told twice, although what is shared belongs to each target.
    assert len({(line, column, problem.message) for line, column, problem in found}) == len(found)
    return {(line, column): problem for line, column, problem in found}


def test_a_target_without_a_name_is_called_default() -> None:
    assert list(parse(f'{SHARED}gfx = ["gfx942"]\n').target.named) == ["default"]


def test_what_stands_beside_the_tables_is_shared_and_each_may_have_its_own() -> None:
    named = parse(f'{SHARED}{MI300X}{MI250}python = "3.11"\n').target.named
    assert {name: (target.gfx, target.rocm, target.python) for name, target in named.items()} == {
        "mi300x": (["gfx942"], ">=7", "3.12"),
        "mi250": (["gfx90a"], ">=7", "3.11"),
    }


def test_demands_are_one_for_each_target_by_name() -> None:
    demands = make_demands(parse(SHARED + MI300X + MI250))
    assert [(each.target, each.gfx) for each in demands] == [("mi250", ("gfx90a",)), ("mi300x", ("gfx942",))]
    assert demands[0].packages == demands[1].packages


@pytest.mark.parametrize(
    ("targets", "places"),
    [
        # A misspelt key is a value, a target a table: of each is told what fits it.
        (f'{SHARED}gxf = ["gfx942"]\n{MI300X}', {(6, 1): "did you mean 'gfx'?"}),
        (f"{SHARED}[target.gxf]\n", {(6, 2): 'write gfx = ["gfx942"]'}),
        (
            f'{SHARED}mi300x = "gfx942"\n{MI250}',
            {(6, 1): "known: gfx, python, rocm; a target is a table, [target.mi300x]"},
        ),
        (f"{SHARED}{MI300X}pyton = 1\n", {(8, 1): "did you mean 'python'?"}),
        (f"{SHARED}{MI300X}[target.mi300x.serving]\n", {(8, 2): "known: gfx, python, rocm"}),
        # What is missing is missing where it could stand: in each target's own table.
        (f"{MI300X}{MI250}", {(3, 2): 'write python = "3.12"', (5, 2): 'write python = "3.12"'}),
        # What is shared is at fault where it stands, and once.
        (f'[target]\nrocm = ">=7"\npython = "3"\n{MI300X}{MI250}', {(5, 1): ""}),
        (f'[target]\nrocm = ">=7"\npython = "3"\n{MI300X}python = "3.12"\n', {(5, 1): ""}),
        (f'{SHARED}gfx = ["gfx942", "gfx942"]\n[target.a]\n[target.b]\n', {(6, 1): ""}),
        (f'{SHARED}[target.a]\ngfx = ["gfx943"]\n{MI250}', {(7, 8): "did you mean 'gfx942'?"}),
        (f'{SHARED}{MI250}[target."a b"]\ngfx = ["gfx942"]\n', {(8, 2): ""}),
        (f"{SHARED}[target.gfx]\nx = 1\n", {(6, 2): 'write gfx = ["gfx942"]'}),
        ('[[target]]\ngfx = ["gfx942"]\n', {(3, 3): 'write [target], then gfx = ["gfx942"]'}),
        # Which ROCm is missing is told of the targets that lack it.
        (
            f'[target]\npython = "3.12"\n{MI300X}rocm = ">=7"\n{MI250}',
            {(8, 2): 'write rocm = ">=7.0,<7.3"'},
        ),
    ],
)
def test_faults_of_targets_stand_where_they_are(targets: str, places: dict[tuple[int, int], str]) -> None:
    assert {place: problem.hint for place, problem in faults(targets).items()} == places


def test_faults_of_all_targets_are_told_at_once() -> None:
    found = faults(
        f'{SHARED}gfy = 1\n[target.a]\ngfx = []\n[target.b]\nrocm = "=>7"\n[target.c]\npython = 3\n'
    )
    assert set(found) == {(6, 1), (8, 1), (9, 2), (10, 1), (11, 2), (12, 1)}


def test_rocm_for_another_compiler_is_told_where_it_stands() -> None:
    clang = TAIL.replace("[packages]", 'device = { clang = "19" }\n[packages]')
    with pytest.raises(RocmlockError) as raised:
        parse_manifest(f'schema = 1\nname = "x"\n{SHARED}{MI300X}{MI250}{clang}', "m.toml", ("vllm",))
    assert [str(problem.place) for problem in raised.value.problems] == ["m.toml:4:1"]


@given(
    st.permutations([MI300X, MI250 + 'python = "3.11"\n', '[target.a]\ngfx = ["gfx1100"]\n', SHARED, TAIL])
)
def test_the_order_of_tables_makes_no_difference(tables: list[str]) -> None:
    def demands(parts: list[str]):
        text = "".join(['schema = 1\nname = "x"\n', *parts])
        return make_demands(parse_manifest(text, "m.toml", ("vllm",)))

    assert demands(tables) == demands(sorted(tables))
