"""What an answer that is no answer means. Pure: status, headers and body in, an error out.

A 403 has several meanings and only the headers tell them apart: docs.github.com, "Rate limits for the REST
API" and "Troubleshooting the REST API".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from ...errors import GITHUB_DENIED, GITHUB_UNREACHABLE, RATE_LIMITED, UPSTREAM_UNREADABLE, RocmlockError
from .hosts import Kind, Token
from .rows import parse_message

_LONGEST_RESET = timedelta(hours=24)  # GitHub's windows last an hour: more is a broken clock
_SERVER_FAULTS = frozenset({500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused request. ``where`` is host and path; ``headers`` have lower-case names."""

    kind: Kind
    where: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    token: Token | None
    variables: tuple[str, ...]

    def is_server_fault(self) -> bool:
        """Whether the same request may well be answered in a moment."""
        return self.status in _SERVER_FAULTS

    def is_limit(self) -> bool:
        """Whether it is a rate limit rather than a refusal for good."""
        if self.status == 429:
            return True
        if self.status != 403:
            return False
        spent = self.headers.get("x-ratelimit-remaining") == "0"
        return spent or "retry-after" in self.headers or "rate limit" in self.message().lower()

    def message(self) -> str:
        """What the server says, without the token should it repeat it."""
        text = parse_message(self.body)
        return text.replace(self.token.secret, "***") if self.token else text

    def pause(self) -> float | None:
        """Seconds that the server asks to wait; None where it names none."""
        text = self.headers.get("retry-after", "")
        return float(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def refusal_error(refusal: Refusal, now: datetime) -> RocmlockError:
    """The error for ``refusal``. ``now`` is this machine's time, with its zone."""
    if refusal.is_limit():
        return _limited(refusal, now)
    said = [f"{refusal.where}: {refusal.message()}"] if refusal.message() else [refusal.where]
    if refusal.status == 401:
        return _bad_token(refusal, said)
    if refusal.status in {403, 451}:
        return _denied(refusal, said)
    context = said if refusal.message() else ()
    if refusal.is_server_fault():
        return RocmlockError(
            GITHUB_UNREACHABLE, f"GitHub fails with {refusal.status} for {refusal.where}.", context=context
        )
    return RocmlockError(
        UPSTREAM_UNREADABLE, f"GitHub answers {refusal.status} for {refusal.where}.", context=context
    )


def _bad_token(refusal: Refusal, said: list[str]) -> RocmlockError:
    if refusal.token:
        name = refusal.token.variable
        return RocmlockError(
            GITHUB_DENIED,
            f"GitHub does not take the token in {name}: it is wrong, expired or revoked.",
            context=said,
            hint=f"Set {name} to a token that works, or unset it.",
        )
    return RocmlockError(
        GITHUB_DENIED,
        "GitHub wants a token for this request.",
        context=said,
        hint=f"Set {' or '.join(refusal.variables)}.",
    )


def _denied(refusal: Refusal, said: list[str]) -> RocmlockError:
    if refusal.status == 451:
        return RocmlockError(GITHUB_DENIED, "GitHub may not give this out for legal reasons.", context=said)
    if refusal.headers.get("x-github-sso", "").startswith("required") and refusal.token:
        name = refusal.token.variable
        return RocmlockError(
            GITHUB_DENIED,
            f"The organisation wants the token in {name} authorised for its single sign-on.",
            context=said,
            hint=f"Authorise it in GitHub's token settings (Configure SSO), or unset {name}.",
        )
    sent = f"with the token in {refusal.token.variable}" if refusal.token else "without a token"
    return RocmlockError(GITHUB_DENIED, f"GitHub refuses this request, sent {sent}.", context=said)


def _limited(refusal: Refusal, now: datetime) -> RocmlockError:
    when = _reset(refusal, now)
    primary = refusal.headers.get("x-ratelimit-remaining") == "0"
    limit = refusal.headers.get("x-ratelimit-limit", "")
    allowed = f" of {limit} an hour" if primary and re.fullmatch(r"[0-9]{1,9}", limit) else ""
    what = "GitHub's rate limit" if primary else "A limit on too many requests at once at GitHub"
    if refusal.token:
        hint = f"Run the same command again {when or 'later'}: what was read is kept."
    else:
        name = refusal.variables[-1]
        hint = (
            f"Set {name} to any token of yours (5000 requests an hour instead of 60),"
            f" or run the same command again {when or 'later'}: what was read is kept."
        )
    until = f"; it takes requests again {when}" if when else ""
    return RocmlockError(
        RATE_LIMITED, f"{what}{allowed} is used up{until}.", context=[refusal.where], hint=hint
    )


def _reset(refusal: Refusal, now: datetime) -> str:
    """When requests are taken again, by this machine's clock; empty where the server does not say.

    What is left is counted by the server's own clock (``Date``): a clock that is wrong here does no harm.
    """
    pause, at = refusal.pause(), refusal.headers.get("x-ratelimit-reset", "")
    if pause is not None:
        left = timedelta(seconds=pause)
    elif re.fullmatch(r"[0-9]{1,11}", at):
        left = timedelta(seconds=int(at) - _server_time(refusal, now).timestamp())
    else:
        return ""
    if left > _LONGEST_RESET:
        return ""
    minutes = -(-left // timedelta(minutes=1))
    if minutes < 1:
        return "in a moment"
    moment = (now + left).strftime("%H:%M")
    return f"at {moment}, in {minutes} minute{'s' if minutes > 1 else ''}"


def _server_time(refusal: Refusal, now: datetime) -> datetime:
    try:
        return parsedate_to_datetime(refusal.headers["date"])
    except (KeyError, ValueError):
        return now
