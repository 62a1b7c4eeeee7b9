"""Time commands against two yardsticks in one run: the figures are ratios and mean the same anywhere."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

Command = Sequence[str | Path]


class CommandFailedError(Exception):
    """A measured command left another exit code than 0; the message is what it said."""


@dataclass(frozen=True)
class Figure:
    """One command to time: ``before`` puts its folder into the state that each run starts from."""

    name: str
    command: Command
    cwd: Path
    yardstick: str
    mark: float | None
    before: Callable[[], None] = field(default=lambda: None)


@dataclass(frozen=True)
class Row:
    """A figure as measured. Times are medians in seconds."""

    name: str
    seconds: float
    yardstick: str
    ratio: float
    mark: float | None

    @property
    def verdict(self) -> str:
        if self.mark is None:
            return ""
        return "ok" if self.ratio <= self.mark else "OVER"


def execute_timed(command: Command, cwd: Path, env: Mapping[str, str]) -> float:
    """Run a command and return the seconds that it took. Raises CommandFailedError."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise CommandFailedError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return seconds


def execute_rounds(
    yardsticks: Mapping[str, Command], figures: Sequence[Figure], cwd: Path, env: Mapping[str, str], runs: int
) -> tuple[dict[str, float], list[Row]]:
    """Time everything once a round, in turn, so that a busy moment of the machine falls on all alike.

    A first round that does not count warms the caches. Returns the yardsticks' medians and the rows.
    """
    times: dict[str, list[float]] = {name: [] for name in [*yardsticks, *(figure.name for figure in figures)]}
    for counted in [False, *[True] * runs]:
        taken = {name: execute_timed(command, cwd, env) for name, command in yardsticks.items()}
        for figure in figures:
            figure.before()
            taken[figure.name] = execute_timed(figure.command, figure.cwd, env)
        for name, seconds in taken.items():
            times[name] += [seconds] if counted else []
    medians = {name: median(taken) for name, taken in times.items()}
    return {name: medians[name] for name in yardsticks}, [
        Row(
            figure.name,
            medians[figure.name],
            figure.yardstick,
            medians[figure.name] / medians[figure.yardstick],
            figure.mark,
        )
        for figure in figures
    ]


def render_table(base: Mapping[str, float], rows: Sequence[Row], notes: Mapping[str, str]) -> str:
    """The yardsticks, then a line per figure: median, ratio, mark, verdict and a note if it has one."""
    lines = [f"{name:<36}{seconds * 1000:8.1f} ms" for name, seconds in base.items()]
    lines += ["", f"{'figure':<36}{'median':>11}{'ratio':>9}  {'mark':<14}"]
    for row in rows:
        mark = "" if row.mark is None else f"<= {row.mark:g} x {row.yardstick}"
        note = f"  ({notes[row.name]})" if row.name in notes else ""
        lines.append(
            f"{row.name:<36}{row.seconds * 1000:8.1f} ms{row.ratio:8.2f}x  {mark:<14}{row.verdict}{note}"
        )
    return "\n".join(lines)
