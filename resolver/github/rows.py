"""The facts that GitHub's answers hold, and the parts of the answers that are read. Pure.

Unknown keys of an answer are ignored: GitHub adds some all the time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, TypeAdapter

from .pktline import Ref

COMMIT = re.compile(r"[0-9a-f]{40}")
_SHORT = re.compile(r"[0-9a-f]{4,40}")

Oid = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A published release. ``published`` is the day in UTC."""

    tag: str
    published: date
    prerelease: bool


@dataclass(frozen=True, slots=True)
class TagRow:
    """A tag: the commit it leads to, and the tag object where it is an annotated one (40 hex each)."""

    tag: str
    commit: str
    tag_object: str | None


@dataclass(frozen=True, slots=True)
class CommitRow:
    """A commit: 40 hex, and the day in UTC on which it was committed."""

    commit: str
    date: date


@dataclass(frozen=True, slots=True)
class Counts:
    """Requests that were answered. ``api`` cost quota; ``api_not_modified`` (304) and the others did not."""

    api: int = 0
    api_not_modified: int = 0
    raw: int = 0
    git: int = 0


class _Release(BaseModel):
    tag_name: str = Field(min_length=1)
    draft: bool
    prerelease: bool
    created_at: AwareDatetime
    published_at: AwareDatetime | None


class _Signature(BaseModel):
    date: AwareDatetime


class _CommitBody(BaseModel):
    committer: _Signature


class _Commit(BaseModel):
    sha: Oid
    commit: _CommitBody


class _Message(BaseModel):
    message: str = ""


_RELEASES = TypeAdapter(list[_Release])


def parse_releases(body: bytes) -> tuple[ReleaseRow, ...]:
    """One page of releases, drafts left out. Raises ValueError."""
    rows = _RELEASES.validate_json(body)
    return tuple(
        ReleaseRow(row.tag_name, _day(row.published_at or row.created_at), row.prerelease)
        for row in rows
        if not row.draft
    )


def parse_commit(body: bytes) -> CommitRow:
    """The answer to ``commits/{ref}``. Raises ValueError."""
    row = _Commit.model_validate_json(body)
    return CommitRow(row.sha, _day(row.commit.committer.date))


def parse_message(body: bytes) -> str:
    """What GitHub says in an error answer, on one line and cut short; empty where that is unreadable."""
    try:
        text = _Message.model_validate_json(body).message
    except ValueError:
        return ""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:300].strip()


def tag_rows(refs: tuple[Ref, ...], prefix: str) -> tuple[TagRow, ...]:
    """The tags among ``refs`` whose names begin with ``prefix``, by name."""
    start = f"refs/tags/{prefix}"
    return tuple(
        TagRow(ref.name.removeprefix("refs/tags/"), ref.peeled or ref.oid, ref.oid if ref.peeled else None)
        for ref in sorted(refs, key=lambda ref: ref.name)
        if ref.name.startswith(start)
    )


def is_abbreviation(asked: str) -> bool:
    """Whether a text can be a commit, whole or short."""
    return _SHORT.fullmatch(asked) is not None


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
