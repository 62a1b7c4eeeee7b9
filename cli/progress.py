"""Progress on stderr: a line for each phase; on a terminal, the latest line of the work below it."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.status import Status


class Progress:
    """Says phases as they begin. Without a terminal it says nothing else."""

    def __init__(self) -> None:
        self._status: Status | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def phase(self, text: str) -> None:
        self._stop()
        click.echo(text, err=True)
        if sys.stderr.isatty():
            from .render import console

            self._status = console(stderr=True).status("")
            self._status.start()

    def line(self, source: str, text: str) -> None:
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(f"{source}: {text}"[:100], style="dim"))
