"""Digests: SHA-256 and size, as the Remote Execution API names content. Pure but for reading files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, order=True)
class Digest:
    """``hash`` is 64 lower-case hex digits, ``size`` is in bytes."""

    hash: str
    size: int

    def __post_init__(self) -> None:
        if not _HASH.fullmatch(self.hash) or self.size < 0:
            raise ValueError(f"{self.hash!r} is not a SHA-256 digest")

    def __str__(self) -> str:
        """As locks write it; the size is not part of it."""
        return f"sha256:{self.hash}"


def digest_of_bytes(data: bytes) -> Digest:
    return Digest(hashlib.sha256(data).hexdigest(), len(data))


def digest_of_file(path: Path) -> Digest:
    """The digest of a file's content, read in a stream."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        return Digest(found, file.tell())


EMPTY = digest_of_bytes(b"")
