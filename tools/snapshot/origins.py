"""Origins as the snapshot writes them, and the data's "from" entries in words. Pure."""

from __future__ import annotations

import re
from typing import Any

from packaging.version import InvalidVersion, Version

Json = dict[str, Any]
Origin = str | int | list[Any]
"""Words; a line of the set's own file; [path, line] in the set's release; [words, "inferred"]."""

# What the data calls by host name has a name in words, too.
_HOSTS = {
    "download.pytorch.org indexes": "the indexes of PyTorch's wheels",
    "download.pytorch.org": "PyTorch's wheel index",
    "repo.amd.com": "AMD's wheel index",
    "github.com/": "",
}


def said(text: str, *, inferred: bool = False) -> Origin:
    """An origin in words."""
    return [text, "inferred"] if inferred else text


def words(source: Json | str | None) -> str:
    """A "from" entry of the data in words, without addresses."""
    if isinstance(source, str):
        return _without_hosts(source)
    if not source:
        return "collected facts"
    if "repo" in source:
        # A commit that is the tag's own stands in the row already.
        commit = "" if "ref" in source else str(source.get("commit", ""))[:12]
        place = str(source.get("path") or source.get("ref") or source.get("tag") or "")
        pull = f"pull {source['pull']}" if "pull" in source else ""
        text = " ".join(filter(None, (str(source["repo"]).split(" (")[0], commit, place, pull)))
        return _without_hosts("; ".join(filter(None, (text, str(source.get("also", ""))))))
    if "package" in source:
        return f"{source['package']} {source.get('path', '')}".strip()
    return _without_hosts(str(source.get("note") or "collected facts"))


def _without_hosts(text: str) -> str:
    text = re.sub(r"https?://\S+", "", text)
    for host, name in _HOSTS.items():
        text = text.replace(host, name)
    return " ".join(text.split())


def is_citable(source: Json | str | None) -> bool:
    """Whether the entry names a repository or a package, which others can look up, and not just some text."""
    return isinstance(source, dict) and ("repo" in source or "package" in source)


def is_version(text: object) -> bool:
    """Whether it is a PEP 440 version."""
    try:
        Version(str(text or ""))
    except InvalidVersion:
        return False
    return True


def version_of_tag(tag: str) -> str | None:
    """``v0.11.1rc3`` -> ``0.11.1rc3``; None for tags that are no versions."""
    text = tag.removeprefix("v").removeprefix(".")
    return text if is_version(text) else None


def is_hash(text: str) -> bool:
    """Whether it can be a commit, short or whole. A tag that could be one ("0000000") is not expected."""
    return re.fullmatch(r"[0-9a-f]{7,40}", text) is not None
