"""The bundled facts: the stock ones by hand, and what must hold for all."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from resolver_samples import snapshot

from rocmlock.errors import RocmlockError
from rocmlock.resolver import catalog as facts
from rocmlock.resolver.snapshot import BUNDLED, read_snapshot

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"


def find(version: str, variant: str = "rocm_base") -> facts.TestedSet:
    sets = snapshot().tested_sets("vllm")
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
    assert ("pytorch", "==2.9.1", "torchvision v0.24.1") in stated


def test_what_cannot_be_expanded_stays_unknown() -> None:
    pytorch = pins(find("0.28.0"))["pytorch"]
    assert (pytorch.asked, pytorch.commit) == ("6bbd260", None)
    assert pins(find("0.33.0"))["pytorch"].wheel == "2.13.0+rocm10.0.0"
    older = find("0.13.0")
    assert older.rocm is not None
    assert older.rocm.value == "7.1"
    assert pins(older)["pytorch"].commit == "1c57644d4cb3aff84642e1326d88681a656507ce"


def test_the_sets_with_full_commits_are_those_that_the_data_can_expand() -> None:
    full = [
        each.release.version
        for each in snapshot().tested_sets("vllm")
        if each.release.commit and all((p := pins(each).get(n)) and p.commit for n in ("pytorch", "triton"))
    ]
    assert full == [
        *(
            "0.27.1",
            "0.27.0",
            "0.26.1rc0",
            "0.26.0",
            "0.26.0rc1",
            "0.25.1",
            "0.25.0",
            "0.25.0rc3",
            "0.25.0rc2",
        ),
        *("0.25.0rc1", "0.24.0", "0.24.0rc2", "0.24.0rc1", "0.23.1rc0", "0.14.0rc0", "0.13.0", "0.13.0rc4"),
        *("0.13.0rc3", "0.13.0rc2", "0.13.0rc1", "0.12.0", "0.11.2", "0.11.1", "0.11.1rc7", "0.11.1rc6"),
        *("0.11.1rc5", "0.11.1rc4", "0.11.1rc3", "0.11.1rc2"),
    ]


def origins(tested: facts.TestedSet) -> list[facts.Origin]:
    found = [pin.origin for pin in tested.pins]
    found += [pin.commit_origin for pin in tested.pins if pin.commit_origin]
    found += [statement.origin for statement in tested.statements]
    return found + [line.origin for line in (*(tested.requires_run or ()), *(tested.requires_build or ()))]


@pytest.mark.parametrize("top", ["vllm", "pytorch", "triton"])
def test_what_holds_for_every_set(top: str) -> None:
    sets = snapshot().tested_sets(top)
    assert len(sets) >= 13
    for tested in sets:
        for commit in [tested.release.commit, *(pin.commit for pin in tested.pins)]:
            assert commit is None or re.fullmatch(r"[0-9a-f]{40}", commit)
        for origin in origins(tested):
            assert origin.where
            assert origin.path or not origin.line
            assert origin.evidence in {"stated", "inferred"}
            assert "://" not in str(origin)
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


def test_damaged_files_are_told(tmp_path: Path) -> None:
    text = BUNDLED.read_text()
    whole = json.loads(text)
    broken = [text[: len(text) // 2], "{}", "[]", json.dumps({**whole, "format": 2})]
    for number, content in enumerate(broken):
        path = tmp_path / f"{number}.json"
        path.write_text(content)
        with pytest.raises(RocmlockError) as raised:
            read_snapshot(path)
        assert raised.value.reason.reference == "snapshot-invalid"
    with pytest.raises(RocmlockError):
        read_snapshot(tmp_path / "none.json")


def test_a_damaged_part_is_told_when_it_is_read(tmp_path: Path) -> None:
    whole = json.loads(BUNDLED.read_text())
    whole["sets"]["vllm"][3].pop("pins")
    whole["rocm"][0] = ["7"]
    (tmp_path / "s.json").write_text(json.dumps(whole))
    catalog = read_snapshot(tmp_path / "s.json")
    for read in (lambda: catalog.tested_sets("vllm"), catalog.rocm_releases):
        with pytest.raises(RocmlockError) as raised:
            read()
        assert raised.value.reason.reference == "snapshot-invalid"
