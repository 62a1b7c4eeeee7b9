"""Small worlds for the tests of the GitHub client, and a client that does not wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from support.github import Commit, Release, Repository, Server, Tag, World, fake_commit

from rocmlock.resolver.github.client import GitHub, Limits

FIRST, SECOND = fake_commit("first"), fake_commit("second")
TAG_OBJECT = fake_commit("tag object")
PROJECT = "example/project"


def world(**changes: object) -> World:
    """One project with two tags, three releases and a file; it was once called example/old-name."""
    facts: dict[str, object] = {
        "tags": (Tag("v1.0.0", FIRST, TAG_OBJECT), Tag("v1.1.0", SECOND), Tag("nightly", SECOND)),
        "releases": (
            Release("v1.1.0", date(2026, 2, 1)),
            Release("v1.1.0rc1", date(2026, 1, 20), prerelease=True),
            Release("v1.0.0", date(2026, 1, 1)),
        ),
        "branches": {"main": SECOND, "main-2": FIRST},
        "commits": {
            FIRST: Commit(date(2025, 12, 31), {"version.txt": "1.0.0\n", "docs/ü b.txt": "ü\n"}),
            SECOND: Commit(date(2026, 1, 31), {"version.txt": "1.1.0\n"}),
        },
        **changes,
    }
    return World({PROJECT: Repository(**facts)}, {"example/old-name": PROJECT})  # type: ignore[arg-type]


@dataclass
class Asker:
    """Makes clients of a server: with what they tell, and how long they would have slept."""

    server: Server
    cache: Path | None = None
    told: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def __call__(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        offline: bool = False,
        tell: Callable[[str], None] | None = None,
        **limits: object,
    ) -> GitHub:
        quick = Limits(first_wait=0, longest_wait=0, sleep=self.slept.append, **limits)  # type: ignore[arg-type]
        told = tell or self.told.append
        return GitHub(
            {**self.server.environ(), **(environ or {})}, self.cache, told, offline=offline, limits=quick
        )
