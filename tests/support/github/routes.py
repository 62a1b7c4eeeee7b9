"""Which answer the API gives to which path. Pure: a world and a path in, a reply out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote

from . import answers
from .world import Repository, World

Query = Mapping[str, Sequence[str]]


@dataclass
class Reply:
    """Status, body and headers of an answer."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, value: Any, status: int = 200) -> Self:
        return cls(status, json.dumps(value).encode(), {"Content-Type": "application/json; charset=utf-8"})


@dataclass(frozen=True)
class _Asked:
    """One request to a repository that may be seen."""

    name: str
    repository: Repository
    query: Query
    path: str
    api: str
    web: str


_NOT_FOUND = "Not Found"


def api_reply(world: World, path: str, query: Query, api: str, web: str, known: bool) -> Reply:
    """The answer to a path below the API's base. ``known`` says that a good token was sent."""
    by_id = re.fullmatch(r"/repositories/([0-9]+)(/.*)?", path)
    if by_id:
        found = [name for name in world.repositories if answers.number(name) == int(by_id[1])]
        name, rest = (found[0] if found else ""), by_id[2] or ""
    else:
        parts = path.split("/", 4)
        if len(parts) < 4 or parts[1] != "repos":
            return Reply.json(answers.message(_NOT_FOUND), 404)
        name, rest = f"{parts[2]}/{parts[3]}", f"/{parts[4]}" if len(parts) > 4 else ""
        new = world.renamed(name)
        if new:
            return _moved(new, rest, query, api)
    repository = world.repository(name)
    if repository is None or (repository.private and not known):
        return Reply.json(answers.message(_NOT_FOUND), 404)
    asked = _Asked(name, repository, query, path, api, web)
    for pattern, answer in _ROUTES:
        match = re.fullmatch(pattern, rest)
        if match:
            return answer(asked, *(unquote(part) for part in match.groups()))
    return Reply.json(answers.message(_NOT_FOUND), 404)


def _moved(new: str, rest: str, query: Query, api: str) -> Reply:
    tail = "&".join(f"{key}={value}" for key, values in query.items() for value in values)
    url = f"{api}/repositories/{answers.number(new)}{rest}" + (f"?{tail}" if tail else "")
    made = {**answers.message("Moved Permanently"), "url": url}
    reply = Reply.json(made, 301)
    reply.headers["Location"] = url
    return reply


def _whole(asked: _Asked) -> Reply:
    return Reply.json(answers.repository(asked.name, asked.repository.private, asked.api, asked.web))


def _releases(asked: _Asked) -> Reply:
    rows = sorted(asked.repository.releases, key=lambda row: row.published, reverse=True)
    return _page(asked, [answers.release(asked.name, row, asked.api, asked.web) for row in rows])


def _latest(asked: _Asked) -> Reply:
    rows = [row for row in asked.repository.releases if not row.draft and not row.prerelease]
    if not rows:
        return Reply.json(answers.message(_NOT_FOUND), 404)
    last = max(rows, key=lambda row: row.published)
    return Reply.json(answers.release(asked.name, last, asked.api, asked.web))


def _release_by_tag(asked: _Asked, tag: str) -> Reply:
    for row in asked.repository.releases:
        if row.tag == tag and not row.draft:
            return Reply.json(answers.release(asked.name, row, asked.api, asked.web))
    return Reply.json(answers.message(_NOT_FOUND), 404)


def _tags(asked: _Asked) -> Reply:
    return _page(asked, [answers.tag(asked.name, row, asked.api) for row in asked.repository.tags])


def _matching(asked: _Asked, prefix: str) -> Reply:
    rows = [row for row in asked.repository.tags if row.name.startswith(prefix)]
    return _page(asked, [answers.tag_ref(asked.name, row, asked.api) for row in rows])


def _tag_ref(asked: _Asked, name: str) -> Reply:
    for row in asked.repository.tags:
        if row.name == name:
            return Reply.json(answers.tag_ref(asked.name, row, asked.api))
    return Reply.json(answers.message(_NOT_FOUND), 404)


def _branch_ref(asked: _Asked, name: str) -> Reply:
    sha = asked.repository.branches.get(name)
    if sha is None:
        return Reply.json(answers.message(_NOT_FOUND), 404)
    return Reply.json(answers.ref(asked.name, f"refs/heads/{name}", sha, "commit", asked.api))


def _tag_object(asked: _Asked, sha: str) -> Reply:
    for row in asked.repository.tags:
        if row.tag_object == sha:
            return Reply.json(answers.tag_object(asked.name, row, asked.api))
    return Reply.json(answers.message(_NOT_FOUND), 404)


def _commit(asked: _Asked, ref: str) -> Reply:
    found = _commits(asked.repository, ref)
    if len(found) > 1:
        return Reply.json(answers.message(f"The SHA {ref} is ambiguous"), 422)
    if not found:
        return Reply.json(answers.message(f"No commit found for SHA: {ref}"), 422)
    (sha,) = found
    made = answers.commit(asked.name, sha, asked.repository.commits[sha], asked.api, asked.web)
    return Reply.json(made)


def _commits(repository: Repository, ref: str) -> set[str]:
    """What a ref means: a branch, a tag, or else every commit that begins so."""
    named = {tag.name: tag.commit for tag in repository.tags} | repository.branches
    if ref in named:
        return {named[ref]} & set(repository.commits)
    if not re.fullmatch(r"[0-9a-f]{4,40}", ref):
        return set()
    return {sha for sha in repository.commits if sha.startswith(ref)}


def _content(asked: _Asked, path: str) -> Reply:
    ref = (asked.query.get("ref") or ["main"])[0]
    for sha in _commits(asked.repository, ref):
        text = asked.repository.commits[sha].files.get(path)
        if text is not None:
            data = text if isinstance(text, bytes) else text.encode()
            return Reply.json(answers.content(asked.name, sha, path, data, asked.api, asked.web))
    return Reply.json(answers.message(_NOT_FOUND), 404)


def _page(asked: _Asked, rows: list[Any]) -> Reply:
    """One page of a list with its ``Link`` header."""
    size = min(int((asked.query.get("per_page") or ["30"])[0]), 100)
    number = int((asked.query.get("page") or ["1"])[0])
    last = max(1, -(-len(rows) // size))
    reply = Reply.json(rows[(number - 1) * size : number * size])
    links = {"next": number + 1, "last": last} if number < last else {}
    if number > 1:
        links |= {"prev": number - 1, "first": 1}
    if links:
        url = f"{asked.api}{asked.path}?per_page={size}&page="
        reply.headers["Link"] = ", ".join(f'<{url}{page}>; rel="{kind}"' for kind, page in links.items())
    return reply


_ROUTES: tuple[tuple[str, Callable[..., Reply]], ...] = (
    ("", _whole),
    ("/releases", _releases),
    ("/releases/latest", _latest),
    ("/releases/tags/(.+)", _release_by_tag),
    ("/tags", _tags),
    ("/git/matching-refs/tags/(.*)", _matching),
    ("/git/refs?/tags/(.+)", _tag_ref),
    ("/git/refs?/heads/(.+)", _branch_ref),
    ("/git/tags/([0-9a-f]{40})", _tag_object),
    ("/commits/(.+)", _commit),
    ("/contents/(.+)", _content),
)
