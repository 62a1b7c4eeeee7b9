"""``python -m bench [--runs N]``: print the figures that the project is held to, each beside its mark."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from .measure import Command, CommandFailedError, Figure, execute_rounds, execute_timed, render_table
from .places import Place, make_place, make_realized, make_stock, watch_uv
from .resolving import resolving_figures

_FLOOR = "import pydantic, attrs, cattrs, click, rich"
_RESOLVE = "resolve (stock, no lock)"
_RELOCK = "resolve (stock, beside its lock)"


def plan_figures(place: Place) -> list[Figure]:
    """The commands with their marks; makes the folders that they run in."""
    locked = make_stock(place, "locked", locked=True)
    fresh = make_stock(place, "fresh", locked=False)
    realized = make_realized(place)
    rocmlock = place.rocmlock
    remove_lock = remover(fresh / "rocmlock.lock")
    return [
        Figure("--version", [rocmlock, "--version"], place.folder, "pass", 5),
        Figure("check (stock)", [rocmlock, "check"], locked, "floor", 2),
        # uv and the package index take nearly all of it: shown, but no mark of ours.
        Figure(_RESOLVE, [rocmlock, "resolve"], fresh, "floor", None, remove_lock),
        Figure(_RELOCK, [rocmlock, "resolve"], locked, "floor", 4),
        Figure("realize (first-light, in the store)", [rocmlock, "realize"], realized, "floor", 3),
    ]


def remover(path: Path) -> Callable[[], None]:
    return lambda: path.unlink(missing_ok=True)


def measure_uv(place: Place, figure: Figure, runs: int) -> str:
    """What uv does inside a figure's command, measured in runs of their own: the watching costs time too."""
    calls: list[list[float]] = []
    with watch_uv(place) as take:
        for _ in range(runs):
            figure.before()
            execute_timed(figure.command, figure.cwd, place.env)
            calls.append(take())
    spent = median(sum(seconds) for seconds in calls)
    return f"uv's own time {spent * 1000:.1f} ms in {len(calls[-1])} calls"


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="rounds that count (default: 15)")
    runs: int = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="rocmlock-bench-") as scratch:
        try:
            place = make_place(Path(scratch))
            python = place.bin / "python"
            yardsticks: dict[str, Command] = {
                "pass": [python, "-I", "-c", "pass"],
                "floor": [python, "-I", "-c", _FLOOR],
            }
            figures = plan_figures(place)
            base, rows = execute_rounds(yardsticks, figures, place.folder, place.env, runs)
            watched = [figure for figure in figures if figure.name in {_RESOLVE, _RELOCK}]
            notes = {figure.name: measure_uv(place, figure, 5) for figure in watched}
            further = list(resolving_figures(place.rocmlock, place.env, Path(scratch)))
        except CommandFailedError as failure:
            print(failure, file=sys.stderr)
            return 1
    print(f"Medians of {runs} interleaved rounds; pass is `python -I -c pass`, floor is `{_FLOOR}`.\n")
    print(render_table(base, rows, notes))
    print("\n" + "\n".join(further))
    return 0


if __name__ == "__main__":
    sys.exit(main())
