"""examples/gfx-probe built by the real compilers, without a sandbox: what it holds, and what it says it holds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from rocmlock.doctor.codeobjects import CodeObjects, find_elf_files, read_code_objects

EXAMPLE = Path(__file__).parents[2] / "examples" / "gfx-probe"
HEADER = Path(sysconfig.get_paths()["include"], "Python.h")

pytestmark = [
    pytest.mark.requires("gcc-11", "g++-11", "clang-19", "ld.lld-19"),
    pytest.mark.skipif(not EXAMPLE.exists(), reason="only a checkout has the examples"),
    pytest.mark.skipif(not HEADER.exists(), reason=f"Python's headers are not installed: {HEADER}"),
]


def attempt(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel of a copy of the example in ``folder``, with only ``variables`` of what rocmlock sets."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("build", "dist", "*.egg-info"))
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # The example's own build requirements are what the product locks; this environment's setuptools will do.
    options = ["--wheel", "--no-isolation", "--skip-dependency-check"]
    return subprocess.run(
        [sys.executable, "-m", "build", *options],
        cwd=folder,
        env={**kept, "SOURCE_DATE_EPOCH": "315532800", **variables},
        check=False,
        capture_output=True,
        text=True,
    )


def toolchain(gfx: str) -> dict[str, str]:
    library = ["gcc-11", "-print-libgcc-file-name"]
    path = subprocess.run(library, check=True, capture_output=True, text=True).stdout.strip()
    compilers = {"CC": "gcc-11", "CXX": "g++-11", "HIPCXX": "clang++-19"}
    return {**compilers, "ROCMLOCK_GFX": gfx, "ROCMLOCK_GCC_INSTALL_DIR": str(Path(path).parent)}


def build(folder: Path, gfx: str) -> Path:
    done = attempt(folder, **toolchain(gfx))
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (folder / "dist").iterdir()
    return wheel


def unpack(wheel: Path, into: Path) -> Path:
    """The one library of ``wheel``, unpacked."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(into)
    (library,) = find_elf_files(into)
    return library


def probe(site: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "gfx_probe", *arguments]
    env = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def test_it_holds_what_was_asked_for_and_says_so(tmp_path: Path) -> None:
    site = tmp_path / "site"
    library = unpack(build(tmp_path / "a", "gfx942;gfx90a"), site)
    assert read_code_objects(library) == CodeObjects(("gfx90a", "gfx942"))
    said = json.loads(probe(site, "--json"))
    assert sorted(row["target"] for row in said["code-objects"]) == ["gfx90a", "gfx942"]
    assert said["host-compiler"].startswith("GCC 11.")
    assert "GCC 11." in probe(site)


def test_another_list_gives_another_library(tmp_path: Path) -> None:
    library = unpack(build(tmp_path / "a", "gfx90a"), tmp_path / "site")
    assert read_code_objects(library) == CodeObjects(("gfx90a",))


def test_two_folders_give_the_same_bytes(tmp_path: Path) -> None:
    first = build(tmp_path / "a", "gfx90a")
    second = build(tmp_path / "elsewhere" / "with-a-longer-name", "gfx90a")
    assert first.read_bytes() == second.read_bytes()


def test_a_launch_without_a_runtime_is_a_python_error(tmp_path: Path) -> None:
    site = tmp_path / "site"
    unpack(build(tmp_path / "a", "gfx90a"), site)
    done = subprocess.run(
        [sys.executable, "-c", "import gfx_probe; gfx_probe.launch()"],
        env={**os.environ, "PYTHONPATH": str(site)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr


@pytest.mark.parametrize("missing", ["ROCMLOCK_GFX", "HIPCXX", "CXX", "ROCMLOCK_GCC_INSTALL_DIR"])
def test_there_is_no_silent_build_for_the_cpu_alone(tmp_path: Path, missing: str) -> None:
    given = toolchain("gfx90a")
    del given[missing]
    done = attempt(tmp_path / "a", **given)
    assert done.returncode != 0
    assert missing in done.stdout + done.stderr
    assert not list(tmp_path.rglob("*.whl"))
