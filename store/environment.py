"""Environments: composed from wheels by uv, per machine, disposable, switched in by one rename."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..errors import NOT_REALIZED, OUTPUT_INVALID, RocmlockError

_VERSION = "rocmlock-environment-v1"
# What a user's shell may hold and an environment must not see.
_LEAKS = ("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "CONDA_PREFIX", "VIRTUAL_ENV")


def environment_id(wheels: Mapping[str, str], interpreter: str) -> str:
    """The name of an environment: SHA-256 over its wheels (file name -> digest) and its interpreter."""
    lines = [_VERSION, interpreter, *(f"{file} {digest}" for file, digest in sorted(wheels.items()))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def compose(
    place: Path, scratch: Path, interpreter: Path, wheels: Mapping[str, Path], about: Mapping[str, object]
) -> None:
    """Make the environment at ``place`` from ``wheels`` (file name -> file).

    ``scratch`` is a folder in the same file system that the caller removes. Files are unpacked, so nothing in
    an environment shares an inode with the store. ``about`` is kept in it.
    """
    made = scratch / "environment"
    _uv(scratch, "venv", "--relocatable", "--python", str(interpreter), str(made))
    if wheels:
        files = [str(wheels[name]) for name in sorted(wheels)]
        _uv(scratch, "pip", "install", "--no-deps", "--python", str(made / "bin" / "python"), *files)
    (made / "rocmlock.json").write_text(json.dumps(about, indent=1, sort_keys=True) + "\n")
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        return
    try:
        made.rename(place)
    except OSError:
        if not place.exists():  # else another process was faster: its environment is the same
            raise


def _uv(scratch: Path, *arguments: str) -> None:
    import uv

    command = [uv.find_uv_bin(), *arguments, "--no-config", "--offline", "--no-python-downloads", "--quiet"]
    environment = {
        "HOME": str(scratch),
        "PATH": "/usr/bin:/bin",
        "UV_CACHE_DIR": str(scratch / "cache"),
        "UV_NO_INSTALLER_METADATA": "1",
        "UV_NO_PROGRESS": "1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RocmlockError(
            OUTPUT_INVALID,
            "uv cannot compose the environment from the lock's wheels.",
            context=done.stderr.replace(str(scratch), "…").strip().splitlines()[:20],
        )


def is_composed(place: Path) -> bool:
    """Whether an environment is there. Only whole ones ever are."""
    return (place / "bin" / "python").exists()


def run_variables(place: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables for a command in the environment: the caller's, without what would break into it."""
    kept = {name: value for name, value in environ.items() if name not in _LEAKS}
    path = os.pathsep.join(filter(None, (str(place / "bin"), environ.get("PATH", ""))))
    return {**kept, "PATH": path, "VIRTUAL_ENV": str(place), "PYTHONNOUSERSITE": "1"}


def find_command(name: str, variables: Mapping[str, str]) -> str | None:
    """The program that ``name`` is with ``variables``: the environment's own before others on PATH."""
    return shutil.which(name, path=variables["PATH"])


def record_name(text: str, target: str) -> str:
    """The name of the record of a realized lock: SHA-256 of its ``text``, and of the target of several.

    ``target`` is empty for a lock of one target: `rocmlock run` finds that record without reading the lock.
    """
    name = hashlib.sha256(text.encode()).hexdigest()
    return hashlib.sha256(f"{name} {target}".encode()).hexdigest() if target else name


def read_record(record: Path, environments: Path, hint: str = "") -> Path:
    """The environment that a lock was realized to on this machine. Raises NOT_REALIZED with ``hint``."""
    try:
        name = record.read_text().strip()
    except OSError:
        name = ""
    place = environments / name
    if not name or not is_composed(place):
        raise RocmlockError(NOT_REALIZED, "This lock has not been realized on this machine.", hint=hint)
    return place
