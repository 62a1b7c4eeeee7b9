"""Git URLs as they may be shown and compared. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit, urlunsplit

_SCP = re.compile(r"(?:(?P<user>[^@/:]+)@)?(?P<host>[^@/:]+):(?P<path>[^/].*)")


def public_url(url: str) -> str:
    """``url`` without what may be a secret: user and password, query, fragment.

    The user of ssh stays: it is no secret, and without it the URL leads nowhere.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if not parts.scheme or "://" not in url:
        return url.split("?", maxsplit=1)[0].split("#", maxsplit=1)[0]
    user, at, host = parts.netloc.rpartition("@")
    kept = f"{user.split(':')[0]}{at}" if parts.scheme.endswith("ssh") and at else ""
    return urlunsplit((parts.scheme, f"{kept}{host}", parts.path, "", ""))


def github_repository(url: str) -> tuple[str, str, str] | None:
    """(host, owner, name) where ``url`` is a repository of GitHub or of a GitHub Enterprise server, in any of
    git's spellings; None elsewhere. A server counts by its name: ``github.`` and a domain."""
    scp = _SCP.fullmatch(url)
    if scp and "://" not in url:
        host, path = scp["host"], scp["path"]
    else:
        try:
            parts = urlsplit(url)
            if parts.scheme not in {"https", "http", "ssh", "git", "git+https", "git+ssh"}:
                return None
            host, path = parts.netloc.rpartition("@")[2], parts.path
        except ValueError:
            return None
    names = path.strip("/").removesuffix(".git").split("/")
    if len(names) != 2 or not all(names) or not host.lower().startswith("github."):
        return None
    return host.lower(), names[0], names[1]


def repository_of(url: str) -> str | None:
    """``owner/name`` where ``url`` is a repository as in :func:`github_repository`, None elsewhere."""
    found = github_repository(url)
    return f"{found[1]}/{found[2]}" if found else None


def compare_link(old_url: str, new_url: str, old: str, new: str) -> str | None:
    """Where GitHub shows what lies between two commits of one repository; None for others."""
    before, after = github_repository(old_url), github_repository(new_url)
    if before is None or after is None or [*map(str.lower, before)] != [*map(str.lower, after)]:
        return None
    host, owner, name = after
    return f"https://{host}/{quote(owner)}/{quote(name)}/compare/{old}...{new}"
