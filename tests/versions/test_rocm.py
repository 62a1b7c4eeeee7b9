"""ROCm, HIP and the driver: three number lines."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from rocmlock.versions.rocm import parse_driver, parse_hip, parse_rocm, rocm_in

# In order; the ones in one tuple are one version.
RISING = [
    ("6.4.3",),
    ("7.0.0.dev1",),
    ("7.0.0a1",),
    ("7.0.0b1", "7.0.0_beta1"),
    ("7.0.0rc1", "7.0.0-rc1"),
    ("7.0.0rc9",),
    ("7.0.0rc10",),
    ("7.0.0rc20250929",),
    ("7.0", "7.0.0", "v7.0.0", "rocm-7.0.0"),
    ("7.0.0.post1",),
    ("7.0.2", "rocm-7.0.2"),
    ("7.2.4", "7.2.4.70204"),
    ("7.2.4.1",),
    ("7.9rc1",),
    ("7.9", "7.9.0", "07.9.0", "7.9.0+local"),
    ("7.10.0",),
    ("7.14.0a20260521",),
    ("7.14", "therock-7.14"),
    ("10.0.0",),
    ("10.2.0a20260916",),
]


def test_releases_and_previews_are_in_order() -> None:
    for first, second in pairwise(RISING):
        assert parse_rocm(first[0]) < parse_rocm(second[0]), (first, second)
    for spellings in RISING:
        assert len({parse_rocm(text) for text in spellings}) == 1, spellings


@pytest.mark.parametrize(
    "text", ["latest", "custom-build", "7", "", "7.2.3.4.5", "7.x", "rocm722", "1!7.0", "7." + "1" * 150]
)
def test_what_names_no_release_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no ROCm version"):
        parse_rocm(text)


def test_the_three_lines_do_not_compare() -> None:
    with pytest.raises(ValueError, match="HIP version"):
        parse_rocm("6.4.43483-a187df25c")
    with pytest.raises(ValueError, match="HIP version"):
        parse_rocm("6.4.43483")
    with pytest.raises(ValueError, match="HIP version"):
        parse_rocm("v7.2.26024")
    hip = parse_hip("6.4.43483-a187df25c")
    assert (hip.numbers, hip.commit) == ((6, 4, 43483), "a187df25c")
    rocm, driver = parse_rocm("7.2.0"), parse_driver("30.10")
    for first, second in ((rocm, hip), (hip, driver), (driver, rocm)):
        assert first != second
        with pytest.raises(TypeError):
            _ = first < second  # pyright: ignore[reportOperatorIssue] -- that is what is tested
    assert parse_hip("7.2.26024-84e847721f") > hip
    assert parse_hip("7.14") > parse_hip("7.2.53211-0")
    assert parse_driver("6.14.14") < driver
    for parse in (parse_hip, parse_driver):
        with pytest.raises(ValueError, match="such as"):
            parse("newest")


@pytest.mark.parametrize(
    ("version", "specifier", "inside"),
    [
        ("7.2.3", ">=7.0,<7.3", True),
        ("7.0", ">=7.0,<7.3", True),
        ("7.14.0", ">=7.0,<7.3", False),
        ("7.9", ">=7.10", False),
        ("10.0.0", ">=7.14", True),
        ("7.14.0a20260521", ">=7.0", False),
        ("7.14.0a20260521", ">=7.14.0a1", True),
        ("7.0", ">=7.0.2", False),
        ("rocm-7.0.2", "==7.0.*", True),
        ("7.2.4.70204", "==7.2.4", True),
        ("7.2.4.70204", "<=7.2.4", True),
        ("7.2.4.1", "==7.2.4", False),
        ("7.0.0.post1", "<=7.0.0", False),
    ],
)
def test_ranges(version: str, specifier: str, inside: bool) -> None:
    assert rocm_in(version, specifier) == inside


NUMBERS = st.lists(st.integers(0, 40), min_size=2, max_size=3).map(lambda parts: ".".join(map(str, parts)))
TEXTS = st.tuples(NUMBERS, st.sampled_from(["", "a20260521", "rc1", "rc10", ".dev3", "-rc2", "+x"])).map(
    "".join
)


@given(TEXTS, TEXTS, TEXTS)
def test_the_order_is_total_and_previews_come_before(first: str, second: str, third: str) -> None:
    a, b, c = map(parse_rocm, (first, second, third))
    assert (a < b) + (a == b) + (b < a) == 1
    if a <= b <= c:
        assert a <= c
    assert a.text == first
    assert parse_rocm(a.pep440) == a


@given(TEXTS, st.sampled_from(["==", "!=", ">=", "<=", ">", "<", "~="]), NUMBERS)
def test_ranges_are_those_of_packaging(version: str, operator: str, bound: str) -> None:
    assert rocm_in(version, f"{operator}{bound}") == SpecifierSet(f"{operator}{bound}").contains(
        version, prereleases=False
    )


@given(st.lists(TEXTS, max_size=8), st.randoms())
def test_sorting_depends_on_nothing_but_the_versions(texts: list[str], random) -> None:
    shuffled = list(texts)
    random.shuffle(shuffled)
    both = [sorted(map(parse_rocm, each), key=lambda version: version.order) for each in (texts, shuffled)]
    assert [version.text for version in both[0]] == [version.text for version in both[1]]
