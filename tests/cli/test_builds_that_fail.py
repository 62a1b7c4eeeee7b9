"""Builds that fail, lie or reach out: told with what helps, and nothing of them is in the store."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from harness import Cli, Outcome
from index_server import sdist, serve

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = next((v for v in ("3.11", "3.12", "3.13") if Path(f"/usr/bin/python{v}").exists()), "3.11")
PYPROJECT = '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n'
PYPROJECT += '[project]\nname = "thing"\nversion = "1.0"\n'

pytestmark = pytest.mark.requires("bwrap", "network", "gcc-11", "g++-11", "clang-19", "ld.lld-19")


def manifest(packages: str, *, gcc: str = "11", python: str = SYSTEM, more: str = "") -> str:
    return (
        f'schema = 1\nname = "x"\n[target]\ngfx = ["gfx942"]\npython = "{python}"\n'
        f'[toolchain]\nhost = {{ gcc = "{gcc}" }}\ndevice = {{ clang = "19" }}\n[packages]\n{packages}\n{more}'
    )


def lay_out(
    cli: Cli, setup: str, packages: str = 'thing = { path = "thing" }', files: Mapping[str, str] | None = None
) -> None:
    folder = cli.cwd / "thing"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "setup.py").write_text(setup)
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    (cli.cwd / "rocmlock.toml").write_text(manifest(packages))
    outcome = cli("resolve")
    assert outcome.code == 0, outcome.stderr


def failed(outcome: Outcome, code: int, reference: str) -> str:
    assert outcome.code == code, outcome.stdout + outcome.stderr
    assert f"error[{reference}]" in outcome.stderr
    return outcome.stderr


def nothing_realized(cli: Cli) -> None:
    assert list((cli.store / "realisations").iterdir()) == []
    assert list((cli.store / "environments").iterdir()) == []
    assert list((cli.store / "tmp").iterdir()) == []


def test_a_failing_build_leaves_its_log_and_a_way_in(cli: Cli) -> None:
    lay_out(cli, 'print("on the way")\nraise SystemExit("the compiler is sad")\n')
    text = failed(cli("realize"), 5, "build-failed")
    assert "the compiler is sad" in text
    log = next(line.split(": ", 1)[1] for line in text.splitlines() if line.strip().startswith("log: "))
    assert "on the way" in Path(log.strip()).read_text()
    enter = next(cli.store.glob("failed/*/enter.sh"))
    assert str(enter) in text
    inside = subprocess.run(
        ["sh", str(enter)], input="pwd; ls setup.py; id -un\n", capture_output=True, text=True, check=False
    )
    assert inside.stdout.split() == ["/build/src", "setup.py", "build"], inside.stderr
    nothing_realized(cli)
    assert "the compiler is sad" in cli("store", "log", "thing").stdout


def test_a_build_that_tries_the_network_fails_and_says_so(cli: Cli) -> None:
    lay_out(cli, 'import urllib.request\nurllib.request.urlopen("https://example.org/llvm.tar.gz")\n')
    assert "network" in failed(cli("realize"), 5, "build-network")
    nothing_realized(cli)


def test_a_build_for_the_cpu_alone_is_no_build(cli: Cli) -> None:
    lay_out(cli, "from setuptools import setup\nsetup(py_modules=['thing'])\n", files={"thing.py": "x = 1\n"})
    assert "CPU alone" in failed(cli("realize"), 5, "proof-failed")
    nothing_realized(cli)


def test_what_is_said_to_hold_no_gpu_code_may_hold_none(cli: Cli) -> None:
    lay_out(
        cli,
        "from setuptools import setup\nsetup(py_modules=['thing'])\n",
        'thing = { path = "thing", gpu = "none" }',
        {"thing.py": "x = 1\n"},
    )
    assert cli("realize").code == 0
    assert cli("run", "--", "python", "-c", "import thing; raise SystemExit(thing.x + 3)").code == 4


def test_the_wrong_arch_fails_and_says_which_file_holds_what(cli: Cli) -> None:
    shutil.copytree(ROOT / "examples" / "gfx-probe", cli.cwd / "gfx-probe")
    packages = 'gfx-probe = { path = "gfx-probe" }'
    wrong = '[flags.gfx-probe]\nenv = { ROCMLOCK_GFX = "gfx90a" }\n'
    (cli.cwd / "rocmlock.toml").write_text(manifest(packages, more=wrong))
    assert cli("resolve").code == 0
    text = failed(cli("realize"), 5, "proof-failed")
    assert "_probe.cpython" in text
    assert "holds gfx90a; lacks gfx942; must not hold gfx90a" in text
    nothing_realized(cli)


def test_a_stricter_check_is_applied_to_what_is_in_the_store(cli: Cli) -> None:
    lay_out(
        cli,
        "from setuptools import setup\nsetup(py_modules=['thing'])\n",
        'thing = { path = "thing", gpu = "none" }',
        {"thing.py": "x = 1\n"},
    )
    assert cli("realize").code == 0
    (cli.cwd / "rocmlock.toml").write_text(manifest('thing = { path = "thing", gpu = "equal" }'))
    assert cli("resolve").code == 0
    failed(cli("realize"), 5, "proof-failed")


def test_a_build_that_leaves_another_version_is_no_build(cli: Cli) -> None:
    lay_out(
        cli,
        "from setuptools import setup\nsetup(py_modules=[])\n",
        'thing = { path = "thing", gpu = "none" }',
    )
    lock = cli.cwd / "rocmlock.lock"
    lock.write_text(lock.read_text().replace('version = "1.0"', 'version = "2.0"'))
    assert "1.0" in failed(cli("realize"), 5, "proof-failed")


def test_a_source_that_is_not_what_was_locked_is_not_built(cli: Cli) -> None:
    files = {"pyproject.toml": PYPROJECT, "PKG-INFO": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n"}
    (cli.cwd / "rocmlock.toml").write_text(manifest('thing = { sdist = "*" }'))
    with serve({"thing-1.0.tar.gz": sdist("thing", "1.0", files)}) as url:
        assert cli("resolve", env={"ROCMLOCK_INDEX_URL": url}).code == 0
    other = sdist("thing", "1.0", {**files, "evil.py": "x"})
    with serve({"thing-1.0.tar.gz": other}) as url:
        text = failed(cli("realize", env={"ROCMLOCK_INDEX_URL": url}), 6, "hash-mismatch")
    assert "thing-1.0.tar.gz" in text
    nothing_realized(cli)


def test_a_source_that_cannot_be_had_is_named(cli: Cli) -> None:
    lay_out(cli, "")
    text = failed(
        cli("realize", env={"ROCMLOCK_INDEX_URL": "http://me:hunter2@127.0.0.1:9/"}), 7, "offline-missing"
    )
    assert ".whl" in text
    assert "hunter2" not in text
    nothing_realized(cli)


def test_a_compiler_that_is_not_there_is_named_with_its_package(cli: Cli) -> None:
    lay_out(cli, "")
    (cli.cwd / "rocmlock.toml").write_text(manifest('thing = { path = "thing" }', gcc="98"))
    assert cli("resolve").code == 0
    text = failed(cli("realize"), 8, "machine-lacks")
    assert "gcc-98 g++-98" in text
    plan = cli("realize", "--dry-run")
    assert plan.code == 0
    assert "lacks GCC 98" in plan.stdout


def test_without_bubblewrap_nothing_is_built(cli: Cli, tmp_path: Path) -> None:
    lay_out(cli, "")
    text = failed(cli("realize", env={"PATH": str(tmp_path)}), 8, "sandbox-missing")
    assert "bubblewrap" in text
    nothing_realized(cli)


def test_a_full_disk_while_fetching_is_told(cli: Cli) -> None:
    import os
    import sys

    lay_out(cli, "")
    command = ["bwrap", "--dev-bind", "/", "/", "--size", "200000", "--tmpfs", "/mnt", "sh", "-c"]
    script = f"{sys.executable} -m rocmlock realize --store /mnt/s; echo code $?; find /mnt/s/blobs /mnt/s/tmp -type f"
    done = subprocess.run(
        [*command, script], cwd=cli.cwd, env=os.environ, capture_output=True, text=True, check=False
    )
    assert "error[store-full]" in done.stderr, done.stderr
    assert done.stdout.split()[:2] == ["code", "1"]
    # What was fetched whole may stay; nothing else does.
    assert not [line for line in done.stdout.splitlines() if "/tmp/" in line]
