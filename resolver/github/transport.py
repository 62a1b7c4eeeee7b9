"""One request to GitHub itself: token, retries, waiting, limits of size and time. The cache stands above it.

The token is added here, beneath the cache, so that the cache never sees it. Whole answers are read and
checked here, so that the cache never holds a cut-off one, a login page or a refusal.
"""

from __future__ import annotations

import logging
import re
import ssl
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import formatdate
from pathlib import Path
from typing import cast

import httpx
import stamina

from ...errors import FILE_UNREADABLE, GITHUB_UNREACHABLE, UPSTREAM_UNREADABLE, RocmlockError
from .hosts import Hosts, Kind, Token, origin, token_for, token_variables
from .refusals import Refusal, refusal_error
from .rows import Counts

# How the client tells this layer what a request is for. Taken off before anything is sent.
KIND_HEADER = "x-rocmlock-kind"
# Set on a request that another host's redirect led to: it gets no token, whatever host it is for.
ANONYMOUS_HEADER = "x-rocmlock-anonymous"
# The commit that a request names in full: its answer can never change.
IMMUTABLE_HEADER = "x-rocmlock-immutable"

_CONTENT_TYPES: dict[Kind, tuple[str, ...]] = {
    "api": ("application/json", "application/vnd.github"),
    "raw": ("text/plain", "application/octet-stream"),
    "git": ("application/x-git-upload-pack-",),
}
_KEPT_HEADERS = ("content-type", "etag", "link", "location")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSED_ON = frozenset({200, 304, 404, 409, 422}) | _REDIRECTS
_LONGEST_FRESH = 300  # seconds
_TRUST = "Name the certificates to trust in SSL_CERT_FILE, or answer from a snapshot: --source snapshot"
_FOR_EVER = "private, max-age=3153600000, immutable"

