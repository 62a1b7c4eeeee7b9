"""A snapshot of all that a catalog has (docs/formats/snapshot.md): the inverse of snapshot_rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any

from .catalog import (
    Catalog,
    Fact,
    KnownCommit,
    Origin,
    Pin,
    PythonRequirement,
    Release,
    RocmRelease,
    TestedSet,
)

FORMAT = 1
Json = dict[str, Any]


def make_snapshot(catalog: Catalog, dated: date, tell: Callable[[str], None]) -> Json:
    """The snapshot as JSON data. ``tell`` gets a line per package with tested sets."""
    maker = _Maker(catalog)
    tops = {top: found[0].repository for top in catalog.tops() if (found := catalog.candidates(top))}
    sets: dict[str, list[Json]] = {}
    for top in tops:
        tell(f"Reading the tested sets of {top}")
        sets[top] = [maker.tested(each) for each in _sets(catalog, top)]
    return {
        "format": FORMAT,
        "dated": dated.isoformat(),
        "tops": tops,
        "rocm": [_rocm(each) for each in catalog.rocm_releases()],
        "releases": {name: maker.releases[name] for name in sorted(maker.releases)},
        "commits": {
            name: [maker.commits[name][asked] for asked in sorted(maker.commits[name])]
            for name in sorted(maker.commits)
        },
        "sets": sets,
    }


def _sets(catalog: Catalog, top: str) -> Iterable[TestedSet]:
    for release in catalog.candidates(top):
        yield from catalog.tested_sets(top, release)


def render_snapshot(snapshot: Json) -> str:
    """One release, commit or set a line, so that diffs can be read."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def lines(rows: list[Any]) -> str:
        return "[\n" + ",\n".join(compact(row) for row in rows) + "\n]"

    def table(rows: dict[str, list[Any]]) -> str:
        return "{\n" + ",\n".join(f"{compact(name)}: {lines(rows[name])}" for name in rows) + "\n}"

    parts = [f'"{name}": {compact(snapshot[name])}' for name in ("format", "dated", "tops")]
    parts.append(f'"rocm": {lines(snapshot["rocm"])}')
    parts += [f'"{name}": {table(snapshot[name])}' for name in ("releases", "commits", "sets")]
    return "{\n" + ",\n".join(parts) + "\n}\n"


