"""What differs between two locks, by package, wheel and target. Pure.

The locks are compared as they are written: every field that a lock can hold is told when it differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from attrs import frozen

from .model import Lock
from .wire_v1 import render_document

Kind = Literal["lock", "target", "package", "wheel"]
Value = str | tuple[str, ...]
_REASONS = ("reasons", "gfx-reasons", "says", "at")


@frozen
class Change:
    """``field`` is the dotted path inside what ``kind`` and ``name`` say.

    It is empty where the whole was added (``before`` is None) or removed (``after`` is None). ``targets``
    tells entries of one name apart.
    """

    kind: Kind
    name: str
    field: str
    before: Value | None
    after: Value | None
    targets: tuple[str, ...] = ()


def diff_locks(old: Lock, new: Lock, *, reasons: bool = False) -> tuple[Change, ...]:
    """Everything that differs, in the order of the lock. Reasons and warnings only with ``reasons``."""
    before, after = _entries(old), _entries(new)
    changes = [change for key in dict.fromkeys((*before, *after)) for change in _diff(key, before, after)]
    return tuple(change for change in changes if reasons or not _is_reason(change))


Key = tuple[Kind, str, tuple[str, ...]]


def _entries(lock: Lock) -> dict[Key, dict[str, Value]]:
    """The flat fields of each entry. Entries of one name are told apart by their targets."""
    document = render_document(lock)
    found: dict[Key, dict[str, Value]] = {}
    rest = {key: value for key, value in document.items() if key not in {"target", "package", "wheel"}}
    found["lock", lock.name, ()] = dict(_flat(rest))
    for target in document.get("target", []):
        found["target", target["name"], ()] = dict(_flat(target))
    names = [package["name"] for package in document.get("package", [])]
    for package in document.get("package", []):
        several = names.count(package["name"]) > 1
        key: Key = ("package", package["name"], tuple(package["targets"]) if several else ())
        found[key] = dict(_flat(package))
    for wheel in document.get("wheel", []):
        # A wheel is known by its name: of several versions each is one.
        key = ("wheel", wheel["name"], ())
        while key in found:
            key = ("wheel", wheel["name"], (*key[2], wheel["version"]))
        found[key] = dict(_flat(wheel))
    return found


def _flat(value: object, path: str = "") -> Iterator[tuple[str, Value]]:
    """(dotted path, value) of each leaf; a list of plain values is one leaf."""
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            yield from _flat(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in cast("list[Any]", value)):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _flat(item, f"{path}[{index}]")
    elif isinstance(value, list):
        yield path, tuple(_word(item) for item in cast("list[Any]", value))
    else:
        yield path, str(value)


def _word(item: Any) -> str:
    return " ".join(cast("list[str]", item)) if isinstance(item, list) else str(item)


def _diff(
    key: Key, before: Mapping[Key, Mapping[str, Value]], after: Mapping[Key, Mapping[str, Value]]
) -> Iterator[Change]:
    kind, name, targets = key
    old, new = before.get(key), after.get(key)
    if old is None or new is None:
        yield Change(kind, name, "", _summary(old), _summary(new), targets)
        return
    for field in dict.fromkeys((*old, *new)):
        if old.get(field) != new.get(field):
            yield Change(kind, name, field, old.get(field), new.get(field), targets)


def _summary(entry: Mapping[str, Value] | None) -> str | None:
    """An entry in one word: its version, else its commit or place."""
    if entry is None:
        return None
    names = ("version", "source.commit", "source.file", "source.path", "name")
    return next((str(entry[name]) for name in names if entry.get(name)), "")


def _is_reason(change: Change) -> bool:
    first = re.split(r"[.\[]", change.field, maxsplit=1)[0]
    return first == "warning" or any(part in _REASONS for part in re.split(r"[.\[\]0-9]+", change.field))


def compare_link(old_url: str, new_url: str, old: str, new: str) -> str | None:
    """Where GitHub shows what lies between two commits of one repository."""
    same = re.sub(r"(\.git)?/?$", "", old_url)
    if same != re.sub(r"(\.git)?/?$", "", new_url) or not same.startswith("https://github.com/"):
        return None
    return f"{same}/compare/{old}...{new}"
