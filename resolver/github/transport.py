"""One request to GitHub itself: token, retries, waiting, limits of size and time. The cache stands above it.

The token is added here, beneath the cache, so that the cache never sees it. Whole answers are read and
checked here, so that the cache never holds a cut-off one, a login page or a refusal.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import cast

import httpx
import stamina

from ...errors import UPSTREAM_UNREADABLE, RocmlockError
from .connection import Again, Limits, open_client, told_apart
from .hosts import Hosts, Kind, Token, origin, token_for, token_variables
from .kept import PASSED_ON, cache_rule, plain_answer
from .refusals import Refusal, refusal_error
from .rows import Counts

# How the client tells this layer what a request is for. Taken off before anything is sent.
KIND_HEADER = "x-rocmlock-kind"
# Set on a request that another host's redirect led to: it gets no token, whatever host it is for.
ANONYMOUS_HEADER = "x-rocmlock-anonymous"
# The commit that a request names in full: its answer can never change.
IMMUTABLE_HEADER = "x-rocmlock-immutable"

# stamina logs every retry as a warning; whoever wants that in a log can still ask for it.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class Origin(httpx.BaseTransport):
    """Sends requests that carry ``KIND_HEADER``. Safe for many threads.

    Answers of status 200, 304, 404, 409, 422 and redirects come back whole; everything else is raised:
    GITHUB_UNREACHABLE, RATE_LIMITED, GITHUB_DENIED, UPSTREAM_UNREADABLE.
    """

    def __init__(
        self, environ: Mapping[str, str], hosts: Hosts, limits: Limits, tell: Callable[[str], None]
    ) -> None:
        self._limits = limits
        self._tell = tell
        self._counts = Counts()
        self._counting = threading.Lock()
        bases = {origin(base): base for base in (hosts.git, hosts.raw, hosts.api)}
        self._tokens = {host: token_for(base, environ) for host, base in bases.items()}
        self._environ = environ
        self._opened: httpx.Client | None = None
        self._opening = threading.Lock()

    @property
    def counts(self) -> Counts:
        """What was answered so far."""
        return self._counts

    def token(self, url: str) -> Token | None:
        """The token that a first request to ``url`` is sent with."""
        return self._tokens.get(origin(url))

    def close(self) -> None:
        """Close every connection."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer to ``request``, after at most the attempts and pauses that the limits allow."""
        body = request.read()
        try:
            for attempt in stamina.retry_context(
                on=Again,
                attempts=self._limits.attempts,
                timeout=None,
                wait_initial=self._limits.first_wait,
                wait_max=self._limits.longest_wait,
                wait_jitter=self._limits.first_wait,
            ):
                with attempt:
                    return self._attempt(request, body, first=attempt.num == 1)
        except Again as last:
            raise last.error from None
        raise AssertionError  # stamina raises the last failure

    def _attempt(self, request: httpx.Request, body: bytes, *, first: bool) -> httpx.Response:
        headers = request.headers.copy()
        kind = cast("Kind", headers.pop(KIND_HEADER))
        anonymous = headers.pop(ANONYMOUS_HEADER, None) is not None
        immutable = headers.pop(IMMUTABLE_HEADER, None)
        token = None if anonymous else self.token(str(request.url))
        where = f"{origin(str(request.url))}{request.url.path}"
        if not first:
            self._tell(f"asking {where} again")
        if token:
            headers["authorization"] = _authorization(kind, token)
        client = self._client()
        sent = client.build_request(request.method, request.url, headers=headers, content=body or None)
        with told_apart(where):
            answer, content = self._exchange(client, sent, kind, where)
        self._count(kind, answer.status_code)
        if answer.status_code not in PASSED_ON and not _is_unseen(kind, answer.status_code, token):
            self._refuse(
                Refusal(
                    kind,
                    where,
                    answer.status_code,
                    dict(answer.headers),
                    content,
                    token,
                    token_variables(where),
                )
            )
        # Nothing is kept for ever that does not even name the commit that was asked for.
        lasting = immutable is not None and (kind != "api" or immutable.encode() in content)
        return plain_answer(
            answer, content, kind, where, cache_rule(kind, answer, lasting=lasting, known=token is not None)
        )

    def _client(self) -> httpx.Client:
        """Opened when first needed: reading the certificates takes longer than an answer from the cache."""
        with self._opening:
            if self._opened is None:
                self._opened = open_client(self._environ, self._limits)
            return self._opened

    def _exchange(
        self, client: httpx.Client, request: httpx.Request, kind: Kind, where: str
    ) -> tuple[httpx.Response, bytes]:
        """The answer and its whole decoded body."""
        ends = time.monotonic() + self._limits.whole
        most = self._limits.sizes[kind]
        answer = client.send(request, stream=True)
        try:
            content = bytearray()
            for part in answer.iter_bytes():
                content += part
                if len(content) > most:
                    raise RocmlockError(
                        UPSTREAM_UNREADABLE, f"The answer to {where} is larger than {most >> 20} MiB."
                    )
                if time.monotonic() > ends:
                    raise httpx.ReadTimeout("the whole answer takes too long", request=request)
        finally:
            answer.close()
        return answer, bytes(content)

    def _count(self, kind: Kind, status: int) -> None:
        name = "api_not_modified" if kind == "api" and status == 304 else kind
        with self._counting:
            self._counts = replace(self._counts, **{name: getattr(self._counts, name) + 1})

    def _refuse(self, refusal: Refusal) -> None:
        """Raise what ``refusal`` means; :class:`Again` where the next attempt may be answered."""
        error = refusal_error(refusal, datetime.now().astimezone())
        pause = refusal.pause()
        if refusal.is_limit():
            if pause is None or pause > self._limits.longest_pause:
                raise error
        elif not refusal.is_server_fault():
            raise error
        if pause is not None and pause <= self._limits.longest_pause:
            self._limits.sleep(pause)
        raise Again(error)


def _is_unseen(kind: Kind, status: int, token: Token | None) -> bool:
    # To git without a token GitHub answers 401 for what does not exist and for what may not be seen alike.
    return kind == "git" and status == 401 and token is None


def _authorization(kind: Kind, token: Token) -> str:
    if kind == "git":  # docs.github.com: any user name with the token as password
        user, secret = "x-access-token", token.secret
        return httpx.BasicAuth(user, secret)._auth_header  # pyright: ignore[reportPrivateUsage]
    return f"Bearer {token.secret}"
