"""Words that are safe by type: each is made by one function here, which refuses everything else."""

from __future__ import annotations

import re
from typing import NewType

Commit = NewType("Commit", str)
"""40 lower-case hex digits."""

ContentDigest = NewType("ContentDigest", str)
"""``sha256:`` and 64 lower-case hex digits: an algorithm goes with every hash that a lock holds."""

FileName = NewType("FileName", str)
"""One path component: no slash, not ``.`` or ``..``, no control characters. Files are looked up by it."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+!-]{0,254}")


def commit(text: str) -> Commit:
    """The commit that ``text`` is; ValueError for short, upper-case or all-zero ones."""
    if not is_commit(text):
        raise ValueError(f"{text!r} is not a commit of 40 hex digits")
    return Commit(text)


def content_digest(text: str) -> ContentDigest:
    """The digest that ``text`` is; ValueError for other algorithms, lengths and placeholders of zeros."""
    if not _DIGEST.fullmatch(text) or not text[7:].strip("0"):
        raise ValueError(f"{text!r} is not a digest (sha256: and 64 hex digits)")
    return ContentDigest(text)


def file_name(text: str) -> FileName:
    """The file name that ``text`` is; ValueError for anything that could leave a folder."""
    if not _FILE.fullmatch(text) or text in {".", ".."}:
        raise ValueError(f"{text!r} is not a plain file name")
    return FileName(text)


def is_commit(text: str) -> bool:
    """Whether ``text`` is a whole commit."""
    return _COMMIT.fullmatch(text) is not None and bool(text.strip("0"))
