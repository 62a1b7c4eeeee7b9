"""Manifests: every fault at once, each with its place and what to write instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from rocmlock.errors import Problem, RocmlockError
from rocmlock.manifests.loader import parse_manifest, read_manifest
from rocmlock.manifests.ranges import is_impossible
from rocmlock.manifests.schema import Manifest
from rocmlock.manifests.template import render_template

KNOWN = ("pytorch", "torchvision", "triton", "vllm")
GOOD = """\
schema = 1
name = "stack"

[target]
gfx = ["gfx942"]
rocm = ">=7.0,<7.3"
python = "3.12"

[toolchain]
host = { gcc = "11" }

[packages]
vllm = ">=0.20"
"""


def parse(text: str) -> Manifest:
    return parse_manifest(text, "m.toml", KNOWN)


def faults(text: str) -> dict[tuple[int, int], Problem]:
    """Problems of an invalid manifest by line and column."""
    with pytest.raises(RocmlockError) as raised:
        parse(text)
    assert raised.value.reason.reference == "manifest-invalid"
    return {(p.place.line, p.place.column): p for p in raised.value.problems if p.place}


def reference(text: str) -> str:
    with pytest.raises(RocmlockError) as raised:
        parse(text)
    return raised.value.reason.reference


def test_a_good_manifest_has_its_defaults() -> None:
    manifest = parse(GOOD)
    assert manifest.toolchain.device == "rocm"
    assert manifest.system.base == "host"
    assert manifest.flags.opt_level == "O3"
    assert manifest.resolve.strategy == "tested"
    assert manifest.packages["vllm"].version == ">=0.20"


def test_every_fault_is_told_at_once_with_its_place() -> None:
    found = faults(
        'schema = 1\nname = "x"\n[target]\ngfx = ["gfx942", "gfx943"]\nrocm = "=>7"\npyton = "3.12"\n'
        '[toolchain]\nhost = { gcc = 11 }\n[packages]\nvlm = "*"\n'
    )
    assert set(found) == {(3, 2), (4, 18), (5, 1), (6, 1), (8, 10), (10, 1)}
    assert "'python'" in found[3, 2].message
    assert found[4, 18].hint == "did you mean 'gfx942'?"
    assert '">=7"' in found[5, 1].message
    assert found[6, 1].hint == "did you mean 'python'?"
    assert "'vllm'" in found[10, 1].hint


def test_gfx000_is_told_what_it_is() -> None:
    (problem,) = faults(GOOD.replace("gfx942", "gfx000")).values()
    assert "no GPU" in problem.message


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("schema = 1", "schema = 1\nnam = 1", (2, 1)),
        ('gfx = ["gfx942"]', 'gfx = "gfx942"', (5, 1)),
        ('gfx = ["gfx942"]', "gfx = []", (5, 1)),
        ('gfx = ["gfx942"]', 'gfx = ["gfx942", "gfx942"]', (5, 1)),
        ('python = "3.12"', 'python = "3"', (7, 1)),
        ('{ gcc = "11" }', '{ gcc = "11", clang = "15" }', (10, 1)),
        ('{ gcc = "11" }', '{ clang = "15" }', (10, 1)),
        ('rocm = ">=7.0,<7.3"', 'rocm = ">=7.3,<7.0"', (6, 1)),
        ('vllm = ">=0.20"', "vllm = 3", (13, 1)),
        ('vllm = ">=0.20"', 'vllm = { version = "*", path = "x" }', (13, 1)),
        ('vllm = ">=0.20"', 'vllm = { git = "https://x.org/y" }', (13, 1)),
        ('vllm = ">=0.20"', 'vllm = { git = "https://me:secret@x.org/y", rev = "main" }', (13, 10)),
        ('vllm = ">=0.20"', 'vllm = "*"\nVLLM = "*"', (13, 1)),
        ('vllm = ">=0.20"', 'vllm = "*"\n[flags.vllm]\nenv = { MAX_JOBS = "3" }', (14, 2)),
        ('vllm = ">=0.20"', 'vllm = "*"\n[flags.vlm]\nenv = { A = "3" }', (14, 2)),
        ('vllm = ">=0.20"', 'vllm = "*"\n[resolve]\nstrategy = "best"', (15, 1)),
        ('vllm = ">=0.20"', 'vllm = "*"\n[resolve]\nreleased-before = "2026-01-01"', (15, 1)),
        ('vllm = ">=0.20"', 'vllm = "*"\n[python]\nrequires = ["a b c"]', (15, 13)),
    ],
)
def test_a_fault_stands_where_it_is(old: str, new: str, place: tuple[int, int]) -> None:
    assert old in GOOD
    assert place in faults(GOOD.replace(old, new))


def test_no_secret_is_repeated() -> None:
    found = faults(GOOD.replace('">=0.20"', '{ git = "https://me:hunter2@x.org/y", rev = "main" }'))
    assert not any("hunter2" in problem.message + problem.hint for problem in found.values())


def test_rocm_goes_with_its_compiler() -> None:
    assert faults(GOOD.replace('rocm = ">=7.0,<7.3"\n', ""))
    assert faults(GOOD.replace('{ gcc = "11" }', '{ gcc = "11" }\ndevice = { clang = "19" }'))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("schema = [", "manifest-syntax"),
        ("<<<<<<< HEAD\nschema = 1\n", "manifest-syntax"),
        (GOOD.replace("schema = 1", "schema = 2"), "manifest-unsupported"),
        ("version = 1\n[[package]]\nname = 'x'\n", "manifest-invalid"),
    ],
)
def test_what_is_no_manifest(text: str, expected: str) -> None:
    assert reference(text) == expected


def test_a_syntax_error_has_a_place() -> None:
    with pytest.raises(RocmlockError) as raised:
        parse("schema = 1\nname = \n")
    (problem,) = raised.value.problems
    assert str(problem.place) == "m.toml:2:8"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, expected in (
        (tmp_path / "none.toml", "manifest-missing"),
        (tmp_path, "manifest-missing"),
    ):
        with pytest.raises(RocmlockError) as raised:
            read_manifest(path, KNOWN)
        assert raised.value.reason.reference == expected
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(RocmlockError) as raised:
        read_manifest(tmp_path / "latin.toml", KNOWN)
    assert raised.value.reason.reference == "manifest-syntax"


def test_the_template_and_the_examples_in_it_parse() -> None:
    text = render_template("my-stack")
    assert parse(text).name == "my-stack"
    on = re.sub(r"^# (?=[a-z\[].* = |\[flags)", "", text, flags=re.MULTILINE).replace("<commit>", "a" * 40)
    assert {"our-kernels", "flash-attention", "msgspec"} <= set(parse(on).packages)


@pytest.mark.parametrize("text", [">=3,<2", "==1.0,==2.0", ">1.0,<1.0", ">=2,!=2,<=2", "<0", "==1.0,!=1.0"])
def test_impossible_ranges(text: str) -> None:
    assert is_impossible(SpecifierSet(text))


GRID = [f"{a}.{b}" for a in range(4) for b in range(4)]
CLAUSE = st.builds(
    lambda operator, version: f"{operator}{version}",
    st.sampled_from([">=", "<=", ">", "<", "==", "!=", "~="]),
    st.sampled_from(GRID),
)


@given(st.lists(CLAUSE, min_size=1, max_size=4))
def test_a_range_with_a_version_in_it_is_possible(clauses: list[str]) -> None:
    specifier = SpecifierSet(",".join(clauses))
    fine = [f"{version}{tail}" for version in GRID for tail in ("", ".1", ".99", ".post1")]
    if any(specifier.contains(version) for version in [*fine, "9.9"]):
        assert not is_impossible(specifier)


@given(st.lists(CLAUSE, min_size=1, max_size=4))
def test_an_impossible_range_holds_nothing(clauses: list[str]) -> None:
    specifier = SpecifierSet(",".join(clauses))
    if is_impossible(specifier):
        versions = [f"{a}.{b}.{c}" for a in range(6) for b in range(6) for c in range(3)]
        assert not any(specifier.contains(version, prereleases=True) for version in versions)


NAME = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)


@given(
    name=NAME,
    gfx=st.lists(st.sampled_from(["gfx90a", "gfx942:xnack-", "gfx1100"]), min_size=1, unique=True),
    packages=st.dictionaries(NAME, st.sampled_from(["./a", "../b c"]), min_size=1, max_size=4),
    environment=st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.text(max_size=8)),
)
def test_values_survive_the_file(
    name: str, gfx: list[str], packages: dict[str, str], environment: dict[str, str]
) -> None:
    import tomli_w

    first = next(iter(packages))
    environment = {key: value for key, value in environment.items() if key != "MAKEFLAGS"}
    document = {
        "schema": 1,
        "name": name,
        "target": {"gfx": gfx, "python": "3.12"},
        "toolchain": {"host": {"clang": "15", "gcc-install": "11"}, "device": {"clang": "19"}},
        "packages": {package: {"path": path} for package, path in packages.items()},
        "flags": {first: {"env": environment}, "opt-level": "O2"} if first != "packages" else {},
    }
    manifest = parse(tomli_w.dumps(document))
    assert manifest.name == name
    assert manifest.target.named["default"].gfx == gfx
    assert {package: table.path for package, table in manifest.packages.items()} == packages
    if first != "packages":
        assert manifest.flags.packages[first].env == environment


@pytest.mark.parametrize(
    "url",
    [
        "https://ghp_secret@github.com/org/x",
        "https://me:hunter2@github.com/org/x",
        "https://${GITHUB_TOKEN}@github.com/org/x",
    ],
)
def test_a_url_with_credentials_is_refused_and_not_stripped(url: str) -> None:
    text = GOOD.replace("[packages]", f'[packages]\nown = {{ git = "{url}", rev = "main" }}')
    with pytest.raises(RocmlockError) as raised:
        parse_manifest(text, "m.toml", KNOWN)
    (problem,) = raised.value.problems
    assert "no user names, passwords or tokens" in problem.message
    assert "secret" not in problem.message
    assert "hunter2" not in problem.message


@pytest.mark.parametrize(
    "url", ["git@github.com:org/x", "ssh://git@github.com/org/x", "https://ghe.example:8443/o/r"]
)
def test_other_spellings_of_a_git_url_are_taken_as_they_are(url: str) -> None:
    text = GOOD.replace("[packages]", f'[packages]\nown = {{ git = "{url}", rev = "main" }}')
    assert parse_manifest(text, "m.toml", KNOWN).packages["own"].git == url
