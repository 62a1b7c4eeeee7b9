"""Versions of Python packages: PEP 440 where it decides, ROCm's local part as numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from rocmlock.versions.packages import parse_local, parse_package_version
from rocmlock.versions.rocm import parse_rocm

# As they are found in logs, indexes and issues.
ALPHABET = [
    "2.12.0+rocm7.15.0a20260728",
    "2.12.0+rocm10.1.0a20260807",
    "2.12.0+rocm7.15",
    "2.12.0+rocm10.1",
    "2.7.0+rocm6.4.1.lw.git6fd40786",
    "3.3.0+rocm6.4.1.gitef7e8700",
    "3.3.0",
    "2.9.1+rocm7.2.0.git7e1940d4",
    "0.19.1.dev0+g2a69949bd.d20260417.rocm713",
    "0.22.1+rocm722",
    "0.22.1+cu129",
    "0.22.1+cpu",
    "2.8.3+cu12torch2.7cxx11abiTRUE",
    "2.5.0+rocm5.7.git12345abc",
    "2.10.0a0+git12345abc",
    "3.5.0+gitbbb06c03",
    "2.9.0.dev20251113+rocm7.0",
    "2.10.0",
    "2.8.0",
    "7.0.0rc9",
    "7.0.0rc10",
    "0.1.12.post2",
    "0.22.1+rocm",
    "0.22.1+rocm702",
    "0.22.1+rocm10",
    "0.22.1+rocm7.2x",
    "0.22.1+rocm7.2torch2.13",
    "0.22.1+rocm6.4.43483",
    "0.10.2rc3.dev377+g231c2c63e.cu129",
    "2.10.0a0+git",
]

# Those whose minor or patch tells 7.2.2 from 7.22, and 7.13 from 7.1.3.
RELEASES = tuple(map(parse_rocm, ["7.0.2", "7.1.0", "7.1.1", "7.2.2", "7.11.0", "7.13.0", "10.0.0"]))


def key(text: str):
    return parse_package_version(text).order


def test_rocm_in_a_local_part_is_compared_as_a_version() -> None:
    rising = ["7.2", "7.14", "7.15.0a20260728", "7.15", "10.1.0a20260807", "10.1"]
    versions = [parse_package_version(f"2.12.0+rocm{rocm}") for rocm in rising]
    assert all(first < second for first, second in pairwise(versions))
    # PEP 440 has it the other way round.
    assert Version("2.12.0+rocm7.15.0a20260728") > Version("2.12.0+rocm10.1.0a20260807")


def test_what_a_local_part_says() -> None:
    local = parse_local("rocm6.4.1.lw.git6fd40786")
    assert local.rocm is not None
    assert local.rocm.version == parse_rocm("6.4.1")
    assert (local.git, local.rest) == ("6fd40786", ("lw",))
    local = parse_local("g2a69949bd.d20260417.rocm713")
    assert local.rocm is not None
    assert (local.git, local.dirty, local.rocm.version) == ("2a69949bd", "20260417", None)
    assert parse_local("cu129").cuda == "cu129"
    assert parse_local("cpu").cpu
    preview = parse_local("rocm7.13.0a20260604").rocm
    assert preview is not None
    assert preview.version is not None
    assert preview.version.is_preview
    assert preview.version == parse_rocm("7.13.0a20260604")


def test_words_without_a_dot_between_them_are_told_apart() -> None:
    local = parse_local("cu12torch2.7cxx11abiTRUE")
    assert (local.cuda, local.torch, local.rest) == ("cu12", "2.7", ("cxx11abitrue",))
    local = parse_local("rocm7.2torch2.13")
    assert local.rocm is not None
    assert (local.rocm.version, local.torch, local.rest) == (parse_rocm("7.2"), "2.13", ())
    assert parse_local("gfx942.norocm7").rest == ("gfx942", "norocm7")


@pytest.mark.parametrize(
    ("local", "readings"),
    [
        ("rocm7", ["7.0"]),
        ("rocm72", ["7.2"]),
        ("rocm702", ["7.0.2"]),
        ("rocm722", ["7.2.2", "7.22"]),
        ("rocm713", ["7.1.3", "7.13"]),
        ("rocm10", ["10.0"]),
        ("rocm101", ["10.1"]),
        ("rocm1011", ["10.1.1", "10.11"]),
        ("rocm713a20260604", ["7.1.3a20260604", "7.13a20260604"]),
        ("rocm", []),
        ("rocm7.2x", []),
        ("rocm6.4.43483", []),
        ("rocm20260417", []),
    ],
)
def test_digits_have_all_the_readings_that_they_can_have(local: str, readings: list[str]) -> None:
    part = parse_local(local).rocm
    assert part is not None
    assert [reading.text for reading in part.readings] == readings
    assert (part.version is not None) == (len(readings) == 1)


@pytest.mark.parametrize(
    ("local", "version"), [("rocm722", "7.2.2"), ("rocm713", "7.13"), ("rocm711", None), ("rocm799", None)]
)
def test_releases_that_exist_settle_a_reading(local: str, version: str | None) -> None:
    part = parse_local(local, RELEASES).rocm
    assert part is not None
    assert part.version == (parse_rocm(version) if version else None)


def test_what_is_not_certain_is_never_newest() -> None:
    rising = ["", "+cu129", "+rocm", "+rocm722", "+rocm6.4", "+rocm7.2.1", "+rocm7.14", "+rocm10"]
    versions = [parse_package_version(f"0.22.1{local}") for local in rising]
    assert all(first < second for first, second in pairwise(versions))
    assert parse_package_version("1+rocm722") != parse_package_version("1+rocm7.2.2")
    settled = [parse_package_version(f"1+rocm{rocm}", RELEASES) for rocm in ("7.2.1", "722", "713", "7.14")]
    assert all(first < second for first, second in pairwise(settled))


def test_a_commit_and_a_day_of_the_same_digits_differ() -> None:
    assert parse_package_version("1+rocm7.2.d20260417") != parse_package_version("1+rocm7.2.g20260417")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("0.22.1+rocm702", "0.22.1+rocm7.0.2"),
        ("1.0+rocm7.2.git6fd40786", "1.0+g6fd40786.rocm7.2"),
        ("1.0+rocm7.2", "1.0+rocm7.2.0"),
        ("1.0+g2a69949bd.d20260417.rocm7.1", "1.0+rocm7.1.d20260417.g2a69949bd"),
        ("1.0+rocm7.1-lw", "1.0+ROCM7.1.LW"),
        ("v1.0", "1.0.0"),
    ],
)
def test_spellings_of_one_version_are_equal_and_still_have_an_order(first: str, second: str) -> None:
    one, other = parse_package_version(first), parse_package_version(second)
    assert one == other
    assert hash(one) == hash(other)
    assert one.order != other.order


@pytest.mark.parametrize(
    ("text", "is_pre"),
    [
        ("2.5.0+rocm5.7.git12345abc", False),
        ("2.10.0a0+git12345abc", True),
        ("3.5.0+gitbbb06c03", False),
        ("2.9.0.dev20251113+rocm7.0", True),
        ("2.12.0+rocm7.15.0a20260728", False),
    ],
)
def test_only_the_public_part_makes_a_pre_release(text: str, is_pre: bool) -> None:
    assert parse_package_version(text).is_prerelease == is_pre


@pytest.mark.parametrize("text", ["latest", "custom-build", "", "1.0+", "1.0+rocm/7", "rocm7.2", "9" * 250])
def test_what_is_no_version_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="no version of a Python package"):
        parse_package_version(text)


SEGMENT = st.one_of(
    st.integers(0, 300).map(str), st.sampled_from(["cu129", "cpu", "lw", "git12345abc", "abc"])
)
ROCM = st.one_of(
    st.tuples(
        st.integers(5, 11),
        st.integers(0, 20),
        st.sampled_from(["", ".0", ".1", "a20260101", "rc1", "torch2.13", "x"]),
    ).map(lambda parts: f"rocm{parts[0]}.{parts[1]}{parts[2]}"),
    st.integers(0, 12000).map(lambda number: f"rocm{number}"),
    st.just("rocm"),
)
PUBLIC = st.tuples(
    st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts))),
    st.sampled_from(["", "a1", "rc9", "rc10", ".post1", ".dev20251113"]),
).map("".join)
PLAIN = st.tuples(PUBLIC, st.lists(SEGMENT, max_size=3)).map(
    lambda parts: parts[0] + (f"+{'.'.join(parts[1])}" if parts[1] else "")
)
WITH_ROCM = st.tuples(PUBLIC, st.lists(SEGMENT, max_size=2), ROCM, st.lists(SEGMENT, max_size=2)).map(
    lambda parts: f"{parts[0]}+{'.'.join([*parts[1], parts[2], *parts[3]])}"
)
ANY = st.one_of(PLAIN, WITH_ROCM, st.sampled_from(ALPHABET))


@given(PLAIN, PLAIN)
def test_where_pep_440_alone_decides_it_does(first: str, second: str) -> None:
    ours = parse_package_version(first), parse_package_version(second)
    theirs = Version(first), Version(second)
    assert (ours[0] < ours[1]) == (theirs[0] < theirs[1])
    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])


@given(ANY, ANY, ANY, st.sampled_from([(), RELEASES]))
def test_the_order_is_total(first: str, second: str, third: str, releases) -> None:
    a, b, c = (parse_package_version(text, releases) for text in (first, second, third))
    assert (a < b) + (a == b) + (b < a) == 1
    if a <= b <= c:
        assert a <= c


@given(st.lists(ANY, max_size=8), st.randoms())
def test_sorting_depends_on_nothing_but_the_versions(texts: list[str], random) -> None:
    shuffled = list(texts)
    random.shuffle(shuffled)
    assert sorted(texts, key=key) == sorted(shuffled, key=key)


@given(ANY)
def test_the_text_is_kept(text: str) -> None:
    assert parse_package_version(text).text == text