class _Maker:
    """Rows of sets, gathering the releases and commits that they name."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.releases: dict[str, list[Any]] = {}
        self.commits: dict[str, dict[str, Any]] = {}
        self.versions: dict[tuple[str, str], Fact | None] = {}
        for top in catalog.tops():
            for release in catalog.candidates(top):
                self._add_release(release)

    def _add_release(self, release: Release) -> None:
        rows = self.releases.setdefault(release.repository, [])
        row = _release(release)
        if row not in rows:
            rows.append(row)

    def tested(self, tested: TestedSet) -> Json:
        pins = [self.catalog.expand(pin) for pin in tested.pins]
        file = next((pin.origin.path for pin in pins if pin.origin.path), "")
        release = tested.release
        where = f"{tested.top}@{release.commit}" if release.commit else f"{tested.top} {release.tag}"
        at = _Origins(where, file)
        made: Json = {
            "tag": tested.release.tag,
            "variant": tested.variant,
            "file": file,
            "rocm": at.fact(tested.rocm),
            "python": at.fact(tested.python),
            "gfx": at.words(tested.gfx, tested.gfx_origin),
            "pins": [self._pin(pin, at) for pin in pins],
            "statements": [
                [each.package, each.specifier, at.origin(each.origin)] for each in tested.statements
            ],
            "supported-gfx": at.words(tested.supported_gfx, tested.supported_gfx_origin),
            "supported-python": at.words(tested.supported_python, tested.supported_python_origin),
            "cxx-standard": at.fact(tested.cxx_standard),
            "requires-run": _lines(tested.requires_run),
            "requires-build": _lines(tested.requires_build),
            "unread": list(tested.unread),
        }
        return {key: value for key, value in made.items() if value or key == "pins"}

    def _pin(self, pin: Pin, at: _Origins) -> list[Any]:
        if pin.wheel is not None:
            return [pin.package, None, pin.wheel, at.origin(pin.origin)]
        more: Json = {}
        if pin.picks:
            more["picks"] = [[pick.asked, at.origin(pick.origin)] for pick in pin.picks]
            for pick in pin.picks:
                self._add_commit(
                    pin.repository,
                    KnownCommit(pin.repository, pick.asked, pick.commit, pick.commit_origin, None, ""),
                )
        if self._name(pin) != pin.version:
            more["version"] = at.fact(pin.version)
        if pin.unsaid:
            more["unsaid"] = list(pin.unsaid)
        if pin.edits:
            more["edits"] = [at.fact(edit) for edit in pin.edits]
        row = [pin.package, pin.repository, pin.asked, at.origin(pin.origin)]
        return [*row, more] if more else row

    def _name(self, pin: Pin) -> Fact | None:
        """Keep what a pin asks for, a tag or else a commit, and return the version that is kept for it."""
        if pin.tag:
            if not any(row[0] == pin.tag for row in self.releases.get(pin.repository, ())):
                self._add_release(_tagged(pin))
            return pin.version
        key = (pin.repository, pin.asked)
        if key not in self.versions:
            self.versions[key] = pin.version
            branch = self.catalog.commit(pin.repository, pin.asked).branch
            known = KnownCommit(pin.repository, pin.asked, pin.commit, pin.commit_origin, pin.version, branch)
            self._add_commit(pin.repository, known)
        return self.versions[key]

    def _add_commit(self, repository: str, known: KnownCommit) -> None:
        row = [
            known.asked,
            None if known.commit == known.asked else known.commit,
            _words(known.origin) if known.origin else None,
            known.version.value if known.version else None,
            _words(known.version.origin) if known.version else None,
            known.branch or None,
        ]
        while len(row) > 1 and row[-1] is None:
            row.pop()
        if len(row) > 1:
            self.commits.setdefault(repository, {})[known.asked] = row


def _tagged(pin: Pin) -> Release:
    return Release(
        repository=pin.repository,
        tag=pin.tag or "",
        version=pin.version.value if pin.version else "",
        commit=pin.commit,
        tag_object=pin.tag_object,
        date=None,
        prerelease=False,
        origin=pin.commit_origin or Origin(f"{pin.repository} tag {pin.tag}"),
    )


def _release(release: Release) -> list[Any]:
    row = [
        release.tag,
        release.version,
        release.commit,
        release.date.isoformat() if release.date else None,
        _words(release.origin),
        int(release.prerelease),
        release.tag_object,
    ]
    return row if row[6] else row[:6] if row[5] else row[:5]


def _rocm(release: RocmRelease) -> list[Any]:
    day = release.date.isoformat() if release.date else None
    return [release.version, day, " ".join(release.gfx), _words(release.origin)]


def _words(origin: Origin) -> str | list[str]:
    return [str(origin), "inferred"] if origin.evidence == "inferred" else str(origin)


class _Origins:
    """Origins as the set's row writes them: a line of its file, [path, line] of its release, or words."""

    def __init__(self, where: str, file: str) -> None:
        self.where, self.file = where, file

    def origin(self, origin: Origin) -> int | str | Sequence[Any]:
        if origin.where == self.where and origin.path and origin.evidence == "stated":
            return origin.line if origin.path == self.file else [origin.path, origin.line]
        return _words(origin)

    def fact(self, fact: Fact | None) -> list[Any] | None:
        return [fact.value, self.origin(fact.origin)] if fact else None

    def words(self, values: tuple[str, ...], origin: Origin | None) -> list[Any] | None:
        return [" ".join(values), self.origin(origin)] if values and origin else None


def _lines(requirements: tuple[PythonRequirement, ...] | None) -> dict[str, list[str]] | None:
    if requirements is None:
        return None
    files: dict[str, list[str]] = {}
    for each in requirements:
        files.setdefault(each.origin.path, []).append(f"{each.origin.line} {each.text}")
    return files
