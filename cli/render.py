"""How answers, talk and errors look. rich is imported where it is used: the no-change path never needs it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import RocmlockError

if TYPE_CHECKING:
    from rich.console import Console


def talk(text: str) -> None:
    """A line to the user beside the answer."""
    click.echo(text, err=True)


def answer_json(value: Any) -> None:
    """The answer for scripts."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def console(*, stderr: bool = False) -> Console:
    """A console that honours NO_COLOR and does not wrap what goes into a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 240
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=not stream.isatty())


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    console().print(made)


def signed_lines(lines: Iterable[str]) -> None:
    """Lines on stdout; on a terminal what is added is green, what is removed red, what is changed yellow."""
    colours = {"+": "green", "-": "red", "~": "yellow"}
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in lines:
        colour = colours.get(line[:1]) if coloured else None
        click.echo(click.style(line, fg=colour) if colour else line)


def render_error(error: RocmlockError) -> None:
    """An error on stderr: reference, sentence, places, facts, what to do."""
    from rich.text import Text

    out = console(stderr=True)
    head = Text.assemble(("error", "bold red"), (f"[{error.reason.reference}]", "red"), " ", error.message)
    out.print(head)
    for problem in error.problems:
        place = Text(f"  {problem.place}: " if problem.place else "  ", style="cyan")
        out.print(place + Text(problem.message, style="default"))
        if problem.hint:
            out.print(Text(f"      {problem.hint}", style="green"))
    for line in error.context:
        out.print(Text(f"  {line}"))
    if error.hint:
        out.print(Text.assemble(("try: ", "bold green"), error.hint))


def render_error_json(error: RocmlockError) -> str:
    """The error for scripts: one object under "error"."""
    problems = [
        {
            "message": problem.message,
            "hint": problem.hint,
            "file": problem.place.file if problem.place else "",
            "line": problem.place.line if problem.place else 0,
            "column": problem.place.column if problem.place else 0,
        }
        for problem in error.problems
    ]
    body = {
        "reference": error.reason.reference,
        "exit-code": int(error.reason.code),
        "message": error.message,
        "context": list(error.context),
        "problems": problems,
        "hint": error.hint,
    }
    return json.dumps({"error": body}, indent=2, ensure_ascii=False)
