"""What every export gives and needs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import EXPORT_UNSUPPORTED, RocmlockError
from ..model import GitSource, Lock, Package


@dataclass(frozen=True, slots=True)
class Exported:
    """``text`` is the file, the same bytes for equal locks. ``notes`` are sentences about what the format
    cannot say of this lock."""

    text: str
    notes: tuple[str, ...] = ()


def plain(text: str) -> str:
    """``text`` for a format of lines. Raises EXPORT_UNSUPPORTED for what would break out of its line."""
    if not text.isprintable():
        raise RocmlockError(EXPORT_UNSUPPORTED, f"{text!r} cannot stand in a line.")
    return text


def git_packages(lock: Lock) -> Iterator[tuple[Package, GitSource]]:
    """The packages that are built from a git repository, by name."""
    for package in sorted(lock.packages, key=lambda package: package.name):
        if isinstance(package.source, GitSource):
            yield package, package.source


def extras_words(package: Package) -> str:
    """``2 picks and 1 patch``: what is applied to the source before it is built; empty where nothing is."""
    counts = ((len(package.picks), "pick"), (len(package.patches), "patch"))
    endings = {"pick": "s", "patch": "es"}
    return " and ".join(
        f"{count} {word}{endings[word] if count > 1 else ''}" for count, word in counts if count
    )
