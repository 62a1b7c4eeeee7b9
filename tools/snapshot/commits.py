"""What the short and full commits that upstream pins stand for: commit, version, branch, and who says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .facts import Facts
from .origins import Json, Origin, is_hash, is_version, said, version_of_tag, words

_TRITON = "triton-lang/triton"
# Forks that hold the commits of the repository they were made from.
_FORKS = {"ROCm/triton": _TRITON, "ROCm/pytorch": "pytorch/pytorch"}

Asked = tuple[str, str, str]
"""(repository, text, ARG): what a Dockerfile asks for."""


@dataclass(frozen=True, slots=True)
class Comment:
    """What stands beside an ARG, and in which file."""

    text: str = ""
    where: str = ""


def make_commits(facts: Facts, asked: Mapping[Asked, Comment]) -> dict[str, list[Any]]:
    """By repository [asked, commit, origin, version, its origin, branch] of everything that is no known tag
    and of which something is known; trailing nulls are left out, and so is a commit that was asked for."""
    table: dict[str, dict[str, list[Any]]] = {}
    for key, comment in asked.items():
        repository, text, _ = key
        if facts.tag(repository, text) is None:
            _put(table, repository, text, _Row(facts, key, comment).make())
    for repository in facts.repositories():
        read = facts.triton if repository == _TRITON else []
        for row, inferred in [
            *((row, True) for row in facts.pinned(repository)),
            *((row, False) for row in read),
        ]:
            name = str(row.get("commit") or row["commit_abbrev"])
            if not any(name.startswith(known) for known in table.get(repository, {})):
                _put(table, repository, name, _pinned_row(row, inferred=inferred))
    return {name: [rows[key] for key in sorted(rows)] for name, rows in sorted(table.items())}


def _put(table: dict[str, dict[str, list[Any]]], repository: str, name: str, row: list[Any]) -> None:
    if row[0] == name:
        row = [None, *row[1:]]
    while row and row[-1] is None:
        row = row[:-1]
    if row:
        table.setdefault(repository, {})[name] = [name, *row]


def _pinned_row(row: Json, *, inferred: bool) -> list[Any]:
    at = said(words(row["from"]), inferred=inferred)
    version = _version_of(row)
    return [row.get("commit"), at, version, at if version else None, row.get("branch")]


def _version_of(row: Json) -> str | None:
    """``2.9.x`` is 2.9 and no more."""
    text = str(row.get("version") or "").removesuffix(".x")
    return text if is_version(text) else None


class _Row:
    """One row of the table, for one text that is asked for."""

    def __init__(self, facts: Facts, key: Asked, comment: Comment) -> None:
        self.facts, self.comment = facts, comment
        self.repository, self.asked, self.arg = key

    def make(self) -> list[Any]:
        """[commit, origin, version, its origin, branch], None where not known."""
        commit, at = self._commit() or (None, None)
        version, version_at = self._version(commit) or (None, None)
        return [commit, at, version, version_at, self._branch(commit)]

    def _commit(self) -> tuple[str, Origin | None] | None:
        if not is_hash(self.asked):
            return None
        if len(self.asked) == 40:
            return self.asked, None
        found = self.facts.expansion(self.asked, self.arg)
        homes = {"", self.repository, _FORKS.get(self.repository, "")}
        if found and found.repository in homes and found.commit.startswith(self.asked):
            return found.commit, said(found.where, inferred=not found.repository)
        matches = {commit: at for commit, at in self._known() if commit.startswith(self.asked)}
        return next(iter(matches.items())) if len(matches) == 1 else None

    def _known(self) -> Iterable[tuple[str, Origin]]:
        """Full commits of the repository: read there as git objects, or told by a text."""
        read = [*self.facts.tags(self.repository), *self.facts.companions.get(self.repository, [])]
        if self.repository == _TRITON:
            read += self.facts.triton
        for row in self.facts.pinned(self.repository):
            if row.get("commit"):
                yield row["commit"], said(words(row["from"]), inferred=True)
        for row in read:
            if row.get("commit"):
                yield row["commit"], said(words(row["from"]))

    def _rows(self, commit: str | None) -> list[Json]:
        """The rows on commits pinned without a tag that are about this one."""

        def same(row: Json) -> bool:
            if commit and row.get("commit"):
                return row["commit"] == commit
            short = str(row.get("commit_abbrev") or "")
            return bool(short) and (self.asked.startswith(short) or short.startswith(self.asked))

        return [row for row in self.facts.pinned(self.repository) if same(row)]

    def _version(self, commit: str | None) -> tuple[str, Origin] | None:
        if not is_hash(self.asked):
            version = version_of_tag(self.asked)
            return (version, said("the name of the tag", inferred=True)) if version else None
        for row in self._rows(commit):
            if is_version(row.get("version")):
                return row["version"], said(words(row["from"]), inferred=True)
        if self.repository in {_TRITON, *_FORKS}:
            for row in self.facts.triton:
                if row["commit"] == commit and is_version(row.get("version")):
                    return row["version"], said(words(row["from"]))
        return self._combined(commit) or self._rough(commit)

    def _combined(self, commit: str | None) -> tuple[str, Origin] | None:
        for combo in self.facts.combos:
            for part in (combo.get("torch", {}), combo.get("triton", {})):
                if commit and part.get("commit") == commit and is_version(part.get("version")):
                    return part["version"], said(words(combo["evidence"]), inferred=True)
        return None

    def _rough(self, commit: str | None) -> tuple[str, Origin] | None:
        """Major and minor only, from a branch's name or a version like 2.9.x."""
        for row in self._rows(commit):
            version = _version_of(row)
            if version:
                return version, said(words(row["from"]), inferred=True)
        branch = re.match(r"release/(\d+\.\d+)\b", self.comment.text)
        return (branch[1], said(self.comment.where, inferred=True)) if branch else None

    def _branch(self, commit: str | None) -> str | None:
        named = next((row["branch"] for row in self._rows(commit) if row.get("branch")), None)
        commented = re.match(r"release/\S+.*", self.comment.text)
        return named or (commented[0] if commented else None)
