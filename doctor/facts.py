"""Asking programs about themselves, and what a machine lacks as a value."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that is not here. ``install`` is the command that brings it, ``fact`` what is here."""

    what: str
    install: str = ""
    fact: str = ""

    def __str__(self) -> str:
        return self.what + (f" ({self.fact})" if self.fact else "")


def ask(command: Sequence[str]) -> str | None:
    """What a command prints; None where it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def real_files(paths: Sequence[Path | None]) -> tuple[Path, ...]:
    """The files behind ``paths``, links followed, each once; those that are not there are left out."""
    found = {path.resolve() for path in paths if path is not None and path.exists()}
    return tuple(sorted(found))
