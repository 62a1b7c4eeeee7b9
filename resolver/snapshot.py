"""The snapshot: a catalog from a file of facts (docs/formats/snapshot.md). Values are made when asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from packaging.version import Version

from ..errors import SNAPSHOT_INVALID, RocmlockError
from .catalog import (
    Fact,
    Origin,
    Pick,
    Pin,
    PythonRequirement,
    Release,
    RocmRelease,
    Statement,
    TestedSet,
)

FORMAT = 1
BUNDLED = Path(__file__).parent / "data" / "snapshot.json"

Made = TypeVar("Made")


def open_bundled() -> Snapshot:
    """The snapshot that is shipped with the package."""
    return read_snapshot(BUNDLED)


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot at ``path``. Raises SNAPSHOT_INVALID for anything that is not one of our format."""
    try:
        data: Any = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RocmlockError(SNAPSHOT_INVALID, f"{path} cannot be read: {error}.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:  # pyright: ignore[reportUnknownMemberType] -- JSON
        raise RocmlockError(SNAPSHOT_INVALID, f"{path} is not a snapshot of format {FORMAT}.")
    return Snapshot(data, str(path))  # pyright: ignore[reportUnknownArgumentType] -- JSON


class Snapshot:
    """A catalog over parsed JSON. Raises SNAPSHOT_INVALID where a part is not of the format's shape."""

    def __init__(self, data: dict[str, Any], name: str) -> None:
        self._data = data
        self._name = name

    def _made(self, make: Callable[[], Made]) -> Made:
        try:
            return make()
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise RocmlockError(SNAPSHOT_INVALID, f"{self._name} is damaged: {error!r}.") from None

    @property
    def dated(self) -> date | None:
        return self._made(lambda: date.fromisoformat(self._data["dated"]))

    def tops(self) -> tuple[str, ...]:
        return self._made(lambda: tuple(self._data["tops"]))

    def tested_sets(self, top: str) -> tuple[TestedSet, ...]:
        return self._made(lambda: self._sets(top))

    def _sets(self, top: str) -> tuple[TestedSet, ...]:
        repository = self._data["tops"][top]
        releases = {row[0]: _release(repository, row) for row in self._data["releases"][repository]}
        sets = [_tested_set(top, releases[row["tag"]], row) for row in self._data["sets"][top]]
        return tuple(sorted(sets, key=lambda tested: Version(tested.release.version), reverse=True))

    def releases(self, repository: str) -> tuple[Release, ...]:
        rows = self._data.get("releases", {}).get(repository, [])
        return self._made(lambda: tuple(_release(repository, row) for row in rows))

    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        def make() -> tuple[RocmRelease, ...]:
            made = [
                RocmRelease(version, _date(day), tuple(gfx), _origin(origin))
                for version, day, gfx, origin in self._data["rocm"]
            ]
            return tuple(sorted(made, key=lambda release: Version(release.version), reverse=True))

        return self._made(make)


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _origin(row: list[Any]) -> Origin:
    return Origin(*row)


def _fact(row: list[Any] | None) -> Fact | None:
    return Fact(row[0], _origin(row[1])) if row else None


def _release(repository: str, row: list[Any]) -> Release:
    tag, version, commit, tag_object, day, prerelease, origin = row
    return Release(repository, tag, version, commit, tag_object, _date(day), prerelease, _origin(origin))


def _pin(row: dict[str, Any]) -> Pin:
    expanded = row.get("commit-origin")
    return Pin(
        package=row["package"],
        repository=row.get("repository", ""),
        asked=row["asked"],
        origin=_origin(row["origin"]),
        commit=row.get("commit"),
        commit_origin=_origin(expanded) if expanded else None,
        tag=row.get("tag"),
        tag_object=row.get("tag-object"),
        version=_fact(row.get("version")),
        wheel=row.get("wheel"),
        picks=tuple(_pick(pick) for pick in row.get("picks", ())),
    )


def _pick(row: dict[str, Any]) -> Pick:
    expanded = row.get("commit-origin")
    return Pick(
        row["asked"], row.get("commit"), _origin(row["origin"]), _origin(expanded) if expanded else None
    )


def _lines(rows: list[list[Any]] | None, where: str) -> tuple[PythonRequirement, ...] | None:
    if rows is None:
        return None
    return tuple(PythonRequirement(text, Origin(where, path, line)) for text, path, line in rows)


def _tested_set(top: str, release: Release, row: dict[str, Any]) -> TestedSet:
    where = f"{top}@{release.commit}"

    def origin(name: str) -> Origin | None:
        return _origin(row[name]) if name in row else None

    return TestedSet(
        top=top,
        release=release,
        variant=row["variant"],
        rocm=_fact(row.get("rocm")),
        python=_fact(row.get("python")),
        gfx=tuple(row.get("gfx", ())),
        gfx_origin=origin("gfx-origin"),
        pins=tuple(_pin(pin) for pin in row["pins"]),
        statements=tuple(Statement(name, text, _origin(at)) for name, text, at in row.get("statements", ())),
        supported_gfx=tuple(row.get("supported-gfx", ())),
        supported_gfx_origin=origin("supported-gfx-origin"),
        supported_python=tuple(row.get("supported-python", ())),
        supported_python_origin=origin("supported-python-origin"),
        cxx_standard=_fact(row.get("cxx-standard")),
        requires_run=_lines(row.get("requires-run"), where),
        requires_build=_lines(row.get("requires-build"), where),
        unread=tuple(row.get("unread", ())),
    )
