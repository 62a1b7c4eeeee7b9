"""The system's Pythons are taken by exact version, with headers, from where a build can see them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocmlock.doctor.compilers import BIN, is_shown
from rocmlock.doctor.facts import Lack
from rocmlock.doctor.interpreters import Interpreter, find_python


@pytest.fixture
def here() -> str:
    """A version that /usr/bin has, with headers."""
    for path in sorted(BIN.glob("python3.*")):
        version = path.name.removeprefix("python")
        if re.fullmatch(r"3\.\d+", version) and isinstance(find_python(version), Interpreter):
            return version
    pytest.skip("/usr/bin has no Python with headers")


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_python_is_found_below_usr(here: str) -> None:
    found = find_python(here)
    assert isinstance(found, Interpreter)
    assert found.path == BIN / f"python{here}"
    assert found.version.startswith(f"{here}.")
    assert found.path.resolve() in found.files
    assert all(is_shown(path) for path in found.files)


def test_a_python_elsewhere_on_path_is_not_looked_at(
    here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _script(tmp_path / "python3.99", f'exec {BIN}/python{here} "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin")
    lack = find_python("3.99")
    assert isinstance(lack, Lack)
    assert lack.what == "Python 3.99"
    assert lack.install == "apt-get install python3.99 python3.99-dev"
    assert f"python{here}" in lack.fact


def test_a_python_under_the_name_of_another_is_not_taken(here: str, tmp_path: Path) -> None:
    (tmp_path / "python3.99").symlink_to(BIN / f"python{here}")
    lack = find_python("3.99", tmp_path)
    assert isinstance(lack, Lack)
    assert f"version {here}." in lack.fact


def test_a_python_that_a_build_would_not_see(here: str, tmp_path: Path) -> None:
    _script(tmp_path / f"python{here}", f'echo "a word from sitecustomize"; exec {BIN}/python{here} "$@"')
    lack = find_python(here, tmp_path)
    assert isinstance(lack, Lack)
    assert lack.what == f"Python {here} below /usr"
    assert str(tmp_path) in lack.fact


def test_a_python_without_headers_names_their_package(tmp_path: Path) -> None:
    real = tmp_path / "python3.98"
    _script(real, f"echo 3.98.1; echo {tmp_path}/include; echo /usr/lib/libpython3.98.so")
    lack = find_python("3.98", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.what == "Python 3.98's headers"
    assert lack.install == "apt-get install python3.98-dev"


def test_a_folder_without_any_python(tmp_path: Path) -> None:
    lack = find_python("3.98", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.fact == f"{tmp_path} has no Python"