# stamina logs every retry as a warning; whoever wants that in a log can still ask for it.
logging.getLogger("stamina").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one request. Times in seconds, sizes in bytes of the decoded body."""

    attempts: int = 3
    first_wait: float = 0.5
    longest_wait: float = 4.0
    longest_pause: float = 10.0  # what a server may ask us to wait before the next attempt
    connect: float = 10.0
    silence: float = 30.0  # without a byte
    whole: float = 120.0  # one answer
    sizes: Mapping[Kind, int] = field(
        default_factory=lambda: {"api": 32 << 20, "raw": 4 << 20, "git": 16 << 20}
    )
    connections: int = 8
    sleep: Callable[[float], None] = time.sleep


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

    def variables(self, url: str) -> tuple[str, ...]:
        """The variables in which a token for the host of ``url`` is looked for."""
        return token_variables(url)

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
                on=_Again,
                attempts=self._limits.attempts,
                timeout=None,
                wait_initial=self._limits.first_wait,
                wait_max=self._limits.longest_wait,
                wait_jitter=self._limits.first_wait,
            ):
                with attempt:
                    return self._attempt(request, body, first=attempt.num == 1)
        except _Again as last:
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
        with _told_apart(where):
            answer, content = self._exchange(client, sent, kind, where)
        self._count(kind, answer.status_code)
        if answer.status_code not in _PASSED_ON and not _is_unseen(kind, answer.status_code, token):
            self._refuse(
                Refusal(
                    kind,
                    where,
                    answer.status_code,
                    dict(answer.headers),
                    content,
                    token,
                    self.variables(where),
                )
            )
        # Nothing is kept for ever that does not even name the commit that was asked for.
        lasting = immutable is not None and (kind != "api" or immutable.encode() in content)
        return _plain(
            answer, content, kind, where, _kept(kind, answer, lasting=lasting, known=token is not None)
        )

    def _client(self) -> httpx.Client:
        """Opened when first needed: reading the certificates takes longer than an answer from the cache."""
        with self._opening:
            if self._opened is None:
                self._opened = _open_client(self._environ, self._limits)
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
        """Raise what ``refusal`` means; :class:`_Again` where the next attempt may be answered."""
        error = refusal_error(refusal, datetime.now().astimezone())
        pause = refusal.pause()
        if refusal.is_limit():
            if pause is None or pause > self._limits.longest_pause:
                raise error
        elif not refusal.is_server_fault():
            raise error
        if pause is not None and pause <= self._limits.longest_pause:
            self._limits.sleep(pause)
        raise _Again(error)


class _Again(Exception):  # noqa: N818 -- no error by itself: it carries one
    """Another attempt may succeed; ``error`` is what to raise when there is none left."""

    def __init__(self, error: RocmlockError) -> None:
        super().__init__(error.message)
        self.error = error


@contextmanager
def _told_apart(where: str) -> Generator[None, None, None]:
    """What httpx raises, as what a user reads; worth another attempt unless it is for good."""
    try:
        yield
    except httpx.DecodingError:
        raise RocmlockError(UPSTREAM_UNREADABLE, f"The answer to {where} is damaged.") from None
    except httpx.RemoteProtocolError as error:
        if "disconnected" in str(error):  # httpcore's word for a connection that ends before any answer
            raise _Again(_unreachable(where, error)) from None
        raise _Again(
            RocmlockError(UPSTREAM_UNREADABLE, f"The answer to {where} is cut off or no HTTP.")
        ) from None
    except httpx.ProxyError as error:
        raise _unreachable(where, error, "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.") from None
    except httpx.TransportError as error:
        if _is_certificate(error):
            raise _unreachable(where, error, _TRUST) from None
        raise _Again(_unreachable(where, error)) from None


def _unreachable(where: str, error: Exception, hint: str = "") -> RocmlockError:
    kind = type(error).__name__
    fact = str(error)[:300]
    # A proxy's URL may hold a password; httpx names none, and a text with one is not shown.
    context = [fact] if fact and "@" not in fact else ()
    return RocmlockError(
        GITHUB_UNREACHABLE, f"{where} cannot be reached ({kind}).", context=context, hint=hint
    )


def _is_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError) or "CERTIFICATE_VERIFY_FAILED" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_unseen(kind: Kind, status: int, token: Token | None) -> bool:
    # To git without a token GitHub answers 401 for what does not exist and for what may not be seen alike.
    return kind == "git" and status == 401 and token is None


def _authorization(kind: Kind, token: Token) -> str:
    if kind == "git":  # docs.github.com: any user name with the token as password
        user, secret = "x-access-token", token.secret
        return httpx.BasicAuth(user, secret)._auth_header  # pyright: ignore[reportPrivateUsage]
    return f"Bearer {token.secret}"


def _plain(
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


def _kept(kind: Kind, answer: httpx.Response, *, lasting: bool, known: bool) -> dict[str, str]:
    """How long the cache may use an answer without asking again.

    A 304 is free only for whoever sent a token (docs.github.com, "Best practices for using the REST API"). So
    without one an API answer is taken as current for as long as GitHub itself says, which is a minute.
    """
    if answer.status_code not in _PASSED_ON:
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


def _open_client(environ: Mapping[str, str], limits: Limits) -> httpx.Client:
    """The client beneath: no cache, no redirects. Proxies come from the environment, as everywhere.

    Certificates: ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, which httpx reads; else ``REQUESTS_CA_BUNDLE``,
    which the client of the package index reads; else certifi's.
    """
    verify: ssl.SSLContext | bool = True
    bundle = environ.get("REQUESTS_CA_BUNDLE", "")
    named = environ.get("SSL_CERT_FILE") or environ.get("SSL_CERT_DIR") or bundle
    try:
        if bundle and named == bundle:
            path = Path(bundle)
            verify = ssl.create_default_context(
                cafile=None if path.is_dir() else bundle, capath=bundle if path.is_dir() else None
            )
        return httpx.Client(
            verify=verify,
            timeout=httpx.Timeout(limits.silence, connect=limits.connect, pool=None),
            limits=httpx.Limits(max_connections=limits.connections),
            follow_redirects=False,
        )
    except OSError as error:  # ssl.SSLError is one
        raise RocmlockError(
            FILE_UNREADABLE,
            f"The certificates in {named} cannot be read ({error.strerror or error}).",
            hint="Check SSL_CERT_FILE, SSL_CERT_DIR and REQUESTS_CA_BUNDLE.",
        ) from None
    except (ValueError, ImportError, httpx.InvalidURL):
        raise RocmlockError(
            GITHUB_UNREACHABLE,
            "The proxy that the environment names cannot be used.",
            hint="Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.",
        ) from None
