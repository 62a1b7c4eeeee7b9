"""What of an answer goes on, and how long the cache may use it: an answer in, an answer out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import formatdate

import httpx

from ...errors import UPSTREAM_UNREADABLE, RocmlockError
from .hosts import Kind

_CONTENT_TYPES: dict[Kind, tuple[str, ...]] = {
    "api": ("application/json", "application/vnd.github"),
    "raw": ("text/plain", "application/octet-stream"),
    "git": ("application/x-git-upload-pack-",),
}
_KEPT_HEADERS = ("content-type", "etag", "link", "location")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
PASSED_ON = frozenset({200, 304, 404, 409, 422}) | _REDIRECTS
_LONGEST_FRESH = 300  # seconds
_FOR_EVER = "private, max-age=3153600000, immutable"


def plain_answer(
    answer: httpx.Response, content: bytes, kind: Kind, where: str, kept: Mapping[str, str]
) -> httpx.Response:
    """The answer with only the headers that matter, and ``kept`` as the rule for the cache.

    A 304 keeps no header of its own: the stored ones stay true.
    """
    if answer.status_code == 304:
        return httpx.Response(304, headers=kept)
    headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
    if answer.status_code == 200:
        _check_type(answer.headers.get("content-type", ""), kind, where)
    return httpx.Response(answer.status_code, headers={**headers, **kept}, content=content)


def cache_rule(kind: Kind, answer: httpx.Response, *, lasting: bool, known: bool) -> dict[str, str]:
    """How long the cache may use an answer without asking again.

    A 304 is free only for whoever sent a token (docs.github.com, "Best practices for using the REST API"). So
    without one an API answer is taken as current for as long as GitHub itself says, which is a minute.
    """
    if answer.status_code not in PASSED_ON:
        return {"cache-control": "no-store"}
    if answer.status_code == 200 and lasting:
        return {"cache-control": _FOR_EVER}
    stated = re.search(r"(?<![a-z-])max-age=([0-9]{1,6})", answer.headers.get("cache-control", ""))
    if kind == "api" and not known and stated and answer.status_code in {200, 304}:
        seconds = min(int(stated[1]), _LONGEST_FRESH)
        return {"cache-control": f"private, max-age={seconds}", "date": formatdate(usegmt=True)}
    return {"cache-control": "private, no-cache"}  # kept for --offline and for its ETag, asked anew otherwise


def _check_type(content_type: str, kind: Kind, where: str) -> None:
    if not content_type.strip().lower().startswith(_CONTENT_TYPES[kind]):
        got = "a web page" if "html" in content_type.lower() else repr(content_type[:60] or "nothing")
        raise RocmlockError(
            UPSTREAM_UNREADABLE,
            f"{where} answers with {got} in place of GitHub's data.",
            hint="Check whether this network wants a login first, and the proxy that is configured.",
        )
