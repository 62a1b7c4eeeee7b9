"""What a target needs of the machine, looked for: compilers, interpreter, ROCm."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
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
    """Everything that ``target`` names, found or lacking. Compilers and Python are asked at the same time."""
    host, device = target.toolchain.host, target.toolchain.device
    clangs = sorted({compiler.version for compiler in (host, device) if compiler.kind == "clang"})
    with ThreadPoolExecutor() as pool:
        asked_python = pool.submit(find_python, target.python.version)
        asked_gcc = pool.submit(find_gcc, host.version if host.kind == "gcc" else host.gcc_install)
        asked_clangs = [pool.submit(find_clang, version) for version in clangs]
        gcc, python = asked_gcc.result(), asked_python.result()
        found_clangs = dict(zip(clangs, (asked.result() for asked in asked_clangs), strict=True))
    lacks = [each for each in (gcc, *found_clangs.values()) if isinstance(each, Lack)]
    if target.rocm is not None:
        lacks.append(_rocm(target.rocm.version))
    if isinstance(python, Lack):
        lacks.append(python)
    files = [
        file
        for each in (gcc, *found_clangs.values(), python)
        if not isinstance(each, Lack)
        for file in each.files
    ]
    interpreter = None if isinstance(python, Lack) else python
    words = {} if isinstance(gcc, Lack) else _words(target, gcc, found_clangs)
    return Found(tuple(lacks), words, tuple(files), interpreter)


def _rocm(version: str) -> Lack:
    """Why ROCm cannot be used: it is not here, or a sandbox does not show it yet."""
    found = find_rocm(version)
    if isinstance(found, Lack):
        return found
    return Lack("ROCm in the sandbox", "", f"{found} is here; this version shows builds /usr alone")


def _words(target: Target, gcc: Gcc, clangs: Mapping[str, Clang | Lack]) -> dict[str, str]:
    words = {"{cc}": str(gcc.cc), "{cxx}": str(gcc.cxx), "{gcc-install-dir}": str(gcc.install)}
    host = clangs.get(target.toolchain.host.version) if target.toolchain.host.kind == "clang" else None
    if isinstance(host, Clang):
        pick = f"--gcc-install-dir={gcc.install}"
        words |= {"{cc}": f"{host.cc} {pick}", "{cxx}": f"{host.cxx} {pick}"}
    device = clangs.get(target.toolchain.device.version)
    if isinstance(device, Clang):
        words["{hipcxx}"] = str(device.cxx)
    return words
