"""Why no set of versions meets a manifest, in words. Pure; the CLI only lays it out."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UNSATISFIABLE, RocmlockError
from ..lockfile.demands import Demands
from .choose import Conflict, PassedOver, line_of


def conflict_error(conflict: Conflict, demands: Demands) -> RocmlockError:
    """The error for a conflict: sets grouped by the first fact that rules them out, the lines that are
    impossible together, and changes that were tried and do help."""
    lines = [line_of(demands, line) for line in conflict.impossible]
    message = f"No tested set of {conflict.top} meets the manifest."
    if len(lines) == 1:
        message = f"No tested set of {conflict.top} meets {lines[0]}."
    elif lines:
        message = f"No tested set of {conflict.top} meets these lines together: {' and '.join(lines)}."
    hints = [
        f"{' and '.join(change.instead)} gives {conflict.top} {change.tested.release.version}"
        for change in conflict.changes
    ]
    hint = "Changes that were tried and help: " + "; ".join(hints) if hints else ""
    return RocmlockError(UNSATISFIABLE, message, context=list(group_lines(conflict.passed_over)), hint=hint)


def group_lines(passed: Iterable[PassedOver]) -> Iterable[str]:
    """``vllm 0.20.0 to 0.23.0: tests pytorch 2.10.0``: neighbours that fail alike share a line."""
    run: list[PassedOver] = []
    for item in passed:
        if run and item.violation.says != run[-1].violation.says:
            yield _group(run)
            run = []
        run.append(item)
    if run:
        yield _group(run)


def _group(run: list[PassedOver]) -> str:
    newest, oldest = run[0].tested, run[-1].tested
    versions = newest.release.version
    if oldest.release.version != versions:
        versions = f"{oldest.release.version} to {versions}"
    return f"{newest.top} {versions}: {run[0].violation.says}"
