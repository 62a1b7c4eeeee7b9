"""The project's own scripts do what the Makefile relies on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of its own with the script that looks for names."""
    root = tmp_path / "somewhere" / "checkout"
    (root / "tools").mkdir(parents=True)
    shutil.copy2(ROOT / "tools/check_names.py", root / "tools")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    return root


def run_check_names(checkout: Path, text: str) -> subprocess.CompletedProcess[str]:
    (checkout / "notes.md").write_text(text)
    (checkout / "pip.conf").write_text("[global]\nindex-url = https://me:pass@index.example.org/simple\n")
    subprocess.run(["git", "add", "notes.md"], check=True, cwd=checkout)
    return subprocess.run(
        [sys.executable, "tools/check_names.py"],
        env={**os.environ, "PIP_CONFIG_FILE": str(checkout / "pip.conf")},
        check=False,
        capture_output=True,
        text=True,
        cwd=checkout,
    )


def test_ordinary_text_names_nothing(checkout: Path) -> None:
    assert run_check_names(checkout, "PyPI, /tmp/x, /build/src, https://example.org/\n").returncode == 0


def test_a_registry_of_the_clients_configuration_is_found(checkout: Path) -> None:
    done = run_check_names(checkout, "one\nget it from index.example.org\n")
    assert done.returncode == 1
    assert "notes.md:2:" in done.stderr


@pytest.mark.parametrize("part", ["checkout", "parent", "home"])
def test_a_path_of_this_machine_is_found(checkout: Path, part: str) -> None:
    places = {"checkout": checkout, "parent": checkout.parent, "home": Path.home()}
    done = run_check_names(checkout, f"see {places[part]}/file\n")
    assert done.returncode == 1
    assert "notes.md:1:" in done.stderr


def test_the_first_light_manifest_is_written_for_this_python(tmp_path: Path) -> None:
    written = tmp_path / "demo" / "first-light.toml"
    subprocess.run([sys.executable, ROOT / "tools/first_light.py", written], check=True)
    shipped = (ROOT / "manifests/stock/first-light.toml").read_text()
    lines = written.read_text().splitlines()
    assert f'python = "{sys.version_info[0]}.{sys.version_info[1]}"' in [
        line.split("  #")[0] for line in lines
    ]
    sources = [line.split('path = "')[1].split('"')[0] for line in lines if 'path = "' in line]
    assert len(sources) == shipped.count('path = "') > 0
    assert all((written.parent / source).is_dir() for source in sources)
