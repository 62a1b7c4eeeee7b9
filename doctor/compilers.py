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
    """``files`` are its programs (linker and bundler for GPU code too) and LLVM's libraries."""

    version: str
    cc: Path
    cxx: Path
    files: tuple[Path, ...]


def find_gcc(major: str, folder: Path = BIN) -> Gcc | Lack:
    """GCC ``major`` in ``folder``, with its C++ compiler and headers."""
    cc, cxx = folder / f"gcc-{major}", folder / f"g++-{major}"
    install = f"apt-get install gcc-{major} g++-{major}"
    version = _own_version([str(cc), "-dumpfullversion"])
    if version.split(".")[0] != major:
        return Lack(f"GCC {major}", install, _instead("gcc", major, folder, version))
    home = Path(ask([str(cc), "-print-libgcc-file-name"]) or cc).resolve().parent
    # <prefix>/lib/gcc/<triple>/<major> has its C++ headers in <prefix>/include/c++/<major>
    headers = home / "../../../../include/c++" / major / "cmath"
    if "/" not in (ask([str(cxx), "-print-prog-name=cc1plus"]) or "") or not headers.exists():
        return Lack(f"G++ {major}", install, f"gcc-{major} is here, its C++ compiler or headers are not")
    if fact := _hidden(cc, cxx):
        return Lack(f"GCC {major} below /usr", install, fact)
    programs = ("cc1", "cc1plus", "collect2", "lto1", "lto-wrapper", "as", "ld")
    libraries = ("liblto_plugin.so", "libstdc++.so", "libgcc.a", "libc.so.6")
    answers = [ask([str(cxx), f"-print-prog-name={name}"]) for name in programs]
    answers += [ask([str(cxx), f"-print-file-name={name}"]) for name in libraries]
    return Gcc(version, cc, cxx, home, real_files([cc, cxx, *map(_program, answers)]))


def find_clang(major: str, folder: Path = BIN) -> Clang | Lack:
    """Clang ``major`` in ``folder``, with the linker and the bundler that GPU code takes."""
    cc, cxx, lld = folder / f"clang-{major}", folder / f"clang++-{major}", folder / f"ld.lld-{major}"
    install = f"apt-get install clang-{major} clang-tools-{major} lld-{major}"
    version = _own_version([str(cc), "--version"])
    if version.split(".")[0] != major:
        return Lack(f"Clang {major}", install, _instead("clang", major, folder, version))
    for part in (cxx, lld):
        if not part.exists():
            return Lack(part.name, install, f"clang-{major} is here, {part.name} is not")
    bundler = cc.resolve().parent / "clang-offload-bundler"  # where clang looks first
    if not bundler.exists():
        return Lack(f"Clang {major}'s tools", install, f"clang-{major} is here, its offload bundler is not")
    if fact := _hidden(cc, cxx, lld):
        return Lack(f"Clang {major} below /usr", install, fact)
    programs = [cc, cxx, lld, bundler]
    return Clang(version, cc, cxx, real_files([*programs, *_shared_libraries(programs)]))


def find_rocm(version: str, root: Path = Path("/")) -> Path | Lack:
    """The folder of ROCm ``version`` (its first two or three numbers) under ``root``'s /opt."""
    found: dict[str, Path] = {}
    for file in sorted((root / "opt").glob("rocm*/.info/version")):
        try:
            found[file.read_text().split("-")[0].strip()] = file.parent.parent
        except (OSError, UnicodeDecodeError):
            continue
    for held, folder in found.items():
        if held == version or held.startswith(f"{version}."):
            return folder
    fact = f"found {', '.join(sorted(found))}" if found else "no ROCm under /opt"
    return Lack(f"ROCm {version}", "", fact)


def _own_version(question: list[str]) -> str:
    """What a compiler calls its version; empty where it is not there or says something else."""
    said = re.search(r"\d+(\.\d+)+", ask(question) or "")
    return said[0] if said else ""


def _instead(name: str, major: str, folder: Path, version: str) -> str:
    """What is there in place of a compiler, and that it is not used."""
    if version:
        return f"{name}-{major} is here, but is version {version}"
    others = {path.name for path in folder.glob(f"{name}-*") if re.fullmatch(rf"{name}-\d+", path.name)}
    names = sorted(others - {f"{name}-{major}"}, key=lambda other: int(other.rpartition("-")[2]))
    if not names:
        return ""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} here, but never stands in"


def _hidden(*programs: Path) -> str:
    """Why a sandbox would not see ``programs``; empty where it does."""
    for program in programs:
        real = program.resolve()
        if not is_shown(real):
            return f"{program.name} is {real}, which builds do not see"
    return ""


def is_shown(path: Path) -> bool:
    """Whether a sandbox shows ``path``: it is below /usr, and not below /usr/local."""
    return path.is_relative_to("/usr") and not path.is_relative_to("/usr/local")


def _program(answer: str | None) -> Path | None:
    """A path that a compiler printed; a bare name means that it looks on PATH."""
    if not answer:
        return None
    return Path(answer) if "/" in answer else BIN / answer


def _shared_libraries(programs: list[Path]) -> list[Path]:
    """LLVM's own libraries that programs load."""
    listed = ask(["ldd", *map(str, programs)]) or ""
    return [Path(path) for path in re.findall(r"=> (\S*/lib(?:LLVM|clang|lld)\S*)", listed)]
