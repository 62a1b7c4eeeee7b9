"""The connections themselves: proxies, certificates, and what breaks, as what a user reads."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from ...errors import FILE_UNREADABLE, GITHUB_UNREACHABLE, UPSTREAM_UNREADABLE, RocmlockError
from .hosts import Kind

_TRUST = "Name the certificates to trust in SSL_CERT_FILE, or answer from a snapshot: --source snapshot"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one request. Times in seconds, sizes in bytes of the decoded body."""

    attempts: int = 3
    first_wait: float = 0.5
    longest_wait: float = 4.0
    longest_pause: float = 10.0  # what a server may ask us to wait before the next attempt
    connect: float = 5.0
    silence: float = 30.0  # without a byte
    whole: float = 120.0  # one answer
    sizes: Mapping[Kind, int] = field(
        default_factory=lambda: {"api": 32 << 20, "raw": 4 << 20, "git": 16 << 20}
    )
    connections: int = 8
    sleep: Callable[[float], None] = time.sleep


def open_client(environ: Mapping[str, str], limits: Limits) -> httpx.Client:
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


class Again(Exception):  # noqa: N818 -- no error by itself: it carries one
    """Another attempt may succeed; ``error`` is what to raise when there is none left."""

    def __init__(self, error: RocmlockError) -> None:
        super().__init__(error.message)
        self.error = error


@contextmanager
def told_apart(where: str) -> Generator[None, None, None]:
    """What httpx raises, as what a user reads; worth another attempt unless it is for good."""
    try:
        yield
    except httpx.DecodingError:
        raise RocmlockError(UPSTREAM_UNREADABLE, f"The answer to {where} is damaged.") from None
    except httpx.RemoteProtocolError as error:
        if "disconnected" in str(error):  # httpcore's word for a connection that ends before any answer
            raise Again(_unreachable(where, error)) from None
        raise Again(
            RocmlockError(UPSTREAM_UNREADABLE, f"The answer to {where} is cut off or no HTTP.")
        ) from None
    except httpx.ProxyError as error:
        raise _unreachable(where, error, "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.") from None
    except httpx.TransportError as error:
        if _is_certificate(error):
            raise _unreachable(where, error, _TRUST) from None
        # Nobody there, or no name: a machine without network is told at once.
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            raise _unreachable(where, error) from None
        raise Again(_unreachable(where, error)) from None


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
