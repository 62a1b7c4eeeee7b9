"""Every stored upstream file is read, and says what the collected facts say, where that material is at hand.

The stored Dockerfiles, CMake files and pyproject.toml are extracts: true line numbers, most lines blank.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from rocmlock.resolver.readers.cmake import parse_cmake
from rocmlock.resolver.readers.cmake_facts import find_fetches, read_limits
from rocmlock.resolver.readers.dockerfile import Dockerfile, parse_dockerfile
from rocmlock.resolver.readers.gitmodules import parse_gitmodules
from rocmlock.resolver.readers.pin_files import (
    parse_commit_file,
    parse_related_commits,
    parse_version_file,
)
from rocmlock.resolver.readers.pyproject import parse_pyproject
from rocmlock.resolver.readers.requirements import parse_requirements
from rocmlock.resolver.readers.rocm_matrix import parse_matrix
from rocmlock.resolver.readers.source_trees import find_environment, find_sources
from rocmlock.resolver.readers.triton_files import choose_llvm, parse_llvm, parse_nvidia_versions

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
RAW = SHARED / "raw"
pytestmark = pytest.mark.skipif(
    not RAW.is_dir(), reason="the collected upstream files are not beside the checkout"
)


def read_docker(text: str, path: str) -> object:
    file = parse_dockerfile(text, path, extract=True)
    return file, find_sources(file, extract=True), find_environment(file, ["GPU_ARCHS"], extract=True)


# Each file by the end of its path; the first that fits counts. None of them is refused.
READERS: list[tuple[str, Callable[[str, str], object]]] = [
    ("compatibility-matrix-historical-6.0.csv", parse_matrix),
    ("related_commits", parse_related_commits),
    (".gitmodules", parse_gitmodules),
    ("pyproject.toml", parse_pyproject),
    ("ci_commit_pins/triton.txt", parse_commit_file),
    ("triton_version.txt", parse_version_file),
    ("version.txt", parse_version_file),
    ("llvm-hash.txt", parse_llvm),
    ("llvm-info.json", parse_llvm),
    ("llvm-build-info.json", parse_llvm),
    ("nvidia-toolchain-version.json", parse_nvidia_versions),
    ("CMakeLists.txt", lambda text, path: read_limits(parse_cmake(text, path, extract=True))),
    ("_base", read_docker),
    (".txt", parse_requirements),
]
REFUSED: dict[str, str] = {}
"""Path to reason, of the files that are refused for good reason. At present there is none."""


def files() -> Iterator[Path]:
    return (path for path in sorted(RAW.rglob("*")) if path.is_file() and path.name != "PROVENANCE.json")


def facts(name: str) -> Any:
    return json.loads((SHARED / f"{name}_pins.json").read_text(encoding="utf-8"))


@cache
def releases() -> list[dict[str, Any]]:
    held = facts("vllm")["releases"]
    return [one for one in held if (RAW / "vllm-project/vllm" / one["tag"]).is_dir()]


def stored(release: dict[str, Any], path: str) -> Path:
    return RAW / "vllm-project/vllm" / release["tag"] / path


def dockerfiles() -> Iterator[tuple[dict[str, Any], Dockerfile, list[str]]]:
    """(facts of the Dockerfile, as read, its lines)"""
    for release in releases():
        for name, held in release.items():
            if name.startswith("dockerfile") and stored(release, held["path"]).is_file():
                text = stored(release, held["path"]).read_text(encoding="utf-8")
                yield held, parse_dockerfile(text, held["path"], extract=True), text.split("\n")


def test_every_file_is_read() -> None:
    count = 0
    for path in files():
        where = path.relative_to(RAW).as_posix()
        if where not in REFUSED:
            parse = next(parse for end, parse in READERS if where.endswith(end))
            assert parse(path.read_text(encoding="utf-8"), where), where
            count += 1
    assert count > 600


def test_the_args_of_every_dockerfile() -> None:
    count = 0
    for held, file, lines in dockerfiles():
        args = file.args()
        assert {name: one.raw for name, one in args.items()} == held["args"]
        assert {name: one.comment for name, one in args.items() if one.comment} == held["arg_comments"]
        assert all(lines[one.line - 1].startswith(f"ARG {one.name}=") for one in args.values())
        count += 1
    assert count > 55


def test_the_sources_of_every_dockerfile() -> None:
    """Each ``X_BRANCH`` that a RUN uses is the pin of its tree; picks and fixed checkouts are those of the text."""
    picks, fixed = set[str](), set[str]()
    for held, file, lines in dockerfiles():
        found = find_sources(file, extract=True)
        for tree in found.trees:
            if tree.ref and tree.ref.variables:
                [name] = tree.ref.variables
                assert tree.ref.value == held["args"][name]
                assert f"${{{name}}}" in lines[tree.ref.line - 1]
            picks |= {pick.value for pick in tree.picks}
            assert all(pick.value in lines[pick.line - 1] for pick in tree.picks)
            fixed |= {action.refs[0].text for action in tree.unsaid if action.kind == "checkout"}
            assert {action.kind for action in tree.unsaid} <= {"checkout"}
        text = "\n".join(lines)
        assert text.count("git cherry-pick") == sum(len(tree.picks) for tree in found.trees)
        patched = sum(action.kind == "patch" for action in found.stray)
        assert text.count("git apply") == patched
    assert picks == {"555d04f", "dd998b6"}
    assert fixed == {"2d73be3"}


def test_the_arch_lists_that_sed_edits() -> None:
    for held, file, _ in dockerfiles():
        asked = held["args"].get("PYTORCH_ROCM_ARCH", "")
        for one in find_environment(file, ["GPU_ARCHS"], extract=True):
            if one.original:
                assert (one.original, one.problem) == (asked, "")
                assert one.value == ";".join(arch for arch in asked.split(";") if not arch.startswith("gfx1"))


def test_the_rocm_version_of_every_base_image() -> None:
    for held, file, _ in dockerfiles():
        (line, image), *more = file.base_images()
        name = held["args"]["BASE_IMAGE"]
        assert file.stages[0].line == line
        assert all(other == image for _, other in more)
        assert image.rocm == ("" if name.startswith("ubuntu") else name.partition(":")[2].partition("-")[0])


def test_limits_and_build_requirements_of_every_release() -> None:
    for release in releases():
        text = stored(release, "CMakeLists.txt").read_text(encoding="utf-8")
        file = parse_cmake(text, "CMakeLists.txt", extract=True)
        limits, lines = read_limits(file), text.split("\n")
        assert limits.gfx is not None
        assert limits.pythons is not None
        assert list(limits.gfx[0]) == release["hip_supported_archs"]
        assert list(limits.pythons[0]) == release["python_supported_versions"]
        assert "HIP_SUPPORTED_ARCHS" in lines[limits.gfx[1] - 1]
        rocm, standard, minimum = limits.torch_rocm, limits.cxx_standard, limits.cmake_minimum
        assert (rocm.value if rocm else None) == release["torch_supported_version_rocm"]
        assert (standard.value if standard else None) == (
            release["cxx_standard"] and str(release["cxx_standard"])
        )
        assert (minimum.value if minimum else None) == release["cmake_minimum"]
        assert not find_fetches(file)
        project = parse_pyproject(stored(release, "pyproject.toml").read_text(encoding="utf-8"), "p")
        assert project.build is not None
        asked = [str(Requirement(line)) for line in release["build_system_requires"]]
        assert [str(one.requirement) for one in project.build] == asked
        python = project.requires_python
        # Older releases state it in setup.py.
        assert python is None or python.value == release["requires_python"]


def test_the_requirements_of_every_release() -> None:
    for release in releases():
        for path, expected in release["requirements"].items():
            if stored(release, path).is_file():
                found = parse_requirements(stored(release, path).read_text(encoding="utf-8"), path)
                read = {one.text for one in found.lines} | {
                    f"{one.name} {one.value}" for one in found.options
                }
                assert {
                    line if line.startswith("--") else str(Requirement(line)) for line in expected
                } <= read
        for name, stated in release["rocm_requirements"].items():
            path = stored(release, stated["file"]) if isinstance(stated, dict) and "file" in stated else None
            if path and path.is_file() and "version" in stated:
                text = path.read_text(encoding="utf-8")
                lines = [one for one in parse_requirements(text, str(path)).named(name) if one.requirement]
                assert f"=={stated['version']}" in {
                    str(one.requirement.specifier) for one in lines if one.requirement
                }


def test_pytorchs_pins_of_triton() -> None:
    for release in facts("pytorch")["releases"]:
        folder = RAW / "pytorch/pytorch" / release["tag"] / ".ci/docker"
        pin, version = folder / "ci_commit_pins/triton.txt", folder / "triton_version.txt"
        if pin.is_file():
            assert parse_commit_file(pin.read_text(), "triton.txt").value == release["triton"]["commit"]
        if version.is_file():
            assert parse_version_file(version.read_text(), "v").value == release["triton"]["version"]


def test_tritons_pins_of_llvm() -> None:
    held, count = facts("triton"), 0
    for entry in (*held["releases"], *held["pinned_commits"]):
        base = RAW / "triton-lang/triton"
        folder = next(
            (base / one for one in (entry.get("tag"), entry["commit"]) if one and (base / one).is_dir()), None
        )
        if folder is None:
            continue
        texts = {f"cmake/{path.name}": path.read_text() for path in (folder / "cmake").iterdir()}
        found = choose_llvm(texts)
        assert (found.path, found.commit.value) == (entry["llvm_file"], entry["llvm_commit"])
        assert found.build == entry.get("llvm_build_number")
        count += 1
    assert count > 20
