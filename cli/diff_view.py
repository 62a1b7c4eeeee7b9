"""Changes of a lock in lines for people. Pure. Lines begin with ``+``, ``-``, ``~`` or spaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ..lockfile.diff import Change
from ..lockfile.model import GitSource, Lock
from ..lockfile.urls import compare_link, public_url
from .words import SHORT


def change_lines(changes: Sequence[Change], old: Lock, new: Lock) -> Iterator[str]:
    """Each package with what changed in it; then targets, flags, warnings; wheels in short at the end."""
    shown, targets = _without_whole_targets(changes)
    told = {word for change in shown if change.kind == "wheel" for word in _wheel_ids(change)}
    for kind in ("package", "target", "lock", "warning"):
        entries: dict[tuple[str, tuple[str, ...]], list[Change]] = {}
        for change in shown:
            if change.kind == kind:
                entries.setdefault((change.name, change.targets), []).append(change)
        for (name, on), mine in entries.items():
            yield from _entry(kind, f"{name}{_on(on, targets, kind)}", mine, told, (old, new))
    yield from _wheels([change for change in shown if change.kind == "wheel"], targets)


def describe_changes(changes: Sequence[Change], old: Lock, new: Lock) -> list[dict[str, Any]]:
    """Changes for ``--json``; one of a commit has the link that compares."""
    from attrs import asdict

    rows: list[dict[str, Any]] = []
    for change in changes:
        row: dict[str, Any] = asdict(change)
        if change.field == "source.url":
            row |= {side: public_url(row[side] or "") or None for side in ("before", "after")}
        for side in ("before", "after"):
            if isinstance(row[side], dict) and "source.url" in row[side]:
                row[side] = {**row[side], "source.url": public_url(row[side]["source.url"])}
        link = _link(change, old, new)
        rows.append({**row, "compare": link} if link else row)
    return rows


def _without_whole_targets(changes: Sequence[Change]) -> tuple[list[Change], set[str]]:
    """Changes without those that only tell that a target came or went with all it has; all other targets."""
    from attrs import evolve

    whole = {change.name for change in changes if change.kind == "target" and not change.field}
    left: list[Change] = []
    for change in changes:
        on = tuple(target for target in change.targets if target not in whole)
        if on or not change.targets or change.kind == "target":
            left.append(evolve(change, targets=on))
    return left, {target for change in left for target in change.targets}


def _on(on: tuple[str, ...], targets: set[str], kind: str) -> str:
    return f" ({', '.join(on)})" if on and kind != "target" and len(targets) > 1 else ""


def _entry(
    kind: str, title: str, changes: Sequence[Change], told: set[str], locks: tuple[Lock, Lock]
) -> Iterator[str]:
    title = title if kind == "package" else f"{kind} {title}".rstrip()
    fields = {change.field: change for change in changes}
    if "" in fields:
        change = fields[""]
        sign, whole = ("+", change.after) if change.before is None else ("-", change.before)
        yield f"{sign} {title}  {_summary(kind, whole)}".rstrip()
        return
    version = fields.pop("version", None)
    lines: list[str] = []
    for change in fields.values():
        lines += _field(change, told)
        if link := _link(change, *locks):
            lines.append(f"    {link}")
    if version or lines:
        yield f"~ {title}" + (f"  {version.before or '?'} -> {version.after or '?'}" if version else "")
        yield from lines


def _summary(kind: str, whole: Mapping[str, Any]) -> str:
    if kind == "target":
        rocm = [f"ROCm {whole['rocm.version']}"] if "rocm.version" in whole else []
        return ", ".join((*whole["gfx"], *rocm, f"Python {whole['python.version']}"))
    names = ("version", "source.commit", "source.file", "source.path")
    return _short(next((whole[name] for name in names if whole.get(name)), ""))


def _field(change: Change, told: set[str]) -> Iterator[str]:
    before, after, field = change.before, change.after, change.field
    if not isinstance(before, list) and not isinstance(after, list):
        if field == "source.url":
            before, after = public_url(before or ""), public_url(after or "")
        yield f"    {field}  {_short(before)} -> {_short(after)}"
        return
    old, new = _items(before), _items(after)
    if sorted(old) == sorted(new):
        yield f"    {field}  in another order"
    hidden = told if field.endswith("wheels") else set[str]()
    yield from (f"    {field}  - {_short(item)}" for item in old if item not in new and item not in hidden)
    yield from (f"    {field}  + {_short(item)}" for item in new if item not in old and item not in hidden)


def _items(value: Any) -> list[str]:
    return [_word(item) for item in value or ()]


def _word(item: Any) -> str:
    """A list's item in a line: a command, a reason, a check, a patch."""
    if isinstance(item, list):
        return " ".join(map(str, cast("list[Any]", item)))
    if not isinstance(item, dict):
        return str(item)
    fields = cast("dict[str, Any]", item)
    if "says" in fields:
        return f"{fields['says']}  [{fields['at']}]"
    return ", ".join(f"{key} {_word(value)}" for key, value in fields.items() if key != "text")


