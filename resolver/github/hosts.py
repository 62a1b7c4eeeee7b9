"""Which hosts are asked, and which token belongs to which of them. Pure: the environment comes in.

A GitHub Enterprise server is one base URL; each of the three hosts can be set by itself for a mirror.
Tokens are opaque (their forms change): the only demand is that a header can carry them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from ...errors import GITHUB_DENIED, USAGE, RocmlockError

Kind = Literal["api", "raw", "git"]

_PUBLIC_HOSTS = frozenset({"api.github.com", "raw.githubusercontent.com", "github.com"})
# The order of each pair is the one of GitHub's own command line.
_PUBLIC_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
_ENTERPRISE_TOKENS = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")


@dataclass(frozen=True, slots=True)
class Hosts:
    """Base URLs without a slash at the end: the API, files at a commit, git."""

    api: str = "https://api.github.com"
    raw: str = "https://raw.githubusercontent.com"
    git: str = "https://github.com"

    def base(self, kind: Kind) -> str:
        """The base URL of one kind of request."""
        return {"api": self.api, "raw": self.raw, "git": self.git}[kind]


@dataclass(frozen=True, slots=True)
class Token:
    """A secret and the variable it came from. Its repr shows the variable only."""

    variable: str
    secret: str

    def __repr__(self) -> str:
        return f"Token({self.variable})"


def read_hosts(environ: Mapping[str, str]) -> Hosts:
    """The hosts that the environment names, else github.com's.

    Raises USAGE for what is no plain http or https URL, and for one that holds a password.
    """
    enterprise = _url(environ, "ROCMLOCK_GITHUB_URL")
    public = Hosts()
    if enterprise and urlsplit(enterprise).hostname != "github.com":
        # GitHub Enterprise Server's own paths; with subdomains for its parts each is set by itself.
        public = Hosts(f"{enterprise}/api/v3", f"{enterprise}/raw", enterprise)
    return Hosts(
        _url(environ, "ROCMLOCK_GITHUB_API_URL") or public.api,
        _url(environ, "ROCMLOCK_GITHUB_RAW_URL") or public.raw,
        _url(environ, "ROCMLOCK_GITHUB_GIT_URL") or public.git,
    )


def token_for(base: str, environ: Mapping[str, str]) -> Token | None:
    """The token that belongs to the host of ``base``; None over plain http to another machine.

    Raises GITHUB_DENIED, naming the variable, for one that no header can carry.
    """
    parts = urlsplit(base)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        return None
    for variable in token_variables(base):
        if secret := environ.get(variable, "").strip():
            if not (secret.isascii() and secret.isprintable() and " " not in secret):
                raise RocmlockError(
                    GITHUB_DENIED,
                    f"{variable} holds blanks, line breaks or letters that no token has.",
                    hint=f"Set {variable} to the bare token.",
                )
            return Token(variable, secret)
    return None


def token_variables(base: str) -> tuple[str, ...]:
    """The variables that are looked at for the host of ``base``, first to last."""
    return _PUBLIC_TOKENS if urlsplit(base).hostname in _PUBLIC_HOSTS else _ENTERPRISE_TOKENS


def origin(url: str) -> str:
    """Scheme, host and port: what a token may be sent to, and how an error names a server."""
    parts = urlsplit(url)
    default = {"https": 443, "http": 80}.get(parts.scheme)
    port = "" if parts.port in {None, default} else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}"


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _url(environ: Mapping[str, str], variable: str) -> str:
    text = environ.get(variable, "").strip().rstrip("/")
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, known = urlsplit(""), False
    if not known or parts.query or parts.fragment:
        raise RocmlockError(
            USAGE,
            f"{variable} is not the URL of a server.",
            hint=f"Set {variable} to a URL such as https://github.example",
        )
    if parts.username is not None or parts.password is not None:
        raise RocmlockError(
            USAGE,
            f"{variable} holds a user or a password.",
            hint=f"Set {variable} to the bare URL and the token in GH_ENTERPRISE_TOKEN.",
        )
    return text
