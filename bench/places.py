"""What is measured and where: an installed wheel, and folders in the state that a command starts from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .measure import execute_timed

_ROOT = Path(__file__).resolve().parent.parent
# Bash's own EPOCHREALTIME costs no process of its own; its fraction always has six digits.
_WATCHED_UV = """\
#!/bin/bash
start=${{EPOCHREALTIME//[.,]/}}
"{real}" "$@"
code=$?
echo $(( ${{EPOCHREALTIME//[.,]/}} - start )) >> "{log}"
exit $code
"""


@dataclass(frozen=True)
class Place:
    """A scratch folder, the wheel installed below it, and the variables that it runs with."""

    folder: Path
    bin: Path
    env: Mapping[str, str]

    @property
    def rocmlock(self) -> Path:
        return self.bin / "rocmlock"


def make_place(folder: Path) -> Place:
    """Build the wheel of this checkout and install it, with what it needs at the versions of the dev lock."""
    subprocess.run([sys.executable, _ROOT / "tools" / "build_dist.py", folder / "dist"], check=True)
    wheel = next((folder / "dist").glob("*.whl"))
    venv = folder / "venv"
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, venv], check=True)
    lock = _ROOT / "requirements-dev.lock"
    install = [*uv, "pip", "install", "--python", venv, "--compile-bytecode", "--constraint", lock, wheel]
    subprocess.run(install, check=True)
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ROCMLOCK_", "XDG_"))}
    home = folder / "home"
    home.mkdir()
    uv_cache = os.environ.get("UV_CACHE_DIR") or str(caches / "uv")
    store = str(folder / "store")
    env = {
        **own,
        "HOME": str(home),
        "ROCMLOCK_STORE": store,
        "ROCMLOCK_SOURCE": "snapshot",
        "UV_CACHE_DIR": uv_cache,
        "NO_COLOR": "1",
    }
    return Place(folder, venv / "bin", env)


def make_stock(place: Place, name: str, *, locked: bool) -> Path:
    """A folder with the stock manifest as ``rocmlock.toml`` and, if asked for, its lock."""
    folder = place.folder / name
    folder.mkdir()
    shutil.copy2(_ROOT / "manifests" / "stock" / "mi300x-vllm.toml", folder / "rocmlock.toml")
    if locked:
        execute_timed([place.rocmlock, "resolve"], folder, place.env)
    return folder


def make_realized(place: Place) -> Path:
    """A folder with the first-light manifest, its lock, and all that it asks for built into the store."""
    folder = place.folder / "first-light"
    folder.mkdir()
    manifest = folder / "rocmlock.toml"
    subprocess.run([sys.executable, _ROOT / "tools" / "first_light.py", manifest], check=True)
    for command in ("resolve", "realize"):
        execute_timed([place.rocmlock, command], folder, place.env)
    return folder


@contextmanager
def watch_uv(place: Place) -> Generator[Callable[[], list[float]]]:
    """Stand a script before the environment's uv. What is yielded returns the seconds of each call
    since then, or since it was last asked."""
    uv, real, log = place.bin / "uv", place.bin / "uv-real", place.folder / "uv.log"
    uv.rename(real)
    uv.write_text(_WATCHED_UV.format(real=real, log=log))
    uv.chmod(0o755)

    def take() -> list[float]:
        calls = [int(line) / 1e6 for line in log.read_text().split()] if log.exists() else []
        log.unlink(missing_ok=True)
        return calls

    try:
        yield take
    finally:
        real.replace(uv)
