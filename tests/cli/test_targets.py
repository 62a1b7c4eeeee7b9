"""Two targets in one lock, the whole way: resolve, look, build for each, run each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from harness import Cli, Outcome

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = next((v for v in ("3.11", "3.12", "3.13") if Path(f"/usr/bin/python{v}").exists()), "3.11")
MANIFEST = f"""\
schema = 1
name = "two"

[target]
python = "{SYSTEM}"

[target.mi300x]
gfx = ["gfx942"]

[target.mi250]
gfx = ["gfx90a"]

[toolchain]
host = {{ gcc = "11" }}
device = {{ clang = "19" }}

[packages]
gfx-probe = {{ path = "../gfx-probe" }}

[python]
requires = ["packaging>=24.2"]
"""

pytestmark = [
    pytest.mark.requires("bwrap", "network", "gcc-11", "g++-11", "clang-19", "ld.lld-19"),
    pytest.mark.xdist_group("targets"),  # built once, by one worker
]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A folder in which a manifest of two targets has been resolved, and realized for both."""
    base = tmp_path_factory.mktemp("targets")
    cwd = base / "work"
    cwd.mkdir()
    shutil.copytree(ROOT / "examples" / "gfx-probe", base / "gfx-probe")
    (cwd / "rocmlock.toml").write_text(MANIFEST)
    cli = Cli(cwd, base / "store")
    good(cli("resolve"))
    failed(cli("realize"), 2, "target-unknown")
    assert not list((base / "store").glob("realisations/*"))
    good(cli("realize", "--target", "mi250"))
    assert "try: rocmlock realize --target mi300x" in failed(
        cli("run", "--target", "mi300x", "--", "true"), 1, "not-realized"
    )
    good(cli("realize", env={"ROCMLOCK_TARGET": "mi300x"}))
    return cli


def good(outcome: Outcome) -> Outcome:
    assert outcome.code == 0, outcome.stderr
    return outcome


def failed(outcome: Outcome, code: int, reference: str) -> str:
    assert outcome.code == code, outcome.stdout + outcome.stderr
    assert f"error[{reference}]" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    return outcome.stderr


def run_probe(two: Cli, *options: str, **env: str) -> list[str]:
    answer = json.loads(
        good(two("run", *options, "--", "python", "-m", "gfx_probe", "--json", env=env)).stdout
    )
    return [row["target"] for row in answer["code-objects"]]


def test_each_target_runs_what_was_built_for_it(two: Cli) -> None:
    assert run_probe(two, "--target", "mi250") == ["gfx90a"]
    assert run_probe(two, "--target", "mi300x") == ["gfx942"]
    assert run_probe(two, ROCMLOCK_TARGET="mi250") == ["gfx90a"]
    assert len(list((two.store / "environments").iterdir())) == 2


def test_one_of_several_must_be_named(two: Cli) -> None:
    for command in (["realize"], ["realize", "--dry-run"], ["store", "info", "gfx-probe"]):
        text = failed(two(*command), 2, "target-unknown")
        assert f"rocmlock {' '.join(command[:3])}".removesuffix(" --dry-run") in text
        assert "--target mi250" in text
        assert "--target mi300x" in text
    failed(two("run", "--", "true"), 2, "target-unknown")
    text = failed(two("run", "--target", "mi30x", "--", "true"), 2, "target-unknown")
    assert "try: rocmlock run --target mi300x" in text


def test_a_second_time_builds_nothing(two: Cli) -> None:
    for name in ("mi250", "mi300x"):
        answer = json.loads(good(two("realize", "--target", name, "--json")).stdout)
        assert (answer["target"], answer["built"], answer["fetched"]) == (name, [], 0)


def test_the_store_tells_targets_apart(two: Cli) -> None:
    seen = set()
    for name, gfx in (("mi250", ["gfx90a"]), ("mi300x", ["gfx942"])):
        info = json.loads(good(two("store", "info", "gfx-probe", "--target", name, "--json")).stdout)
        assert info["derivation"]["gfx"] == gfx
        assert f"--offload-arch={gfx[0]}" in good(two("store", "log", "gfx-probe", "--target", name)).stdout
        seen.add(good(two("store", "path", "gfx-probe", "--target", name)).stdout)
    assert len(seen) == 2


def test_questions_about_the_lock_cover_both_or_one(two: Cli) -> None:
    text = good(two("show")).stdout
    assert "two mi250: gfx90a, Python" in text
    assert "two mi300x: gfx942, Python" in text
    (row,) = [line.split() for line in text.splitlines() if line.startswith("gfx-probe")]
    assert row[1] == "all"
    one = good(two("show", "--target", "mi250")).stdout
    assert "mi300x" not in one
    assert json.loads(good(two("show", "--target", "mi250", "--json")).stdout)["packages"][0]["gfx"] == [
        "gfx90a"
    ]
    # Trees and reasons that are equal are told once.
    assert good(two("tree")).stdout.count("gfx-probe") == 1
    assert list(json.loads(good(two("tree", "--json")).stdout)) == ["mi250", "mi300x"]
    assert good(two("why", "gfx-probe")).stdout.count("gfx-probe is the folder") == 1
    entries = json.loads(good(two("why", "gfx-probe", "--json")).stdout)["entries"]
    assert [entry["targets"] for entry in entries] == [["mi250"], ["mi300x"]]
    assert good(two("why", "packaging")).stdout.count("the manifest asks for packaging") == 1
    failed(two("why", "gfx-probe", "--target", "mi25"), 2, "target-unknown")


def test_every_target_is_checked(two: Cli, tmp_path: Path) -> None:
    good(two("check"))
    other = tmp_path / "other.toml"
    other.write_text(
        MANIFEST.replace("gfx90a", "gfx908").replace("../gfx-probe", str(two.cwd / "../gfx-probe"))
    )
    text = failed(two("check", other, "-l", "rocmlock.lock"), 4, "lock-stale")
    assert "mi250: gfx is gfx90a in the lock, gfx908 in the manifest" in text
    other.write_text(other.read_text().replace("[target.mi250]", "[target.mi210]"))
    text = failed(two("check", other, "-l", "rocmlock.lock"), 4, "lock-stale")
    assert "the lock has no target 'mi210'" in text
    assert "nothing asks for target 'mi250' any more" in text


def test_resolving_again_changes_nothing(two: Cli) -> None:
    before = (two.cwd / "rocmlock.lock").read_bytes()
    assert "Unchanged" in good(two("resolve", env={"UV_DEFAULT_INDEX": "http://127.0.0.1:9"})).stderr
    good(two("resolve", "--locked"))
    assert (two.cwd / "rocmlock.lock").read_bytes() == before
