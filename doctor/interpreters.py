"""Python interpreters of the system: below /usr, with the headers that extensions need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .compilers import BIN
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


def find_python(version: str) -> Interpreter | Lack:
    """The system's Python ``version`` ("3.12"), with its headers."""
    path = BIN / f"python{version}"
    install = f"apt-get install python{version} python{version}-dev"
    answer = ask([str(path), "-I", "-c", _QUESTION])
    if answer is None:
        others = sorted(
            other.name for other in BIN.glob("python3.*") if other.name.removeprefix("python3.").isdigit()
        )
        return Lack(f"Python {version}", install, f"/usr/bin has {', '.join(others) or 'no Python'}")
    full, include, library = answer.splitlines()
    if not (Path(include) / "Python.h").exists():
        return Lack(
            f"Python {version}'s headers", f"apt-get install python{version}-dev", "its program is here"
        )
    return Interpreter(full, path, real_files([path, Path(library)]))
