"""What the server knows, as a value. A JSON file of the same shape is read by :func:`read_world`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from pydantic import TypeAdapter


@dataclass(frozen=True)
class Tag:
    """A tag of a commit; ``tag_object`` is set for an annotated one."""

    name: str
    commit: str
    tag_object: str | None = None


@dataclass(frozen=True)
class Release:
    """A release of a tag. A draft has no date at GitHub, whatever stands here."""

    tag: str
    published: date
    prerelease: bool = False
    draft: bool = False
    body: str = ""


@dataclass(frozen=True)
class Commit:
    """A commit with the files that can be read at it (path -> text)."""

    date: date
    files: dict[str, str | bytes] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True)
class Repository:
    """A repository. ``git`` is a bare repository that git itself serves; else refs are answered from the facts."""

    tags: tuple[Tag, ...] = ()
    releases: tuple[Release, ...] = ()
    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    private: bool = False
    git: Path | None = None
    protocol: int = 2


@dataclass(frozen=True)
class World:
    """Repositories by ``owner/name``; ``renames`` leads old names to new ones."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    renames: dict[str, str] = field(default_factory=dict)

    def repository(self, name: str) -> Repository | None:
        """By name; GitHub does not mind the case of letters."""
        wanted = name.lower()
        return next((there for key, there in self.repositories.items() if key.lower() == wanted), None)

    def renamed(self, name: str) -> str | None:
        """The new name of a repository that has moved."""
        wanted = name.lower()
        return next((new for old, new in self.renames.items() if old.lower() == wanted), None)


def read_world(file: Path) -> World:
    """A world from a JSON file; pydantic's ValidationError where it has another shape."""
    return TypeAdapter(World).validate_json(file.read_bytes())


def fake_commit(*words: str) -> str:
    """40 hex digits made from ``words``: a commit where no git object is needed."""
    return hashlib.sha1(" ".join(words).encode(), usedforsecurity=False).hexdigest()
