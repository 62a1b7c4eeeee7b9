"""Writes docs/errors.md from errors.py: ``python -m tools.errors_page``. A test holds it to the code."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from rocmlock.errors import ExitCode, all_reasons

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"

_CODES = {
    ExitCode.FAILED: "the request failed",
    ExitCode.USAGE: "usage: the command line, a manifest or a recipe",
    ExitCode.UNSATISFIABLE: "unsatisfiable",
    ExitCode.LOCK_OUT_OF_DATE: "the lock is missing, unreadable or out of date",
    ExitCode.BUILD_FAILED: "a build failed, or its output is not what was asked for",
    ExitCode.INTEGRITY: "integrity: content is not what its hash says",
    ExitCode.OFFLINE: "offline, and something is missing",
    ExitCode.MACHINE: "this machine can't",
    ExitCode.NOT_REPRODUCIBLE: "not reproducible",
    ExitCode.INTERRUPTED: "interrupted",
}


def render_page() -> str:
    """The page: a section for each exit code that has errors, a row for each."""
    lines = [
        "# Errors",
        "",
        "Every error has a reference that never changes, one sentence, its context and what to do. With",
        '`--json` the same stands on stdout as `{"error": {…}}`. `python -m tools.errors_page` writes this',
        "page from `errors.py`.",
        "",
    ]
    for code, reasons in groupby(all_reasons(), key=lambda reason: reason.code):
        lines += [f"## Exit code {int(code)}: {_CODES[code]}", "", "| reference | meaning | what to do |"]
        lines += ["| --- | --- | --- |"]
        lines += [
            f"| `{reason.reference}` | {reason.meaning} | {_command(reason.remedy)} |" for reason in reasons
        ]
        lines += [""]
    return "\n".join(lines)


def _command(remedy: str) -> str:
    return f"`{remedy}`" if remedy.startswith(("rocmlock ", "apt-get ")) else remedy


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8")
