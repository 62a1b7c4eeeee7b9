"""Tags: which are versions, which are variants of one, which are neither."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from packaging.version import Version

from rocmlock.versions.tags import check_pattern, parse_tag

DATA = Path(__file__).resolve().parents[3] / "shared/data/releases.json"
SNAPSHOT = Path(__file__).resolve().parents[2] / "resolver/data/snapshot.json"
BUNDLED_RELEASES = json.loads(SNAPSHOT.read_text())["releases"]


@pytest.mark.parametrize(
    ("tag", "version", "variant"),
    [
        ("v0.11.1rc3", "0.11.1rc3", ""),
        ("v0.27.1", "0.27.1", ""),
        ("v.3.4.0", "3.4.0", ""),
        ("0.41.0", "0.41.0", ""),
        ("v0.1.12.post2", "0.1.12.post2", ""),
        ("v0.5.4-rocm", "0.5.4", "rocm"),
        ("v0.5.4rc4-rocm", "0.5.4rc4", "rocm"),
        ("v0.5.4-cu129", "0.5.4", "cu129"),
        ("v0.9.1+rocm", "0.9.1+rocm", ""),
        ("v0.6.1_rocm", "0.6.1", "rocm"),
        ("v0.5.4-b200", "0.5.4", "b200"),
        ("v0.1.17-longctx", "0.1.17", "longctx"),
        ("v2.5.9post1-cktile-vllm", "2.5.9post1", "cktile-vllm"),
        ("v3.0.0.r1-cktile", "3.0.0.r1", "cktile"),
        ("v0.1.17-rc0", "0.1.17-rc0", ""),
        ("0.7preview2", "0.7preview2", ""),
        ("0.11.210b", "0.11.210", ""),
        ("v2.8.0-cktile", "2.8.0", "cktile"),
    ],
)
def test_a_tag_is_a_version_and_a_variant(tag: str, version: str, variant: str) -> None:
    found = parse_tag(tag)
    assert found is not None
    assert (found.version, found.variant) == (version, variant)


@pytest.mark.parametrize(
    "tag",
    [
        "proto-v0.3.0",
        "ciflow/trunk/1",
        "vtest",
        "vllm-x-cu134-beta-abc",
        "release/2.11",
        "",
        "rocm-test-09212024",
        "fa4-v4.0.0.beta27",
        "archive/0.1.7.post2.variant",
        "legal-scan",
        "v1." + "1" * 250,
    ],
)
def test_a_tag_that_is_no_version_is_passed_over(tag: str) -> None:
    assert parse_tag(tag) is None


def test_a_variant_is_no_pre_release() -> None:
    found = [parse_tag(tag) for tag in ("v0.5.4-rocm", "v0.5.4rc4-rocm", "v0.1.17-rc0", "0.10b")]
    assert [each and each.is_prerelease for each in found] == [False, True, True, False]


def test_a_projects_own_pattern() -> None:
    rocm = re.compile(r"rocm-(?P<version>\d+\.\d+\.\d+)")
    found = parse_tag("rocm-7.0.2", rocm)
    assert found is not None
    assert found.version == "7.0.2"
    assert parse_tag("v7.0.2", rocm) is None
    # AOTriton's letter says which line of releases it is: 0.10b is no beta.
    aotriton = re.compile(r"(?P<version>\d+\.\d+(?:\.\d+)?)(?P<variant>b|tp\d*)")
    found = parse_tag("0.10b", aotriton)
    assert found is not None
    assert (found.version, found.variant, found.is_prerelease) == ("0.10", "b", False)
    assert parse_tag("0.12.50tp2", aotriton) is not None
    # A group that took no part names no version.
    assert parse_tag("nightly", re.compile(r"v(?P<version>.*)|nightly")) is None


def test_a_pattern_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        check_pattern("v(?P<version>")
    with pytest.raises(ValueError, match="no group"):
        check_pattern(r"v(\d+)")


@pytest.mark.parametrize("repository", sorted(BUNDLED_RELEASES))
def test_the_snapshot_has_the_same_version_for_a_tag(repository: str) -> None:
    """A live answer and the snapshot are of one world; AOTriton's letter is all that the snapshot keeps."""
    for tag, version, *_ in BUNDLED_RELEASES[repository]:
        found = parse_tag(tag)
        if version and not tag.startswith("fa4-"):
            assert found is not None, tag
            assert Version(found.version) == Version(version.removesuffix("b")), tag


# What the default reads nothing in, of every repository of the facts.
PASSED_OVER = re.compile(r"archive/.*|fa4-.*|FAv3-.*|rocm-.*|tutorial_hello_world|legal-scan|.*tp[0-9]?")


@pytest.mark.skipif(not DATA.exists(), reason="the collected facts are not beside the checkout")
def test_every_tag_of_the_facts_is_read_or_passed_over() -> None:
    repositories = json.loads(DATA.read_text())["repositories"]
    tags = {
        row["tag"]
        for entry in repositories.values()
        for row in (entry if isinstance(entry, list) else entry.get("tags", []))
    }
    assert len(tags) > 500
    assert {tag for tag in tags if parse_tag(tag) is None} == {
        tag for tag in tags if PASSED_OVER.fullmatch(tag)
    }
