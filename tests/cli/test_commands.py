"""The command line itself: wrong input, locks that cannot be read, help, JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import lock_samples
import pytest
from harness import Cli, Outcome

from rocmlock.lockfile.codec import render_lock


def failed(outcome: Outcome, code: int, reference: str) -> str:
    assert outcome.code == code, outcome.stdout + outcome.stderr
    assert outcome.stderr.startswith(f"error[{reference}]")
    assert "Traceback" not in outcome.stderr
    assert outcome.stdout == ""
    return outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "reference"),
    [
        (["resolv"], 2, "usage"),
        (["resolve", "--nope"], 2, "usage"),
        (["run"], 2, "usage"),
        (["resolve"], 2, "manifest-missing"),
        (["check"], 2, "manifest-missing"),
        (["realize"], 4, "lock-missing"),
        (["realize", "--dry-run"], 4, "lock-missing"),
        (["show"], 4, "lock-missing"),
        (["tree"], 4, "lock-missing"),
        (["why", "vllm"], 4, "lock-missing"),
        (["run", "--", "true"], 1, "store-unusable"),
        (["store", "ls"], 1, "store-unusable"),
    ],
)
def test_wrong_input(cli: Cli, arguments: list[str], code: int, reference: str) -> None:
    text = failed(cli(*arguments), code, reference)
    assert "try: " in text
    if "run" not in arguments and "resolv" not in arguments and "--nope" not in arguments:
        answer = cli(*arguments, "--json")
        error = json.loads(answer.stdout)["error"]
        assert (error["reference"], error["exit-code"], answer.code) == (reference, code, code)


def test_a_misspelt_command_offers_the_nearest(cli: Cli) -> None:
    assert "'resolve'" in cli("resolv").stderr


def test_init_writes_once(cli: Cli) -> None:
    assert cli("init", "--name", "stack").code == 0
    text = (cli.cwd / "rocmlock.toml").read_text()
    assert 'name = "stack"' in text
    failed(cli("init"), 1, "file-unwritable")
    assert (cli.cwd / "rocmlock.toml").read_text() == text
    assert json.loads(cli("init", "other.toml", "--json").stdout)["manifest"] == "other.toml"


def test_faults_of_a_manifest_are_told_with_their_places(cli: Cli) -> None:
    assert cli("init").code == 0
    path = cli.cwd / "rocmlock.toml"
    path.write_text(path.read_text().replace("gfx942", "gfx943").replace('vllm = ">=0.20"', 'vlm = "*"'))
    text = failed(cli("resolve"), 2, "manifest-invalid")
    assert "rocmlock.toml:7:8: 'gfx943'" in text
    assert "did you mean 'vllm'?" in text
    problems = json.loads(cli("resolve", "--json").stdout)["error"]["problems"]
    assert (problems[0]["line"], problems[0]["column"]) == (7, 8)


@pytest.mark.parametrize(
    ("old", "new", "reference"),
    [
        ("version = 1", "version = 7", "lock-too-new"),
        ('name = "small"', '<<<<<<< HEAD\nname = "small"', "lock-conflict"),
        ("sha256:" + "a" * 64, "sha256:" + "a" * 63, "lock-invalid"),
        ('name = "small"', 'name = "sma', "lock-invalid"),
    ],
)
def test_locks_that_cannot_be_read(cli: Cli, old: str, new: str, reference: str) -> None:
    (cli.cwd / "rocmlock.lock").write_text(render_lock(lock_samples.small()).replace(old, new, 1))
    for command in ("show", "realize"):
        failed(cli(command), 4, reference)


def test_a_lock_that_does_not_satisfy_is_told_and_left_alone(cli: Cli) -> None:
    assert cli("init").code == 0
    lock = cli.cwd / "rocmlock.lock"
    lock.write_text(render_lock(lock_samples.small()))
    before = lock.read_bytes()
    text = failed(cli("check"), 4, "lock-stale")
    assert "vllm is not in the lock" in text
    failed(cli("resolve", "--locked"), 4, "lock-stale")
    failed(cli("resolve", env={"ROCMLOCK_LOCKED": "1"}), 4, "lock-stale")
    assert lock.read_bytes() == before


def test_what_this_version_cannot_do_is_told(cli: Cli) -> None:
    assert cli("init").code == 0
    path = cli.cwd / "rocmlock.toml"
    text = path.read_text()
    path.write_text(text.replace("[flags]", '[system]\nbase = "debian:bookworm"\n[flags]'))
    failed(cli("resolve"), 2, "manifest-unsupported")


def test_an_unsatisfiable_manifest_is_explained(cli: Cli) -> None:
    assert cli("init").code == 0
    path = cli.cwd / "rocmlock.toml"
    path.write_text(path.read_text().replace('pytorch = ">=2.8"', 'pytorch = "<2.9"'))
    text = failed(cli("resolve"), 3, "unsatisfiable")
    assert 'pytorch = "<2.9"' in text
    assert "tests pytorch 2.11.0" in text
    assert "try: Changes that were tried and help: " in text
    assert not (cli.cwd / "rocmlock.lock").exists()


def test_a_store_that_cannot_be_used_is_told(cli: Cli, tmp_path: Path) -> None:
    (cli.cwd / "rocmlock.lock").write_text(render_lock(lock_samples.small()))
    (tmp_path / "file").touch()
    failed(cli("realize", "--dry-run", "--store", tmp_path / "file" / "store"), 1, "store-unusable")


def test_help_has_examples(cli: Cli) -> None:
    assert "Examples:" in cli("--help").stdout
    for command in ("init", "resolve", "realize", "run", "show", "tree", "why", "check"):
        text = cli(command, "--help").stdout
        assert "Example" in text, command


def test_output_into_a_closed_pipe_is_no_crash(cli: Cli) -> None:
    import subprocess
    import sys

    (cli.cwd / "rocmlock.lock").write_text(render_lock(lock_samples.full()))
    script = f"{sys.executable} -m rocmlock show --json | head -c 1"
    done = subprocess.run(
        ["bash", "-c", script], cwd=cli.cwd, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


@pytest.mark.requires("network")
def test_the_stock_manifest_and_what_its_lock_says(cli: Cli) -> None:
    root = Path(__file__).resolve().parents[2]
    stock = root / "manifests/stock/mi300x-vllm.toml"
    outcome = cli("resolve", stock, "-o", "stock.lock")
    assert outcome.code == 0, outcome.stderr
    rows = [line.split() for line in outcome.stdout.splitlines()]
    assert [
        "triton",
        "3.6.0",
        "0f380657dbf3",
        "+",
        "1",
        "pick",
        "vllm",
        "0.27.1",
        "docker/Dockerfile.rocm_base:2",
    ] in rows
    assert outcome.stderr.count("warning: ") == 3
    text = (cli.cwd / "stock.lock").read_text()
    assert text.count("://") == 4  # the four git sources
    assert cli("check", stock, "--lock", "stock.lock").code == 0
    again = cli("resolve", stock, "-o", "stock.lock", env={"UV_DEFAULT_INDEX": "http://127.0.0.1:9"})
    assert again.code == 0, again.stderr
    assert (cli.cwd / "stock.lock").read_text() == text
    plan = json.loads(cli("realize", "--dry-run", "--json", "stock.lock").stdout)
    assert [row["package"] for row in plan["derivations"]] == ["pytorch", "torchvision", "triton", "vllm"]
    assert "ROCm 7.2.3" in {lack["what"] for lack in plan["lacks"]} or not plan["lacks"]
    (why,) = json.loads(cli("why", "triton", "-l", "stock.lock", "--json").stdout)["entries"]
    assert why["picks"] == ["555d04f90770d38723afcb505923e0a14a8c3d21"]
    assert "inferred" in {reason["evidence"] for reason in why["reasons"]}
    failed(cli("realize", "stock.lock"), 8, "machine-lacks")
