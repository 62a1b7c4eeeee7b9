"""Changes of a lock in lines for people. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lockfile.diff import Change, Value, compare_link
from ..lockfile.model import GitSource, Lock
from .words import SHORT


def change_lines(changes: Sequence[Change], old: Lock, new: Lock) -> Iterator[str]:
    """Packages first, each with what changed in it; then targets; wheels in short at the end."""
    for kind in ("package", "target", "lock"):
        found = [change for change in changes if change.kind == kind]
        for name, targets in dict.fromkeys((change.name, change.targets) for change in found):
            mine = [change for change in found if (change.name, change.targets) == (name, targets)]
            yield from _entry(kind, name, targets, mine)
            if kind == "package" and (link := _link(name, old, new)):
                yield f"    {link}"
    yield from _wheels([change for change in changes if change.kind == "wheel"])


def _entry(kind: str, name: str, targets: tuple[str, ...], changes: Sequence[Change]) -> Iterator[str]:
    title = name if kind == "package" else f"{kind} {name}"
    title += f" ({', '.join(targets)})" if targets else ""
    lines = list(_changed_fields(kind, title, changes))
    yield from lines if len(lines) > 1 or kind != "target" else []


def _changed_fields(kind: str, title: str, changes: Sequence[Change]) -> Iterator[str]:
    fields = {change.field: change for change in changes}
    if "" in fields:
        whole = fields[""]
        yield f"{title}  {'added' if whole.before is None else 'removed'}  {whole.after or whole.before}"
        return
    version = fields.pop("version", None)
    yield f"{title}  {version.before or '?'} -> {version.after or '?'}" if version else title
    for field, change in fields.items():
        if (kind, field) != ("target", "python.wheels"):  # the wheels have their own lines
            yield from _field(field, change)


def _field(field: str, change: Change) -> Iterator[str]:
    before, after = change.before, change.after
    if not isinstance(before, tuple) and not isinstance(after, tuple):
        yield f"    {field}: {_short(before)} -> {_short(after)}"
        return
    old, new = _items(before), _items(after)
    if sorted(old) == sorted(new):
        yield f"    {field}: in another order"
    yield from (f"    {field}: - {item}" for item in old if item not in new)
    yield from (f"    {field}: + {item}" for item in new if item not in old)


def _items(value: Value | None) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _short(text: str | None) -> str:
    """Commits and hashes as people compare them."""
    if text is None:
        return "none"
    if len(text) == 40 and not text.strip("0123456789abcdef"):
        return text[:SHORT]
    return text if len(text) <= 70 else f"{text[:67]}…"


def _link(name: str, old: Lock, new: Lock) -> str | None:
    sources = [
        next((package.source for package in lock.packages if package.name == name), None)
        for lock in (old, new)
    ]
    match sources:
        case [GitSource() as before, GitSource() as after] if before.commit != after.commit:
            return compare_link(before.url, after.url, before.commit, after.commit)
        case _:
            return None


def _wheels(changes: Sequence[Change]) -> Iterator[str]:
    added = [change for change in changes if change.before is None and not change.field]
    removed = [change for change in changes if change.after is None and not change.field]
    moved = [change for change in changes if change.field == "version"]
    names = {change.name for change in changes}
    other = names - {change.name for change in (*added, *removed, *moved)}
    if not names:
        return
    yield f"wheels: {len(moved)} at another version, {len(added)} added, {len(removed)} removed" + (
        f", {len(other)} otherwise changed" if other else ""
    )
    yield from (f"    {change.name}  {change.before} -> {change.after}" for change in moved)
    yield from (f"    {change.name}  added  {change.after}" for change in added)
    yield from (f"    {change.name}  removed  {change.before}" for change in removed)
    yield from (f"    {name}  another file" for name in sorted(other))
