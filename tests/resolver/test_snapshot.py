"""The bundled facts: the stock ones by hand, and what must hold for all."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version
from resolver_samples import all_sets, snapshot, snapshot_sets

from rocmlock.errors import RocmlockError
from rocmlock.resolver import catalog as facts
from rocmlock.resolver.snapshot import BUNDLED, read_snapshot

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"


def find(version: str, variant: str = "rocm_base") -> facts.TestedSet:
    sets = snapshot_sets("vllm")
    return next(each for each in sets if (each.release.version, each.variant) == (version, variant))


def pins(tested: facts.TestedSet) -> dict[str, facts.Pin]:
    return {pin.package: pin for pin in tested.pins}


def test_the_stock_set_says_what_upstream_says() -> None:
    tested = find("0.27.1")
    where = "vllm@6e448d0ea9bf3d88d898b65449ca6dc2aec170ac"
    assert tested.release.commit == "6e448d0ea9bf3d88d898b65449ca6dc2aec170ac"
    assert tested.rocm is not None
    assert (tested.rocm.value, tested.rocm.origin.line) == ("7.2.3", 1)
    triton, pytorch = pins(tested)["triton"], pins(tested)["pytorch"]
    assert (triton.repository, triton.asked) == ("ROCm/triton", "0f380657")
    assert triton.commit == "0f380657dbf3ee86eb57558ff71df24f03b5d4e7"
    assert str(triton.origin) == f"{where}:docker/Dockerfile.rocm_base:2"
    (pick,) = triton.picks
    assert pick.commit == "555d04f90770d38723afcb505923e0a14a8c3d21"
    assert pick.origin.line == 120
    assert pytorch.commit == "d0c8b1f364ecacff4dd8bc06a645d0fb9324cd37"
    assert str(pytorch.origin) == f"{where}:docker/Dockerfile.rocm_base:4"
    assert pytorch.version is not None
    assert (pytorch.version.value, pytorch.version.origin.evidence) == ("2.11.0", "inferred")
    stated = {(s.package, s.specifier, str(s.origin)) for s in tested.statements}
    assert ("pytorch", "==2.13.0", f"{where}:CMakeLists.txt:72") in stated


def test_what_cannot_be_expanded_stays_unknown() -> None:
    pytorch = pins(find("0.28.0"))["pytorch"]
    assert (pytorch.asked, pytorch.commit) == ("6bbd260", None)
    assert pins(find("0.33.0"))["pytorch"].wheel == "2.13.0+rocm10.0.0"
    older = find("0.13.0")
    assert older.rocm is not None
    assert older.rocm.value == "7.1"
    assert pins(older)["pytorch"].commit == "1c57644d4cb3aff84642e1326d88681a656507ce"


def test_a_commit_of_another_repository_is_not_taken() -> None:
    # b7d29fb is known as a commit of Dao-AILab/flash-attention; vLLM 0.8 asks ROCm/flash-attention for it.
    flash = pins(find("0.8.2"))["flash-attention"]
    assert (flash.repository, flash.asked, flash.commit) == ("ROCm/flash-attention", "b7d29fb", None)


def test_a_full_commit_stands_for_itself() -> None:
    mori = pins(find("0.29.0", "rock_base"))["mori"]
    assert mori.commit == mori.asked == "f95cd5e0ca7b730f92f9ffdfb358484d6965d9f7"
    assert mori.commit_origin is None


def test_tags_and_versions_of_pins() -> None:
    stock, newest = pins(find("0.27.1")), pins(find("0.28.0"))
    vision, kernels, mori = stock["torchvision"], stock["aiter"], stock["mori"]
    assert (vision.tag, vision.commit) == ("v0.24.1", "d801a34632023859a0a274803d6abaf0a45d77a5")
    assert kernels.commit == "31350226161346314b3d8882c8085bd31dce6a34"
    assert (mori.tag, mori.commit) == (None, None)
    told = {pin: pin.version and (pin.version.value, pin.version.origin.evidence) for pin in stock.values()}
    assert told[vision] == ("0.24.1", "stated")
    assert told[kernels] == ("0.1.19", "stated")
    assert told[mori] == ("1.1.0", "inferred")
    assert told[stock["triton"]] == ("3.6.0", "inferred")
    rough = newest["pytorch"].version
    assert rough is not None
    assert (rough.value, rough.origin.evidence) == ("2.12", "inferred")


def test_who_expanded_a_commit_and_how_sure_that_is() -> None:
    stock = find("0.27.1")
    assert stock.release.origin.evidence == "inferred"  # the sdist gives 9 digits, a text the rest
    triton, flash = pins(stock)["triton"], pins(stock)["flash-attention"]
    assert triton.commit_origin is not None
    assert triton.commit_origin.evidence == "inferred"
    assert flash.commit_origin is not None
    assert flash.commit_origin.evidence == "stated"
    (pick,) = triton.picks
    assert pick.commit_origin is not None
    assert pick.commit_origin.evidence == "stated"
    assert [pick.asked for pick in pins(find("0.22.0"))["triton"].picks] == ["555d04f", "dd998b6"]


def test_every_tested_set_is_there_and_the_newest_first() -> None:
    rows = [(each.release.version, each.variant) for each in snapshot_sets("vllm")]
    assert rows[:4] == [
        ("0.33.0", "rocm_base"),
        ("0.33.0", "rocm_72_base"),
        ("0.32.0", "rocm_base"),
        ("0.32.0", "rock_base"),
    ]
    assert len(rows) == len(set(rows)) == 160
    versions = [Version(version) for version, _ in rows]
    assert versions == sorted(versions, reverse=True)
    assert snapshot().candidates("no-such") == ()


def test_what_was_not_read_is_told() -> None:
    assert find("0.27.1").unread == ()
    assert find("0.26.0rc1").unread == (
        "the RUN lines of docker/Dockerfile.rocm_base",
        "the requirement files",
    )
    assert "2d73be3" in "".join(find("0.20.0").unread)
    old = find("0.6.3", "rocm")
    assert old.pins == ()
    assert old.unread


def full_commits(tested: facts.TestedSet) -> bool:
    """As with pytorch, triton and vllm asked for."""
    members = [pins(tested).get(name) for name in ("pytorch", "triton")]
    picks = [pick for member in members if member for pick in member.picks]
    return all([tested.release.commit, *(member and member.commit for member in members)]) and all(
        pick.commit for pick in picks
    )


def test_the_sets_with_full_commits_are_those_that_the_data_names() -> None:
    """v0.23.1rc0 to v0.27.1 (ROCm 7.2.3) and v0.11.1rc2 to v0.14.0rc0 (ROCm 7.0 and 7.1), and no others."""

    def expected(tested: facts.TestedSet) -> bool:
        version, rocm = Version(tested.release.version), tested.rocm.value if tested.rocm else ""
        return (Version("0.23.1rc0") <= version <= Version("0.27.1") and rocm == "7.2.3") or (
            Version("0.11.1rc2") <= version <= Version("0.14.0rc0") and rocm in {"7.0", "7.1"}
        )

    sets = snapshot_sets("vllm")
    assert [each.release.tag for each in sets if full_commits(each)] == [
        each.release.tag for each in sets if expected(each)
    ]
    assert sum(map(full_commits, sets)) == 29


def test_requirement_lines_have_their_place() -> None:
    tested = find("0.27.1")
    run = {line.text: line.origin for line in tested.requires_run or ()}
    build = {line.text: line.origin for line in tested.requires_build or ()}
    assert run["tilelang==0.1.10"].path == "requirements/rocm.txt"
    assert any(";" in text for text in run)
    assert any(at.path == "requirements/common.txt" for at in run.values())
    assert str(build["torch==2.11.0"]).endswith(":requirements/build/rocm.txt:6")
    assert str(build["ninja"]).endswith(":pyproject.toml:5")
    assert not any(at.path == "requirements/common.txt" for at in build.values())
    assert "torch==2.13.0" not in build


def test_limits_of_the_package_itself() -> None:
    tested = find("0.27.1")
    assert tested.gfx[:3] == ("gfx90a", "gfx942", "gfx950")
    assert (tested.supported_gfx[0], tested.supported_gfx[-1]) == ("gfx906", "gfx1250")
    assert tested.supported_python == ("3.10", "3.11", "3.12", "3.13", "3.14")
    assert tested.cxx_standard is not None
    assert tested.python is not None
    places = [tested.supported_gfx_origin, tested.supported_python_origin, tested.cxx_standard.origin]
    assert [place and (place.path, place.line) for place in places] == [
        ("CMakeLists.txt", 52),
        ("CMakeLists.txt", 49),
        ("CMakeLists.txt", 16),
    ]
    assert (tested.python.value, tested.python.origin.line) == ("3.12", 38)


def test_pytorch_pins_its_own_triton() -> None:
    sets = {(each.release.tag, each.variant): each for each in snapshot_sets("pytorch")}
    stated, inferred = sets["v2.13.0", "rocm7.2"], sets["v2.11.0", "rocm7.2"]
    # Not Triton's tag v3.7.1, though it is the same version.
    assert pins(stated)["triton"].commit == "5d6048aa0a324e090ada215b609ea76620133845"
    assert [pins(each)["triton"].origin.evidence for each in (stated, inferred)] == ["stated", "inferred"]
    assert pins(stated)["torchvision"].tag == "v0.28.0"
    assert "gfx942" in stated.gfx
    assert "3.14t" not in stated.supported_python
    assert sets["v2.14.0", "rocm7.2"].release.commit == "08187d9e0fba026dc8217405802ab5381dc88d90"
    assert pins(sets["v2.14.0", "rocm7.2"])["triton"].commit is None


def test_commits_that_are_pinned_without_a_tag() -> None:
    def known(asked: str) -> facts.KnownCommit:
        return snapshot().commit("ROCm/triton", asked)

    assert known("0f380657").branch == "release/internal/3.6.x"
    assert known("0263a6a6").commit is None
    whole = "4cff872ced001ea92d9fcf05b3f6517e2b486d19"
    assert known(whole).commit == whole
    assert snapshot().commit("no/such", "abc").commit is None


def origins(tested: facts.TestedSet) -> list[facts.Origin]:
    found = [pin.origin for pin in tested.pins]
    found += [pin.commit_origin for pin in tested.pins if pin.commit_origin]
    found += [pin.version.origin for pin in tested.pins if pin.version]
    found += [pick.origin for pin in tested.pins for pick in pin.picks]
    found += [fact.origin for fact in (tested.rocm, tested.python, tested.cxx_standard) if fact]
    found += [statement.origin for statement in tested.statements]
    return found + [line.origin for line in (*(tested.requires_run or ()), *(tested.requires_build or ()))]


@pytest.mark.parametrize("top", ["vllm", "pytorch", "triton"])
def test_what_holds_for_every_set(top: str) -> None:
    sets = snapshot_sets(top)
    assert len(sets) >= 13
    for tested in sets:
        for commit in [tested.release.commit, *(pin.commit for pin in tested.pins)]:
            assert commit is None or re.fullmatch(r"[0-9a-f]{40}", commit)
        for origin in origins(tested):
            assert origin.where
            assert origin.path or not origin.line
            assert origin.evidence in {"stated", "inferred"}
            assert "://" not in str(origin)
            assert not re.search(r"\.(org|com|io)\b", str(origin))
            if origin.path and not tested.unread:
                assert origin.line, origin
        if not tested.unread and top == "vllm":
            assert tested.requires_run


def test_the_facts_are_dated_and_cover_the_repositories() -> None:
    catalog = snapshot()
    assert catalog.dated == date(2026, 12, 1)
    for repository in (
        "pytorch/pytorch",
        "triton-lang/triton",
        "vllm-project/vllm",
        "ROCm/aiter",
        "pytorch/vision",
    ):
        assert catalog.releases(repository)
    assert catalog.releases("no/such") == ()
    rocm = {release.version: release for release in catalog.rocm_releases()}
    assert "gfx942" in rocm["7.2.3"].gfx
    assert [release.version for release in catalog.rocm_releases()][:2] == ["10.0.0", "7.14.0"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the collected data is not beside the checkout")
def test_the_snapshot_is_what_the_data_gives() -> None:
    from tools.snapshot.__main__ import make_snapshot, render_snapshot

    assert render_snapshot(make_snapshot(SHARED, date(2026, 12, 1))) == BUNDLED.read_text()


def test_a_file_that_is_no_snapshot_is_refused(tmp_path: Path) -> None:
    text = BUNDLED.read_text()
    whole = json.loads(text)
    broken = [text[: len(text) // 2], "{}", "[]", "[" * 100_000, "\0", json.dumps({**whole, "format": 2})]
    broken += [json.dumps({name: whole[name] for name in whole if name != gone}) for gone in whole]
    for number, content in enumerate(broken):
        path = tmp_path / f"{number}.json"
        path.write_text(content)
        with pytest.raises(RocmlockError) as raised:
            read_snapshot(path)
        assert raised.value.reason.reference == "snapshot-invalid"
    with pytest.raises(RocmlockError) as raised:
        read_snapshot(tmp_path / "none.json")
    assert raised.value.reason.reference == "snapshot-invalid"


def damage(data: dict[str, Any], place: list[Any], value: Any) -> None:
    for step in place[:-1]:
        data = data[step]
    data[place[-1]] = value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["sets", "vllm", 3, "pins"], None),
        (["sets", "vllm", 3, "pins", 0], ["pytorch"]),
        (["sets", "vllm", 3, "tag"], "v0.0.0"),
        (["sets", "vllm", 3], []),
        (["sets", "vllm"], {"a": 1}),
        (["sets", "vllm", 0, "requires-run", "requirements/rocm.txt"], ["no-number"]),
        (["sets", "vllm", 0, "statements"], [["pytorch", "==1", ["words", "certain"]]]),
        (["releases", "vllm-project/vllm", 4, 2], "6e448d0"),
        (["releases", "vllm-project/vllm", 4, 3], "yesterday"),
        (["releases", "vllm-project/vllm"], [1]),
        (["commits", "ROCm/triton", 1, 1], "0F380657"),
        (["rocm", 0], ["7"]),
        (["dated"], "yesterday"),
    ],
)
def test_a_damaged_part_is_told_when_it_is_read(tmp_path: Path, place: list[Any], value: Any) -> None:
    data = json.loads(BUNDLED.read_text())
    damage(data, place, value)
    (tmp_path / "s.json").write_text(json.dumps(data))
    catalog = read_snapshot(tmp_path / "s.json")
    with pytest.raises(RocmlockError) as raised:
        _ = (all_sets(catalog, "vllm"), catalog.rocm_releases(), catalog.dated)
    assert raised.value.reason.reference == "snapshot-invalid"
