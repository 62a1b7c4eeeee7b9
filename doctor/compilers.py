"""Compilers by exact major version, below /usr: a sandbox shows nothing else. No other version stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .facts import Lack, ask, real_files

BIN = Path("/usr/bin")


@dataclass(frozen=True, slots=True)
class Gcc:
    """``install`` is GCC's own folder (libgcc, libstdc++); ``files`` is what it executes and links."""

    version: str
    cc: Path
    cxx: Path
    install: Path
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Clang:
    version: str
    cc: Path
    cxx: Path
    files: tuple[Path, ...]


def find_gcc(major: str) -> Gcc | Lack:
    """GCC ``major`` with its C++ compiler and headers."""
    cc, cxx = BIN / f"gcc-{major}", BIN / f"g++-{major}"
    install = f"apt-get install gcc-{major} g++-{major}"
    version = ask([str(cc), "-dumpfullversion"])
    if version is None or version.split(".")[0] != major:
        return Lack(f"GCC {major}", install, _others("gcc", major))
    library = ask([str(cc), "-print-libgcc-file-name"])
    if library is None or not cxx.exists() or ask([str(cxx), "-print-prog-name=cc1plus"]) == "cc1plus":
        return Lack(f"G++ {major}", install, f"gcc-{major} is here, its C++ compiler is not")
    names = ("cc1", "cc1plus", "collect2", "lto1", "as", "ld")
    programs = [ask([str(cxx), f"-print-prog-name={name}"]) for name in names]
    libraries = [
        ask([str(cxx), f"-print-file-name={name}"]) for name in ("libstdc++.so", "libgcc.a", "libc.so.6")
    ]
    found = [_program(name) for name in (*programs, *libraries)]
    return Gcc(version, cc, cxx, Path(library).parent, real_files([cc, cxx, *found]))


def find_clang(major: str) -> Clang | Lack:
    """Clang ``major`` with its linker for GPU code."""
    cc, cxx, lld = BIN / f"clang-{major}", BIN / f"clang++-{major}", BIN / f"ld.lld-{major}"
    install = f"apt-get install clang-{major} clang-tools-{major} lld-{major}"
    talk = ask([str(cc), "--version"])
    version = re.search(r"version (\d+[\d.]*)", talk or "")
    if version is None or version[1].split(".")[0] != major:
        return Lack(f"Clang {major}", install, _others("clang", major))
    if not lld.exists():
        return Lack(f"LLD {major}", install, f"clang-{major} is here, its linker is not")
    return Clang(
        version[1], cc, cxx, real_files([cc, cxx, lld, *_shared_libraries(cc), *_shared_libraries(lld)])
    )


def find_rocm(version: str) -> Path | Lack:
    """The folder of ROCm ``version`` (its first two or three numbers)."""
    found: dict[str, Path] = {}
    for file in sorted(Path("/opt").glob("rocm*/.info/version")):
        found[file.read_text().split("-")[0].strip()] = file.parent.parent
    for held, folder in found.items():
        if held == version or held.startswith(f"{version}."):
            return folder
    fact = f"found {', '.join(sorted(found))}" if found else "no ROCm under /opt"
    return Lack(f"ROCm {version}", "", fact)


def _others(name: str, major: str) -> str:
    """What is there in place of a compiler, and that it is not used."""
    others = sorted(path.name for path in BIN.glob(f"{name}-*") if re.fullmatch(rf"{name}-\d+", path.name))
    others = [other for other in others if other != f"{name}-{major}"]
    return f"{', '.join(others)} is here, but never stands in" if others else ""


def _program(name: str | None) -> Path | None:
    """A path that a compiler printed; a bare name means that it looks on PATH."""
    if not name:
        return None
    return Path(name) if "/" in name else BIN / name


def _shared_libraries(program: Path) -> list[Path]:
    """LLVM's own libraries that a program loads."""
    listed = ask(["ldd", str(program)]) or ""
    return [Path(path) for path in re.findall(r"=> (\S*/lib(?:LLVM|clang|lld)\S*)", listed)]
