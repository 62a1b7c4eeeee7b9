"""The whole way, for real: resolve, build in the sandbox, prove, compose, run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from harness import Cli, Outcome

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = next((v for v in ("3.11", "3.12", "3.13") if Path(f"/usr/bin/python{v}").exists()), "3.11")

pytestmark = [
    pytest.mark.requires("bwrap", "network", "gcc-11", "g++-11", "clang-19", "ld.lld-19"),
    pytest.mark.xdist_group("first-light"),  # built once, by one worker
]


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A folder in which first-light has been resolved and realized."""
    base = tmp_path_factory.mktemp("first-light")
    cwd = base / "work"
    cwd.mkdir()
    shutil.copytree(ROOT / "examples" / "gfx-probe", base / "gfx-probe")
    text = (ROOT / "manifests/stock/first-light.toml").read_text()
    text = text.replace("../../examples/gfx-probe", "../gfx-probe").replace('"3.11"', f'"{SYSTEM}"')
    (cwd / "rocmlock.toml").write_text(text)
    cli = Cli(cwd, base / "store")
    good(cli("resolve"))
    good(cli("realize"))
    return cli


def good(outcome: Outcome) -> Outcome:
    assert outcome.code == 0, outcome.stderr
    return outcome


def failed(outcome: Outcome, code: int, reference: str) -> str:
    """The text of a failure, which must be the one that is expected and no traceback."""
    assert outcome.code == code, outcome.stdout + outcome.stderr
    assert f"error[{reference}]" in outcome.stderr
    assert "Traceback" not in outcome.stderr.split("log: ")[-1]
    return outcome.stderr


def test_the_environment_runs_and_says_what_the_library_holds(light: Cli) -> None:
    answer = json.loads(good(light("run", "--", "python", "-m", "gfx_probe", "--json")).stdout)
    assert [row["target"] for row in answer["code-objects"]] == ["gfx90a", "gfx942"]
    assert answer["host-compiler"].startswith("GCC 11.")
    modules = "import msgspec._core, setproctitle._setproctitle, einops, packaging, cloudpickle"
    good(light("run", "--", "python", "-c", modules))


def test_what_was_built_was_built_from_source(light: Cli) -> None:
    script = "import msgspec._core as m, setproctitle._setproctitle as s; print(m.__file__, s.__file__)"
    for file in good(light("run", "--", "python", "-c", script)).stdout.split():
        assert b"GCC: (Debian 11" in Path(file).read_bytes() or b" 11." in Path(file).read_bytes()


def test_a_second_time_does_nothing_twice(light: Cli) -> None:
    before = sorted(str(path) for path in light.store.rglob("*"))
    answer = json.loads(good(light("realize", "--json")).stdout)
    assert (answer["built"], answer["fetched"]) == ([], 0)
    assert sorted(str(path) for path in light.store.rglob("*")) == before
    lock = (light.cwd / "rocmlock.lock").read_bytes()
    outcome = good(
        light(
            "resolve",
            env={"UV_DEFAULT_INDEX": "http://127.0.0.1:9", "ROCMLOCK_INDEX_URL": "http://127.0.0.1:9"},
        )
    )
    assert "Unchanged" in outcome.stderr
    assert (light.cwd / "rocmlock.lock").read_bytes() == lock


def test_the_lock_names_no_machine(light: Cli) -> None:
    text = (light.cwd / "rocmlock.lock").read_text()
    assert str(light.cwd.parent) not in text
    assert "://" not in text


def test_the_exit_code_of_a_command_is_its_own(light: Cli) -> None:
    assert light("run", "--", "python", "-c", "raise SystemExit(7)").code == 7
    failed(light("run", "--", "no-such-command"), 1, "command-not-found")


def test_the_hosts_variables_do_not_leak_in(light: Cli, tmp_path: Path) -> None:
    (tmp_path / "einops.py").write_text("raise SystemExit('the wrong einops')")
    good(light("run", "--", "python", "-c", "import einops", env={"PYTHONPATH": str(tmp_path)}))


