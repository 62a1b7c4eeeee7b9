"""GitHub's answers as facts: the one module of this folder that others import.

Tags and branches come by git's own listing (ADR 8) and files from the raw host, neither of which costs
quota; releases and commits come from the API. Answers that cannot change are kept for ever, the others are
revalidated.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import quote

import httpx

from ...errors import (
    COMMIT_AMBIGUOUS,
    REPOSITORY_MISSING,
    UPSTREAM_UNREADABLE,
    RocmlockError,
)
from .asking import Asking, redirected
from .connection import Limits
from .hosts import Kind, origin, read_hosts, token_variables
from .pktline import Advertisement, Ref, parse_advertisement, parse_ls_refs, render_ls_refs
from .rows import (
    COMMIT,
    CommitRow,
    Counts,
    ReleaseRow,
    TagRow,
    is_abbreviation,
    parse_commit,
    parse_message,
    parse_releases,
    tag_rows,
)

__all__ = ["CommitRow", "Counts", "GitHub", "Limits", "ReleaseRow", "TagRow"]

_MOST_PAGES = 100  # of 100 releases: GitHub itself gives out no more than 10000
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/(?!\.{1,2}$)[A-Za-z0-9._-]+")
_ADVERTISED = "/info/refs?service=git-upload-pack"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Door:
    """Where git listens for a repository after redirects, and what it said first."""

    base: str
    first: Advertisement


class GitHub:
    """A client of one GitHub. Safe for many threads; closes what it opened in :meth:`close`.

    ``cache`` is the SQLite file to keep answers in, None for none. ``tell`` takes lines for the user. With
    ``offline`` only the cache answers. Every method raises GITHUB_UNREACHABLE, RATE_LIMITED, GITHUB_DENIED,
    REPOSITORY_MISSING and UPSTREAM_UNREADABLE; offline OFFLINE_MISSING. Repositories are ``owner/name``.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        cache: Path | None,
        tell: Callable[[str], None],
        *,
        offline: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self._hosts = read_hosts(environ)
        self._asking = Asking(environ, self._hosts, cache, tell, limits or Limits(), offline=offline)
        self._doors: dict[str, _Door] = {}
        self._doors_lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def counts(self) -> Counts:
        """Requests that were answered so far."""
        return self._asking.counts

    def close(self) -> None:
        """Close the connections and the cache, which is brought under its bound."""
        self._asking.close()

    def releases(self, repository: str) -> tuple[ReleaseRow, ...]:
        """Every published release, newest first as GitHub has them; drafts are left out."""
        url = f"{self._hosts.api}/repos/{_checked(repository)}/releases?per_page=100"
        found: list[ReleaseRow] = []
        for _ in range(_MOST_PAGES):
            answer = self._get("api", url)
            if answer.status_code != 200:
                raise self._missing(repository, answer)
            found += _parsed(parse_releases, answer)
            following = _next_page(answer)
            if following is None:
                return tuple(found)
            url = following
        raise RocmlockError(UPSTREAM_UNREADABLE, f"{repository} has more pages of releases than can be.")

    def tags(self, repository: str, prefix: str = "") -> tuple[TagRow, ...]:
        """The tags whose names begin with ``prefix``, by name, each with the commit that it leads to."""
        return tag_rows(self._refs(repository, f"refs/tags/{prefix}"), prefix)

    def branch(self, repository: str, name: str) -> str | None:
        """The commit that a branch names now (40 hex), None where there is no such branch."""
        wanted = f"refs/heads/{name}"
        return next((ref.oid for ref in self._refs(repository, wanted) if ref.name == wanted), None)

    def commit(self, repository: str, asked: str) -> CommitRow | None:
        """The commit that ``asked`` (4 to 40 hex) means, None where GitHub has no such commit.

        Raises COMMIT_AMBIGUOUS where a short one means several, or a branch or tag of that name hides it.
        """
        if not is_abbreviation(asked):
            raise ValueError(f"no commit, whole or short: {asked!r}")
        # per_page bounds the list of changed files, which is not read.
        url = f"{self._hosts.api}/repos/{_checked(repository)}/commits/{asked}?per_page=1"
        # A short commit keeps its meaning, too: later commits can make it ambiguous, but not another one.
        answer = self._get("api", url, commit=asked)
        if answer.status_code == 200:
            row = _parsed(parse_commit, answer)
            if not row.commit.startswith(asked):
                raise RocmlockError(
                    COMMIT_AMBIGUOUS,
                    f"In {repository}, {asked} is the name of a branch or tag, not a commit.",
                )
            return row
        said = parse_message(answer.content)
        if "ambiguous" in said.lower():
            raise RocmlockError(
                COMMIT_AMBIGUOUS,
                f"In {repository}, {asked} is short for more than one commit.",
                context=[said],
            )
        if answer.status_code == 404 and not said.startswith("No commit found"):
            raise self._missing(repository, answer)
        return None

    def file(self, repository: str, commit: str, path: str) -> str | None:
        """The text of a file at a commit (40 hex), None where there is none; at most 4 MiB of UTF-8."""
        if not COMMIT.fullmatch(commit):
            raise ValueError(f"no whole commit: {commit!r}")
        if not path or {"", ".", ".."} & set(path.split("/")):
            raise ValueError(f"no path inside a repository: {path!r}")
        url = f"{self._hosts.raw}/{_checked(repository)}/{commit}/{quote(path)}"
        answer = self._get("raw", url, commit=commit)
        if answer.status_code != 200:
            return None
        return _parsed(lambda body: body.decode("utf-8"), answer)

    def canonical(self, repository: str) -> str:
        """The name that a repository has now, after renames and moves."""
        base = self._door(repository).base
        name = base.removeprefix(f"{self._hosts.git}/").removesuffix(".git").rstrip("/")
        return name if _REPOSITORY.fullmatch(name) else repository

    def _refs(self, repository: str, prefix: str) -> tuple[Ref, ...]:
        """The refs whose whole names begin with ``prefix``; of a server before version 2 simply all."""
        door = self._door(repository)
        if door.first.refs is not None:
            return door.first.refs
        answer = self._asking.ask(
            "git", "POST", f"{door.base}/git-upload-pack", content=render_ls_refs([prefix])
        )
        if answer.status_code != 200:
            raise self._missing(repository, answer)
        return _parsed(parse_ls_refs, answer)

    def _door(self, repository: str) -> _Door:
        known = self._doors.get(_checked(repository))
        if known is not None:
            return known
        answer = self._get("git", f"{self._hosts.git}/{repository}.git{_ADVERTISED}")
        if answer.status_code != 200:
            raise self._missing(repository, answer)
        base = str(answer.url).removesuffix(_ADVERTISED)
        with self._doors_lock:
            return self._doors.setdefault(repository, _Door(base, _parsed(parse_advertisement, answer)))

    def _get(self, kind: Kind, url: str, *, commit: str | None = None) -> httpx.Response:
        return self._asking.ask(kind, "GET", url, commit=commit)

    def _missing(self, repository: str, answer: httpx.Response) -> RocmlockError:
        url = str(answer.url)
        token = self._asking.token(url)
        if answer.status_code not in {401, 404}:
            return RocmlockError(
                UPSTREAM_UNREADABLE,
                f"GitHub answers {answer.status_code} for {repository}.",
                context=[parse_message(answer.content)],
            )
        names = " or ".join(token_variables(url))
        hint = (
            f"Check the name, and whether the token in {token.variable} may read it."
            if token
            else f"Check the name; for a private repository set {names}."
        )
        what = f"{repository} does not exist at {origin(url)}, or it is private"
        unseen = f"the token in {token.variable} may not read it" if token else "no token was sent"
        return RocmlockError(REPOSITORY_MISSING, f"{what} and {unseen}.", hint=hint)


def _checked(repository: str) -> str:
    if not _REPOSITORY.fullmatch(repository):
        raise RocmlockError(
            REPOSITORY_MISSING,
            f"{repository!r} is not the name of a repository.",
            hint="Write owner/name, as in pytorch/pytorch.",
        )
    return repository


def _parsed(parse: Callable[[bytes], _T], answer: httpx.Response) -> _T:
    try:
        return parse(answer.content)
    except ValueError as error:
        where = f"{origin(str(answer.url))}{answer.url.path}"
        fact = str(error).splitlines()[0][:200]
        raise RocmlockError(
            UPSTREAM_UNREADABLE, f"The answer of {where} cannot be read.", context=[fact]
        ) from None


def _next_page(answer: httpx.Response) -> str | None:
    """The ``next`` link. Raises UPSTREAM_UNREADABLE where it leads to another host."""
    url = answer.links.get("next", {}).get("url")
    if url is None:
        return None
    following = redirected(str(answer.url), url)
    if origin(following) != origin(str(answer.url)):
        raise RocmlockError(
            UPSTREAM_UNREADABLE, f"{origin(str(answer.url))} lists its next page on another host."
        )
    return following
