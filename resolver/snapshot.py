"""The snapshot: a catalog from a file of facts (docs/formats/snapshot.md). Values are made when asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeVar, cast

from ..errors import SNAPSHOT_INVALID, RocmlockError
from .catalog import KnownCommit, Pin, Release, RocmRelease, TestedSet
from .snapshot_rows import Names, SetReader, make_release, make_rocm

FORMAT = 1
BUNDLED = Path(__file__).parent / "data" / "snapshot.json"

_SHAPE: dict[str, type] = {
    "dated": str,
    "tops": dict,
    "rocm": list,
    "releases": dict,
    "commits": dict,
    "sets": dict,
}

Made = TypeVar("Made")


def open_bundled() -> Snapshot:
    """The snapshot that is shipped with the package."""
    return read_snapshot(BUNDLED)


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot at ``path``. Raises SNAPSHOT_INVALID for anything that is not one of our format."""
    try:
        read: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise RocmlockError(SNAPSHOT_INVALID, f"{path} cannot be read: {error}.") from None
    data = cast("dict[str, Any]", read if isinstance(read, dict) else {})
    if data.get("format") != FORMAT:
        raise RocmlockError(SNAPSHOT_INVALID, f"{path} is not a snapshot of format {FORMAT}.")
    for name, kind in _SHAPE.items():
        if not isinstance(data.get(name), kind):
            raise RocmlockError(SNAPSHOT_INVALID, f"{path} is damaged: it has no {name}.")
    return Snapshot(data, str(path))


class Snapshot:
    """A catalog over parsed JSON. Raises SNAPSHOT_INVALID where a part is not of the format's shape.

    The file's order is the catalog's: its writer sorts.
    """

    def __init__(self, data: Mapping[str, Any], name: str) -> None:
        self._data = data
        self._name = name
        self._named = Names(data)
        self._rows: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
        self._sets: dict[tuple[str, str], tuple[TestedSet, ...]] = {}
        self._releases: dict[str, tuple[Release, ...]] = {}

    def _made(self, make: Callable[[], Made]) -> Made:
        try:
            return make()
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise RocmlockError(SNAPSHOT_INVALID, f"{self._name} is damaged: {error!r}.") from None

    @property
    def dated(self) -> date | None:
        return self._made(lambda: date.fromisoformat(self._data["dated"]))

    def tops(self) -> tuple[str, ...]:
        return tuple(self._data["tops"])

    def candidates(self, top: str) -> tuple[Release, ...]:
        return self._made(lambda: self._candidates(top))

    def _candidates(self, top: str) -> tuple[Release, ...]:
        repository = self._data["tops"].get(top, "")
        tags = dict.fromkeys(row["tag"] for row in self._data["sets"].get(top, ()))
        return tuple(self._named.tagged(repository, tag) for tag in tags)

    def tested_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
        key = (top, release.tag)
        if key not in self._sets:
            self._sets[key] = self._made(lambda: self._read_sets(top, release))
        return self._sets[key]

    def _read_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
        if top not in self._rows:
            rows = self._rows.setdefault(top, {})
            for row in self._data["sets"].get(top, ()):
                rows.setdefault(row["tag"], []).append(row)
        return tuple(
            SetReader(top, self._named, release, row).make() for row in self._rows[top].get(release.tag, ())
        )

    def expand(self, pin: Pin) -> Pin:
        return pin  # a snapshot has its pins whole

    def releases(self, repository: str) -> tuple[Release, ...]:
        if repository not in self._releases:
            rows = self._data["releases"].get(repository, ())
            self._releases[repository] = self._made(
                lambda: tuple(make_release(repository, row) for row in rows)
            )
        return self._releases[repository]

    def commit(self, repository: str, asked: str) -> KnownCommit:
        return self._made(lambda: self._named.commit(repository, asked))

    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        return self._made(lambda: tuple(make_rocm(row) for row in self._data["rocm"]))
