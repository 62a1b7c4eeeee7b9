"""The command run as its users run it, and golden files. Tests import it as ``harness`` (``pythonpath``)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Outcome:
    """What a run of the command left behind."""

    code: int
    stdout: str
    stderr: str

    def json(self) -> object:
        """The answer of a run with ``--json``."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Cli:
    """Runs ``rocmlock`` as a process of its own, in ``cwd``, with a store of its own."""

    cwd: Path
    store: Path

    def __call__(
        self,
        *args: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
        timeout: float = 600,
    ) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "rocmlock", *map(str, args)],
            cwd=cwd or self.cwd,
            env={
                **os.environ,
                "ROCMLOCK_STORE": str(self.store),
                "ROCMLOCK_SOURCE": "snapshot",
                **(env or {}),
            },
            input=stdin,
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)


def check_golden(golden: Path, actual: str) -> None:
    """Hold a text to a golden file, or rewrite the file under ``ROCMLOCK_UPDATE_GOLDEN``.

    A test whose file was rewritten is skipped, not passed: what was written has to be read and run again.
    """
    before = golden.read_text(encoding="utf-8") if golden.exists() else None
    if os.environ.get("ROCMLOCK_UPDATE_GOLDEN") and actual != before:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(actual, encoding="utf-8")
        pytest.skip(f"rewrote {golden.name}: read the difference, then run the tests again")
    assert before is not None, f"{golden} is missing; ROCMLOCK_UPDATE_GOLDEN=1 make test writes it"
    assert actual == before