def _short(value: Any) -> str:
    """Commits as people compare them, one line, no longer than a line."""
    if not value:
        return "none"
    text = " ".join(str(value).split())
    if len(text) == 40 and not text.strip("0123456789abcdef"):
        return text[:SHORT]
    return text if len(text) <= 200 else f"{text[:197]}…"


def _link(change: Change, old: Lock, new: Lock) -> str | None:
    if (change.kind, change.field) != ("package", "source.commit") or not change.targets:
        return None
    sources = [
        package.source if (package := lock.package(change.name, change.targets[0])) else None
        for lock in (old, new)
    ]
    match sources:
        case [GitSource() as before, GitSource() as after]:
            return compare_link(before.url, after.url, before.commit, after.commit)
        case _:
            return None


def _wheel_ids(change: Change) -> Iterator[str]:
    """The ids that a wheel's change tells: lists that name them need not be shown again."""
    for side in (change.before, change.after):
        if not change.field and side:
            yield f"{change.name}=={side['version']}"
        elif change.field == "version":
            yield f"{change.name}=={side}"


def _wheels(changes: Sequence[Change], targets: set[str]) -> Iterator[str]:
    added = [change for change in changes if not change.field and change.before is None]
    removed = [change for change in changes if not change.field and change.after is None]
    moved = [change for change in changes if change.field == "version"]
    known = {(change.name, change.targets) for change in moved}
    other = dict.fromkeys(
        (change.name, change.targets)
        for change in changes
        if change.field and (change.name, change.targets) not in known
    )
    counts = (
        (moved, "at another version"),
        (added, "added"),
        (removed, "removed"),
        (other, "from another file"),
    )
    if told := [f"{len(found)} {words}" for found, words in counts if found]:
        yield f"wheels: {', '.join(told)}"

    def on(change_targets: tuple[str, ...]) -> str:
        return _on(change_targets, targets, "wheel")

    yield from (f"~ {each.name}{on(each.targets)}  {each.before} -> {each.after}" for each in moved)
    yield from (f"+ {each.name}{on(each.targets)}  {each.after['version']}" for each in added)
    yield from (f"- {each.name}{on(each.targets)}  {each.before['version']}" for each in removed)
    yield from (f"~ {name}{on(on_targets)}  another file" for name, on_targets in other)


_MOST_WORDS = 8


def change_words(changes: Sequence[Change]) -> str:
    """Changes of one entry in a line, cut where they are many."""
    words: list[str] = []
    for change in changes:
        if not change.field:
            sign, whole = ("added", change.after) if change.before is None else ("removed", change.before)
            words.append(f"{sign} {_summary(change.kind, whole)}".rstrip())
        else:
            words += (" ".join(line.split()) for line in _field(change, set()))
    more = [f"and {len(words) - _MOST_WORDS} more"] if len(words) > _MOST_WORDS else []
    return ", ".join((*words[:_MOST_WORDS], *more))
