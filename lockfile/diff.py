"""What differs between two locks, by target, package and wheel. Pure.

The locks are compared target by target as they are written, so every field that a lock can hold is told when
it differs, and how targets share entries makes no difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from attrs import evolve, frozen

from .model import Lock
from .targets import lock_of
from .wire_v1 import render_document

Kind = Literal["lock", "target", "package", "wheel", "warning"]
Entry = Mapping[str, Any]
"""Dotted field -> plain value. A list is one value; what is empty is not there."""


@frozen
class Change:
    """``field`` is the dotted path inside what ``kind`` and ``name`` say, as docs/formats/lock.md names it.

    It is empty where the whole was added (``before`` is None) or removed (``after`` is None); the other side
    then holds all its fields. ``targets`` are those on which it differs so; none for what concerns all.
    """

    kind: Kind
    name: str
    field: str
    before: Any
    after: Any
    targets: tuple[str, ...] = ()


def diff_locks(old: Lock, new: Lock, *, reasons: bool = False) -> tuple[Change, ...]:
    """Everything that differs: first what concerns all, then targets, packages and wheels by name.

    Reasons and warnings only with ``reasons``.
    """
    found = [*_whole(old, new), *_of_targets(old, new)]
    return tuple(change for change in found if reasons or not _is_reason(change))


def _whole(old: Lock, new: Lock) -> Iterator[Change]:
    before, after = ({"name": lock.name, **dict(_flat(_plain_flags(lock), "flags"))} for lock in (old, new))
    yield from _fields("lock", "", before, after)
    said = [{(warning.says, *warning.at) for warning in lock.warnings} for lock in (old, new)]
    for says, *at in sorted(said[0] ^ said[1]):
        whole = {"says": says, "at": at}
        gone = (says, *at) in said[0]
        yield Change("warning", says, "", whole if gone else None, None if gone else whole)


def _plain_flags(lock: Lock) -> Mapping[str, str]:
    return {"opt-level": lock.flags.opt_level, "debug": lock.flags.debug}


def _of_targets(old: Lock, new: Lock) -> Iterator[Change]:
    """The changes of each target; equal ones of several as one."""
    groups: dict[str, Change] = {}
    names = sorted({target.name for lock in (old, new) for target in lock.targets})
    for name in names:
        for change in _of_target(old, new, name):
            key = json.dumps([change.kind, change.name, change.field, change.before, change.after])
            known = groups.get(key)
            groups[key] = evolve(change, targets=(*known.targets, name) if known else (name,))
    order = ("target", "package", "wheel")
    yield from sorted(groups.values(), key=lambda change: (order.index(change.kind), change.name))


def _of_target(old: Lock, new: Lock, target: str) -> Iterator[Change]:
    before, after = (render_document(lock_of(lock, target)) for lock in (old, new))
    for kind in ("target", "package"):
        entries = [
            {each["name"]: dict(_flat(each)) for each in document.get(kind, [])}
            for document in (before, after)
        ]
        for name in sorted({*entries[0], *entries[1]}):
            yield from _entry(kind, name, entries[0].get(name), entries[1].get(name))
    yield from _wheels(before, after)


def _flat(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted path, value) of each field. Name and targets of an entry are what it is known by."""
    for key, item in value.items():
        if not path and key in {"name", "targets"}:
            continue
        dotted = f"{path}.{key}" if path else key
        if isinstance(item, Mapping):
            yield from _flat(cast("Mapping[str, Any]", item), dotted)
        else:
            yield dotted, item


def _entry(kind: Kind, name: str, before: Entry | None, after: Entry | None) -> Iterator[Change]:
    if before is None or after is None:
        yield Change(kind, name, "", before, after)
    else:
        yield from _fields(kind, name, before, after)


def _fields(kind: Kind, name: str, before: Entry, after: Entry) -> Iterator[Change]:
    for field in dict.fromkeys((*before, *after)):
        if before.get(field) != after.get(field):
            yield Change(kind, name, field, before.get(field), after.get(field))


def _wheels(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """Wheels of one target. Where one version of a name went and one came, the wheel moved."""
    old, new = _versions(before), _versions(after)
    for name in sorted({*old, *new}):
        gone = {
            version: entry for version, entry in old.get(name, {}).items() if version not in new.get(name, {})
        }
        come = {
            version: entry for version, entry in new.get(name, {}).items() if version not in old.get(name, {})
        }
        if len(gone) == len(come) == 1:
            yield from _fields("wheel", name, *gone.values(), *come.values())
        else:
            yield from (Change("wheel", name, "", entry, None) for entry in gone.values())
            yield from (Change("wheel", name, "", None, entry) for entry in come.values())
        for version, entry in old.get(name, {}).items():
            if version in new.get(name, {}):
                yield from _fields("wheel", f"{name}=={version}", entry, new[name][version])


def _versions(document: Mapping[str, Any]) -> dict[str, dict[str, Entry]]:
    """Name -> version -> fields of each wheel of a document for one target."""
    found: dict[str, dict[str, Entry]] = {}
    for wheel in document.get("wheel", []):
        (file,) = wheel["file"]
        found.setdefault(wheel["name"], {})[wheel["version"]] = {
            "version": wheel["version"],
            **dict(_flat(file)),
        }
    return found


def _is_reason(change: Change) -> bool:
    return change.kind == "warning" or change.field.endswith("reasons")
