"""Python interpreters of the system: below /usr, with the headers that extensions need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .compilers import BIN, is_shown
from .facts import Lack, ask, real_files

_QUESTION = """
import platform, sysconfig
print(platform.python_version())
print(sysconfig.get_paths()["include"])
print(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("LDLIBRARY") or "", sep="/")
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """``version`` is the full one; ``files`` are the program and its library."""

    version: str
    path: Path
    files: tuple[Path, ...]


def find_python(version: str, folder: Path = BIN) -> Interpreter | Lack:
    """Python ``version`` ("3.12") in ``folder``, with its headers."""
    path = folder / f"python{version}"
    install = f"apt-get install python{version} python{version}-dev"
    # The last lines are ours: a sitecustomize may print before.
    answer = (ask([str(path), "-I", "-c", _QUESTION]) or "").splitlines()[-3:]
    if len(answer) < 3:
        return Lack(f"Python {version}", install, f"{folder} has {_others(folder) or 'no Python'}")
    full, include, library = answer
    if not full.startswith(f"{version}."):
        return Lack(f"Python {version}", install, f"python{version} is here, but is version {full}")
    if not (Path(include) / "Python.h").exists():
        headers = f"Python {version}'s headers"
        return Lack(headers, f"apt-get install python{version}-dev", "its program is here")
    if not is_shown(path.resolve()):
        fact = f"python{version} is {path.resolve()}, which builds do not see"
        return Lack(f"Python {version} below /usr", install, fact)
    return Interpreter(full, path, real_files([path, Path(library)]))


def _others(folder: Path) -> str:
    names = [path.name for path in folder.glob("python3.*") if path.name[len("python3.") :].isdigit()]
    return ", ".join(sorted(names, key=lambda name: int(name[len("python3.") :])))
