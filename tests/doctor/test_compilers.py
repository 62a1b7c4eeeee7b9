"""Compilers are taken by their exact version, with all their parts, from where a build can see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmlock.doctor.compilers import Clang, Gcc, find_clang, find_gcc, find_rocm, is_shown
from rocmlock.doctor.facts import Lack


def _link(folder: Path, **links: str) -> None:
    for name, target in links.items():
        (folder / name.replace("_", "-").replace("pp", "++")).symlink_to(target)


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.requires("gcc-11", "g++-11")
def test_gcc_is_found_with_its_parts() -> None:
    gcc = find_gcc("11")
    assert isinstance(gcc, Gcc)
    assert gcc.version.startswith("11.")
    assert (gcc.cc, gcc.cxx) == (Path("/usr/bin/gcc-11"), Path("/usr/bin/g++-11"))
    assert (gcc.install / "libgcc.a").exists()
    assert gcc.install.name == "11"
    names = {path.name for path in gcc.files}
    assert {"cc1", "cc1plus", "collect2", "lto1", "lto-wrapper", "libc.so.6"} <= names
    assert any(name.startswith("liblto_plugin.so") for name in names)
    assert any(name.startswith("libstdc++.so.6") for name in names)
    assert any(name.endswith(("-as", "/as")) for name in names)
    assert any("-ld" in name for name in names)
    assert all(is_shown(path) and not path.is_symlink() for path in gcc.files)


def test_a_gcc_that_does_not_exist_is_lacking_with_its_packages() -> None:
    lack = find_gcc("99")
    assert isinstance(lack, Lack)
    assert lack.what == "GCC 99"
    assert lack.install == "apt-get install gcc-99 g++-99"


@pytest.mark.requires("gcc-11", "g++-11")
def test_another_gcc_never_stands_in(tmp_path: Path) -> None:
    _link(tmp_path, gcc_12="/usr/bin/gcc-11", gpp_12="/usr/bin/g++-11", gcc="/usr/bin/gcc-11")
    _link(tmp_path, gcc_9="/usr/bin/gcc-11")
    lack = find_gcc("11", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.what == "GCC 11"
    assert lack.fact.startswith("gcc-9, gcc-12 are here")


@pytest.mark.requires("gcc-11", "g++-11")
def test_a_gcc_under_the_name_of_another_is_not_taken(tmp_path: Path) -> None:
    _link(tmp_path, gcc_99="/usr/bin/gcc-11", gpp_99="/usr/bin/g++-11")
    lack = find_gcc("99", tmp_path)
    assert isinstance(lack, Lack)
    assert "version 11." in lack.fact


@pytest.mark.requires("gcc-11", "g++-11")
def test_gcc_without_its_cxx_compiler(tmp_path: Path) -> None:
    _link(tmp_path, gcc_11="/usr/bin/gcc-11")
    lack = find_gcc("11", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.what == "G++ 11"
    assert "g++-11" in lack.install


@pytest.mark.requires("gcc-11", "g++-11")
def test_a_gcc_that_a_build_would_not_see(tmp_path: Path) -> None:
    _script(tmp_path / "gcc-11", 'exec /usr/bin/gcc-11 "$@"')
    _link(tmp_path, gpp_11="/usr/bin/g++-11")
    lack = find_gcc("11", tmp_path)
    assert isinstance(lack, Lack)
    assert str(tmp_path) in lack.fact


@pytest.mark.requires("clang-19", "ld.lld-19")
def test_clang_is_found_with_what_gpu_code_takes() -> None:
    clang = find_clang("19")
    assert isinstance(clang, Clang)
    assert clang.version.startswith("19.")
    names = {path.name for path in clang.files}
    assert {"clang", "lld", "clang-offload-bundler"} <= names
    assert any(name.startswith("libLLVM") for name in names)
    assert any(name.startswith("libclang-cpp") for name in names)
    assert all(is_shown(path) and not path.is_symlink() for path in clang.files)


def test_a_clang_that_does_not_exist_is_lacking_with_its_packages() -> None:
    lack = find_clang("99")
    assert isinstance(lack, Lack)
    assert lack.what == "Clang 99"
    assert lack.install == "apt-get install clang-99 clang-tools-99 lld-99"


@pytest.mark.requires("clang-19")
def test_clang_without_its_linker_or_bundler(tmp_path: Path) -> None:
    _link(tmp_path, clang_19="/usr/bin/clang-19")
    lack = find_clang("19", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.what == "clang++-19"
    (tmp_path / "clang++-19").symlink_to("/usr/bin/clang++-19")
    lack = find_clang("19", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.what == "ld.lld-19"
    (tmp_path / "ld.lld-19").touch()
    (tmp_path / "clang-19").unlink()
    _script(tmp_path / "clang-19", "echo 'Debian clang version 19.1.7 (3)'")
    lack = find_clang("19", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.what == "Clang 19's tools"


def _rocm(root: Path, folder: str, version: str) -> Path:
    place = root / "opt" / folder
    (place / ".info").mkdir(parents=True)
    (place / ".info/version").write_text(f"{version}\n")
    return place


def test_rocm_by_its_first_numbers(tmp_path: Path) -> None:
    older, newer = _rocm(tmp_path, "rocm-7.1.0", "7.1.0-20"), _rocm(tmp_path, "rocm-7.10.2", "7.10.2-41")
    assert find_rocm("7.1", tmp_path) == older
    assert find_rocm("7.10", tmp_path) == newer
    assert find_rocm("7.10.2", tmp_path) == newer


def test_rocm_of_another_version_never_stands_in(tmp_path: Path) -> None:
    lack = find_rocm("7.2.3", tmp_path)
    assert isinstance(lack, Lack)
    assert (lack.what, lack.fact) == ("ROCm 7.2.3", "no ROCm under /opt")
    _rocm(tmp_path, "rocm-7.2.30", "7.2.30-1")
    _rocm(tmp_path, "rocm-6.4.1", "6.4.1-83")
    (tmp_path / "opt/rocm-damaged/.info/version").parent.mkdir(parents=True)
    (tmp_path / "opt/rocm-damaged/.info/version").write_bytes(b"\xff\xfe")
    lack = find_rocm("7.2.3", tmp_path)
    assert isinstance(lack, Lack)
    assert lack.fact == "found 6.4.1, 7.2.30"


def test_what_builds_see() -> None:
    assert is_shown(Path("/usr/bin/gcc-11"))
    assert not is_shown(Path("/usr/local/bin/gcc-11"))
    assert not is_shown(Path("/opt/gcc/bin/gcc-11"))
    assert not is_shown(Path("/usrx/bin/gcc"))
