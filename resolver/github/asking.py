"""One question and its answer: through the cache if there is one, and along redirects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urljoin

import httpx
from hishel import CacheOptions, FilterPolicy, SpecificationPolicy
from hishel.httpx import SyncCacheTransport

from ...errors import OFFLINE_MISSING, UPSTREAM_UNREADABLE, RocmlockError
from .cache import Cache
from .connection import Limits
from .hosts import Hosts, Kind, Token, origin
from .rows import Counts
from .transport import ANONYMOUS_HEADER, IMMUTABLE_HEADER, KIND_HEADER, Origin

_MOST_REDIRECTS = 5


class Asking:
    """Asks GitHub, or with ``offline`` the cache alone. Safe for many threads."""

    def __init__(
        self,
        environ: Mapping[str, str],
        hosts: Hosts,
        cache: Path | None,
        tell: Callable[[str], None],
        limits: Limits,
        *,
        offline: bool,
    ) -> None:
        self._origin = Origin(environ, hosts, limits, tell)
        transport: httpx.BaseTransport = _Offline() if offline else self._origin
        if cache is not None:
            policy = (
                FilterPolicy()  # whatever is kept, however old
                if offline
                else SpecificationPolicy(CacheOptions(shared=False, supported_methods=["GET", "POST"]))
            )
            transport = SyncCacheTransport(transport, storage=Cache(cache, tell), policy=policy)
        # The environment's proxies belong to the layer beneath the cache.
        self._client = httpx.Client(transport=transport, trust_env=False, headers={"user-agent": "rocmlock"})

    @property
    def counts(self) -> Counts:
        """Requests that were answered so far."""
        return self._origin.counts

    def token(self, url: str) -> Token | None:
        """The token that a first request to ``url`` is sent with."""
        return self._origin.token(url)

    def close(self) -> None:
        """Close the connections and the cache, which is brought under its bound."""
        self._client.close()
        self._origin.close()

    def ask(
        self, kind: Kind, method: str, url: str, *, content: bytes | None = None, commit: str | None = None
    ) -> httpx.Response:
        """The answer after redirects. A request that has left its first host carries no token any more."""
        headers = {KIND_HEADER: kind, **_headers(kind, method)}
        if commit:
            headers[IMMUTABLE_HEADER] = commit
        elif self._origin.token(url):  # a 304 is free: nothing is taken as current unasked
            headers["cache-control"] = "no-cache"
        first = origin(url)
        for _ in range(_MOST_REDIRECTS + 1):
            # Equal bodies to different repositories are told apart by URL: hishel compares both.
            extensions = {"hishel_body_key": True} if content else {}
            answer = self._client.request(
                method, url, headers=headers, content=content, extensions=extensions
            )
            location = answer.headers.get("location")
            if not answer.is_redirect or not location:
                return answer
            url = redirected(url, location)
            if origin(url) != first:
                headers[ANONYMOUS_HEADER] = "1"
        raise RocmlockError(UPSTREAM_UNREADABLE, f"{first} leads from redirect to redirect.")


class _Offline(httpx.BaseTransport):
    """What lies beneath the cache when nothing may be asked."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        where = f"{origin(str(request.url))}{request.url.path}"
        raise RocmlockError(
            OFFLINE_MISSING,
            f"The answer of {where} is not in the cache.",
            hint="Run the command once without --offline, or answer from a snapshot: --source snapshot",
        )


def _headers(kind: Kind, method: str) -> dict[str, str]:
    if kind == "api":
        return {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
    if kind == "raw":
        # Plain bytes: what is counted against the bound is what was sent.
        return {"accept": "*/*", "accept-encoding": "identity"}
    if method == "POST":
        return {
            "accept": "application/x-git-upload-pack-result",
            "content-type": "application/x-git-upload-pack-request",
            "git-protocol": "version=2",
        }
    return {"accept": "*/*", "git-protocol": "version=2"}


def redirected(url: str, location: str) -> str:
    """Where a redirect leads. Raises UPSTREAM_UNREADABLE for what is no URL, and from https to http."""
    try:
        led = httpx.URL(urljoin(url, location))
        origin(str(led))
    except (ValueError, httpx.InvalidURL):
        raise RocmlockError(UPSTREAM_UNREADABLE, f"{origin(url)} leads to what is no URL.") from None
    if (
        led.scheme not in {"http", "https"}
        or not led.host
        or url.startswith("https:") > (led.scheme == "https")
    ):
        raise RocmlockError(UPSTREAM_UNREADABLE, f"{origin(url)} leads to a page without encryption.")
    return str(led.copy_with(userinfo=b"", fragment=None))
