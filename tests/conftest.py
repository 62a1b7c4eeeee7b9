"""Fixtures of the whole suite: an isolated process, the command line, and what a machine must have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from harness import Cli
from hypothesis import settings

# How long an example takes is no fault: machines differ, and figures are the bench's.
settings.register_profile("rocmlock", deadline=None)
settings.load_profile("rocmlock")


@pytest.fixture(scope="session", autouse=True)
def isolated_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the user's own store, configuration or home; uv's cache alone is shared."""
    home = tmp_path_factory.mktemp("home")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_CACHE_DIR", os.environ.get("UV_CACHE_DIR") or str(caches / "uv"))
        for name in [name for name in os.environ if name.startswith("ROCMLOCK_")]:
            if name != "ROCMLOCK_UPDATE_GOLDEN":
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        patch.setenv("ROCMLOCK_STORE", str(home / "store"))
        patch.setenv("NO_COLOR", "1")
        patch.delenv("FORCE_COLOR", raising=False)
        yield


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command in an empty folder (``cli.cwd``) with an empty store (``cli.store``)."""
    cwd = tmp_path / "work"
    cwd.mkdir()
    return Cli(cwd, tmp_path / "store")


def _lacks_sandbox() -> str:
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    probe = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(probe, check=False, capture_output=True, text=True)
    return f"bubblewrap cannot make a sandbox here: {done.stderr.strip()}" if done.returncode else ""


def _lacks_network() -> str:
    uv = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps", "--refresh", "-"]
    done = subprocess.run(uv, check=False, capture_output=True, text=True, input="iniconfig")
    return "uv cannot reach PyPI" if done.returncode else ""


def _lacks_command(name: str) -> Callable[[], str]:
    return lambda: "" if shutil.which(name) else f"{name} is not installed"


_PROBES: dict[str, Callable[[], str]] = {
    "bwrap": _lacks_sandbox,
    "network": _lacks_network,
    **{
        name: _lacks_command(name) for name in ("gcc-11", "g++-11", "clang-19", "ld.lld-19", "git", "openssl")
    },
}


@cache
def _lacks(need: str) -> str:
    return _PROBES[need]()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """``@pytest.mark.requires("bwrap", "g++-11")`` skips with the reason; an unknown need is an error."""
    for mark in item.iter_markers("requires"):
        for need in mark.args:
            if need not in _PROBES:
                raise pytest.UsageError(f"{item.nodeid}: requires() knows {sorted(_PROBES)}, not {need!r}")
            if reason := _lacks(need):
                pytest.skip(reason)
