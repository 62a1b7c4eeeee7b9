"""Local folders: what their pyproject.toml says, and every way in which it may be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmlock.errors import RocmlockError
from rocmlock.resolver.local import read_local_project


def failure(folder: Path) -> RocmlockError:
    with pytest.raises(RocmlockError) as raised:
        read_local_project(folder, "kernels")
    assert raised.value.reason.reference == "source-invalid"
    return raised.value


def write(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_a_project_tells_what_it_is(tmp_path: Path) -> None:
    write(
        tmp_path,
        '[build-system]\nrequires = ["flit_core>=3"]\n'
        '[project]\nname = "my-kernels"\nversion = "1.2"\ndependencies = ["numpy>=2"]\n',
    )
    project = read_local_project(tmp_path, "kernels")
    assert (project.distribution, project.version) == ("my-kernels", "1.2")
    assert (project.build, project.run) == (("flit_core>=3",), ("numpy>=2",))


def test_a_version_that_is_computed_is_not_known(tmp_path: Path) -> None:
    write(tmp_path, '[project]\nname = "k"\ndynamic = ["version"]\n')
    project = read_local_project(tmp_path, "kernels")
    assert (project.version, project.run) == ("", ())
    assert project.build == ("setuptools>=40.8.0", "wheel")


def test_a_project_of_an_older_kind_is_called_like_the_package(tmp_path: Path) -> None:
    assert read_local_project(write(tmp_path, ""), "kernels").distribution == "kernels"


def test_a_folder_without_a_project_is_told(tmp_path: Path) -> None:
    assert str(tmp_path) in failure(tmp_path).message
    failure(tmp_path / "none")
    (tmp_path / "file").write_text("")
    failure(tmp_path / "file")


def test_what_is_not_toml_is_told_with_its_place(tmp_path: Path) -> None:
    (problem,) = failure(write(tmp_path, "[project\n")).problems
    assert problem.place is not None
    assert problem.place.file == str(tmp_path / "pyproject.toml")


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe\x00")
    failure(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "build-system = 3",
        '[build-system]\nrequires = "setuptools"',
        "[build-system]\nrequires = [1]",
        "project = []",
        '[project]\ndependencies = "numpy"',
        "[project]\ndependencies = { numpy = 2 }",
    ],
)
def test_parts_of_another_shape_are_told(tmp_path: Path, text: str) -> None:
    failure(write(tmp_path, text))
