"""What a target needs of the machine, looked for: compilers, interpreter, ROCm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from ..doctor.compilers import Clang, Gcc, find_clang, find_gcc, find_rocm
from ..doctor.facts import Lack
from ..doctor.interpreters import Interpreter, find_python
from ..lockfile.model import Target


@frozen
class Found:
    """``words`` are the placeholders that the system decides, ``files`` what belongs into its fingerprint."""

    lacks: tuple[Lack, ...]
    words: dict[str, str]
    files: tuple[Path, ...]
    interpreter: Interpreter | None


def find_toolchain(target: Target) -> Found:
    """Everything that ``target`` names, found or lacking."""
    host, device = target.toolchain.host, target.toolchain.device
    lacks: list[Lack] = []
    files: list[Path] = []
    words: dict[str, str] = {}
    gcc = _take(find_gcc, host.version if host.kind == "gcc" else host.gcc_install, lacks)
    if isinstance(gcc, Gcc):
        files += gcc.files
        words |= {"{cc}": str(gcc.cc), "{cxx}": str(gcc.cxx), "{gcc-install-dir}": str(gcc.install)}
    clangs = {compiler.version for compiler in (host, device) if compiler.kind == "clang"}
    for version in sorted(clangs):
        clang = _take(find_clang, version, lacks)
        if isinstance(clang, Clang):
            files += clang.files
            if host.kind == "clang" and host.version == version and isinstance(gcc, Gcc):
                pick = f"--gcc-install-dir={gcc.install}"
                words |= {"{cc}": f"{clang.cc} {pick}", "{cxx}": f"{clang.cxx} {pick}"}
            if device.kind == "clang" and device.version == version:
                words["{hipcxx}"] = str(clang.cxx)
    if target.rocm is not None:
        rocm = find_rocm(target.rocm.version)
        if isinstance(rocm, Lack):
            lacks.append(rocm)
        else:
            lacks.append(
                Lack("ROCm in the sandbox", "", f"{rocm} is here; this version shows builds /usr alone")
            )
    python = _take(find_python, target.python.version, lacks)
    if isinstance(python, Interpreter):
        files += python.files
    interpreter = python if isinstance(python, Interpreter) else None
    return Found(tuple(lacks), words, tuple(files), interpreter)


def _take(
    find: Callable[[str], Gcc | Clang | Interpreter | Lack], version: str, lacks: list[Lack]
) -> Gcc | Clang | Interpreter | None:
    found = find(version)
    if isinstance(found, Lack):
        lacks.append(found)
        return None
    return found