def test_changing_the_environment_does_not_reach_the_store(light: Cli) -> None:
    script = "import einops, pathlib; pathlib.Path(einops.__file__).write_text('spoilt')"
    good(light("run", "--", "python", "-c", script))
    shutil.rmtree(light.store / "environments")
    failed(light("run", "--", "python", "-c", "import einops"), 1, "not-realized")
    good(light("realize"))
    good(light("run", "--", "python", "-c", "import einops; einops.rearrange"))


def test_the_store_can_be_looked_into(light: Cli) -> None:
    listed = json.loads(good(light("store", "ls", "--json")).stdout)
    assert len(listed["realisations"]) == 3
    info = json.loads(good(light("store", "info", "gfx-probe", "--json")).stdout)
    assert info["derivation"]["gfx"] == ["gfx90a", "gfx942"]
    assert list(info["realisation"]["code_objects"].values()) == [["gfx90a", "gfx942"]]
    key = info["realisation"]["derivation"]
    assert key in good(light("store", "info", key[:10])).stdout
    place = Path(good(light("store", "path", "gfx-probe")).stdout.strip())
    assert [path.name for path in place.iterdir()] == [info["realisation"]["wheel"]]
    log = good(light("store", "log", "gfx-probe")).stdout
    assert "--offload-arch=gfx942" in log
    assert re.search(r"g\+\+-11 .*-ffile-prefix-map=/build", log)
    failed(light("store", "info", "numpy"), 1, "package-not-locked")
    failed(light("store", "path", "0123456789"), 1, "not-realized")


def test_no_output_names_the_place_it_was_built_in(light: Cli) -> None:
    for name in ("gfx-probe", "msgspec", "setproctitle"):
        place = Path(good(light("store", "path", name)).stdout.strip())
        for wheel in place.iterdir():
            shutil.unpack_archive(wheel, light.cwd.parent / "unpacked" / name, "zip")
    for file in (light.cwd.parent / "unpacked").rglob("*.so"):
        assert b"/build/" not in file.read_bytes()
        assert str(light.store).encode() not in file.read_bytes()


def test_questions_about_a_lock(light: Cli) -> None:
    assert "first-light" in good(light("show")).stdout
    assert "gfx-probe" in good(light("tree")).stdout
    assert "msgspec" in good(light("why", "msgspec")).stdout
    assert "the manifest asks for einops>=0.8" in good(light("why", "einops")).stdout
    failed(light("why", "msgspek"), 1, "package-not-locked")
    for command in (
        ["show"],
        ["tree"],
        ["why", "msgspec"],
        ["why", "einops"],
        ["check"],
        ["realize", "--dry-run"],
    ):
        json.loads(good(light(*command, "--json")).stdout)


def test_a_source_that_changed_is_told_before_anything_is_built(light: Cli, tmp_path: Path) -> None:
    work = tmp_path / "work"
    shutil.copytree(light.cwd, work)
    shutil.copytree(light.cwd.parent / "gfx-probe", tmp_path / "gfx-probe")
    with (tmp_path / "gfx-probe/src/gfx_probe/kernels.hip").open("a") as file:
        file.write("// changed\n")
    failed(light("realize", cwd=work), 4, "source-changed")
    good(light("resolve", cwd=work))
    answer = json.loads(good(light("realize", "--json", cwd=work)).stdout)
    assert answer["built"] == ["gfx-probe"]


def test_damage_in_the_store_is_found_and_not_used(light: Cli, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(light.store, store, symlinks=True)
    shutil.rmtree(store / "environments")
    (store / "environments").mkdir()
    info = json.loads(good(light("store", "info", "gfx-probe", "--json", "--store", store)).stdout)
    digest = info["realisation"]["wheel_digest"]
    blob = store / "blobs" / digest[:2] / digest
    content = bytearray(blob.read_bytes())
    content[100] ^= 1
    blob.chmod(0o644)
    blob.write_bytes(content)
    assert str(blob) in failed(light("realize", "--store", store), 6, "store-corrupt")
    assert list((store / "environments").iterdir()) == []
