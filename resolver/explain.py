"""Why no set of versions meets a manifest, in words. Pure; the CLI only lays it out."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UNSATISFIABLE, RocmlockError
from ..lockfile.demands import Demands
from .choose import PassedOver
from .conflict import Conflict, line_of

_SHOWN = 4


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
    """``vllm 0.20.0 to 0.23.0 (9 releases): tests pytorch 2.10.0``: sets that fail alike share a line."""
    groups: dict[str, list[PassedOver]] = {}
    for item in passed:
        groups.setdefault(item.violation.says, []).append(item)
    for says, items in groups.items():
        yield f"{items[0].top} {_versions(items)}: {says}"


def _versions(items: list[PassedOver]) -> str:
    """Newest first as they come; told oldest first, as people read ranges."""
    versions = list(dict.fromkeys(item.release.version for item in reversed(items)))
    if len(versions) <= _SHOWN:
        return ", ".join(versions)
    return f"{versions[0]} to {versions[-1]} ({len(versions)} releases)"
