"""Rows of a snapshot -> facts of the catalog. Pure.

A row that is not of the format's shape raises KeyError, IndexError, TypeError, ValueError or AttributeError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from .catalog import (
    Fact,
    KnownCommit,
    Origin,
    Pick,
    Pin,
    PythonRequirement,
    Release,
    RocmRelease,
    Statement,
    TestedSet,
)

Row = Sequence[Any]


def _padded(row: Row, length: int) -> list[Any]:
    """With the empty values that are left out at the end of a row."""
    return [*row, *[None] * (length - len(row))]


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _words(row: str | Row) -> Origin:
    if isinstance(row, str):
        return Origin(row)
    text, evidence = row
    if evidence != "inferred":
        raise ValueError(f"{evidence!r} is no evidence")
    return Origin(text, evidence="inferred")


def _commit(text: str | None) -> str | None:
    if text is not None and not _is_whole(text):
        raise ValueError(f"{text!r} is no commit")
    return text


def _is_whole(text: str) -> bool:
    return len(text) == 40 and not text.strip("0123456789abcdef")


def make_release(repository: str, row: Row) -> Release:
    tag, version, commit, day, origin, prerelease, tag_object = _padded(row, 7)
    return Release(
        repository=repository,
        tag=tag,
        version=version,
        commit=_commit(commit),
        tag_object=_commit(tag_object),
        date=_date(day),
        prerelease=bool(prerelease),
        origin=_words(origin),
    )


def make_known(repository: str, row: Row) -> KnownCommit:
    asked, commit, origin, version, version_origin, branch = _padded(row, 6)
    return KnownCommit(
        repository=repository,
        asked=asked,
        commit=_commit(commit) or (asked if _is_whole(asked) else None),
        origin=_words(origin) if origin else None,
        version=Fact(version, _words(version_origin)) if version else None,
        branch=branch or "",
    )


def make_rocm(row: Row) -> RocmRelease:
    version, day, gfx, origin = row
    return RocmRelease(version, _date(day), tuple(gfx.split()), _words(origin))


class Names:
    """What a text names in a repository: a tag or a commit. Rows are turned once for all sets."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._releases: dict[str, dict[str, Release]] = {}
        self._commits: dict[str, dict[str, KnownCommit]] = {}

    def release(self, repository: str, tag: str) -> Release | None:
        if repository not in self._releases:
            rows = self._data["releases"].get(repository, ())
            self._releases[repository] = {row[0]: make_release(repository, row) for row in rows}
        return self._releases[repository].get(tag)

    def tagged(self, repository: str, tag: str) -> Release:
        """The release of a tag that must be there. Raises ValueError."""
        found = self.release(repository, tag)
        if found is None:
            raise ValueError(f"{repository} has no tag {tag}")
        return found

    def commit(self, repository: str, asked: str) -> KnownCommit:
        tagged = self.release(repository, asked)
        if tagged is not None:
            at = Origin(f"{repository} tag {asked}")
            version = Fact(tagged.version, at) if tagged.version else None
            return KnownCommit(
                repository, asked, tagged.commit, tagged.origin, version, "", tagged.tag, tagged.tag_object
            )
        if repository not in self._commits:
            rows = self._data["commits"].get(repository, ())
            self._commits[repository] = {row[0]: make_known(repository, row) for row in rows}
        known = self._commits[repository].get(asked)
        return known or make_known(repository, (asked,))


def _expanded_by(known: KnownCommit) -> Origin | None:
    return known.origin if known.commit and known.commit != known.asked else None


class SetReader:
    """One tested set. An origin is a line of the set's own file, [path, line] or words."""

    def __init__(self, top: str, named: Names, release: Release, row: Mapping[str, Any]) -> None:
        self.top, self.named, self.row, self.release = top, named, row, release
        self.where = f"{top}@{release.commit}" if release.commit else f"{top} {release.tag}"

    def make(self) -> TestedSet:
        row = self.row
        gfx, gfx_origin = self._list("gfx")
        supported_gfx, supported_gfx_origin = self._list("supported-gfx")
        supported_python, supported_python_origin = self._list("supported-python")
        return TestedSet(
            top=self.top,
            release=self.release,
            variant=row["variant"],
            rocm=self._fact(row.get("rocm")),
            python=self._fact(row.get("python")),
            gfx=gfx,
            gfx_origin=gfx_origin,
            pins=tuple(self._pin(pin) for pin in row["pins"]),
            statements=tuple(
                Statement(name, text, self._origin(at)) for name, text, at in row.get("statements", ())
            ),
            supported_gfx=supported_gfx,
            supported_gfx_origin=supported_gfx_origin,
            supported_python=supported_python,
            supported_python_origin=supported_python_origin,
            cxx_standard=self._fact(row.get("cxx-standard")),
            requires_run=self._lines(row.get("requires-run")),
            requires_build=self._lines(row.get("requires-build")),
            unread=tuple(row.get("unread", ())),
        )

    def _origin(self, row: int | str | Row) -> Origin:
        if isinstance(row, int):
            return Origin(self.where, self.row["file"], row)
        if not isinstance(row, str) and isinstance(row[1], int):
            return Origin(self.where, row[0], row[1])
        return _words(row)

    def _fact(self, row: Row | None) -> Fact | None:
        return Fact(row[0], self._origin(row[1])) if row else None

    def _list(self, name: str) -> tuple[tuple[str, ...], Origin | None]:
        row = self.row.get(name)
        return (tuple(row[0].split()), self._origin(row[1])) if row else ((), None)

    def _pin(self, row: Row) -> Pin:
        package, repository, asked, at, *more = row
        origin = self._origin(at)
        if repository is None:
            return Pin(package, "", asked, origin, version=Fact(asked, origin), wheel=asked)
        further: Mapping[str, Any] = more[0] if more else {}
        known, tagged = self.named.commit(repository, asked), self.named.release(repository, asked)
        return Pin(
            package=package,
            repository=repository,
            asked=asked,
            origin=origin,
            commit=known.commit,
            commit_origin=_expanded_by(known),
            tag=tagged.tag if tagged else None,
            tag_object=tagged.tag_object if tagged else None,
            version=self._fact(further.get("version")) or known.version,
            picks=tuple(self._pick(repository, *pick) for pick in further.get("picks", ())),
            unsaid=tuple(further.get("unsaid", ())),
            edits=tuple(Fact(text, self._origin(at)) for text, at in further.get("edits", ())),
        )

    def _pick(self, repository: str, asked: str, at: int | str | Row) -> Pick:
        known = self.named.commit(repository, asked)
        return Pick(asked, known.commit, self._origin(at), _expanded_by(known))

    def _lines(self, files: Mapping[str, Sequence[str]] | None) -> tuple[PythonRequirement, ...] | None:
        if files is None:
            return None
        made: list[PythonRequirement] = []
        for path, lines in files.items():
            for line in lines:
                number, _, text = line.partition(" ")
                made.append(PythonRequirement(text, Origin(self.where, path, int(number))))
        return tuple(made)
