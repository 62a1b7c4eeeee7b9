"""Where things are in a store. Path arithmetic, opening a store, and what its file system says against it."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import STORE_FORMAT, STORE_FULL, STORE_UNUSABLE, RocmlockError

FORMAT = 1

_FULL = {errno.ENOSPC, errno.EDQUOT}
_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
# A failing disk, a server that forgot the file, a file system without locks.
_BROKEN = {errno.EIO, errno.ESTALE, errno.ENOLCK}


@dataclass(frozen=True, slots=True)
class StoreLayout:
    """Paths below ``root``; docs/formats/store.md describes each."""

    root: Path

    def blob(self, hash_: str) -> Path:
        return self.root / "blobs" / hash_[:2] / hash_

    def derivation(self, key: str) -> Path:
        return self.root / "derivations" / f"{key}.json"

    def realisation(self, key: str) -> Path:
        return self.root / "realisations" / f"{key}.json"

    def action(self, hash_: str) -> Path:
        return self.root / "actions" / f"{hash_}.json"

    def log(self, key: str) -> Path:
        return self.root / "logs" / f"{key}.log"

    def failed(self, key: str) -> Path:
        return self.root / "failed" / key

    def tree(self, hash_: str) -> Path:
        return self.root / "trees" / hash_

    def lease(self, key: str) -> Path:
        return self.root / "leases" / f"{key}.lock"

    def realized_lock(self, hash_: str) -> Path:
        return self.root / "locks" / hash_

    @property
    def environments(self) -> Path:
        return self.root / "environments"

    @property
    def systems(self) -> Path:
        return self.root / "systems"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"


_PRIVATE = ("tmp", "failed")  # builds work there: nobody else may look or reach in
_SHARED = (
    *("actions", "blobs", "derivations", "environments", "leases"),
    *("locks", "logs", "realisations", "systems", "trees"),
)


def open_store(root: Path) -> StoreLayout:
    """The store at ``root``, made where there is none.

    Raises STORE_FORMAT for one of a later version, STORE_FULL, and STORE_UNUSABLE where it cannot be written.
    """
    layout = StoreLayout(root)
    version = _read_format(layout)
    if version is not None and version > FORMAT:
        raise RocmlockError(
            STORE_FORMAT,
            f"{root} is a store of format {version}; this rocmlock knows up to {FORMAT}.",
        )
    try:
        with store_errors(root):
            root.mkdir(parents=True, exist_ok=True)
            for name in _SHARED:
                (root / name).mkdir(exist_ok=True)
            for name in _PRIVATE:
                (root / name).mkdir(mode=0o700, exist_ok=True)
            if version is None:
                (root / "format").write_text(f"{FORMAT}\n")
    except OSError as error:
        raise RocmlockError(STORE_UNUSABLE, f"The store {root} cannot be made: {error.strerror}.") from None
    if not os.access(layout.tmp, os.W_OK):
        raise RocmlockError(STORE_UNUSABLE, f"The store {root} cannot be written: permission denied.")
    return layout


def find_store(root: Path) -> StoreLayout:
    """The store at ``root`` for reading alone: needs no write access. STORE_UNUSABLE where there is none."""
    if _read_format(StoreLayout(root)) is None:
        raise RocmlockError(STORE_UNUSABLE, f"There is no store at {root}.", hint="rocmlock realize")
    return StoreLayout(root)


@contextmanager
def store_errors(root: Path) -> Generator[None, None, None]:
    """Turns what the operating system says of a store into STORE_FULL and STORE_UNUSABLE."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise RocmlockError(
                STORE_FULL, f"The store {root} is full: {error.strerror}. Nothing half-written is left."
            ) from None
        if error.errno in _UNWRITABLE | _BROKEN:
            what = "written" if error.errno in _UNWRITABLE else "used"
            raise RocmlockError(
                STORE_UNUSABLE, f"The store {root} cannot be {what}: {error.strerror}."
            ) from None
        raise


def _read_format(layout: StoreLayout) -> int | None:
    try:
        text = (layout.root / "format").read_text()
        # Empty: whoever made the store was stopped, or the disk was full, before the number was written.
        return int(text) if text else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise RocmlockError(
            STORE_UNUSABLE, f"{layout.root} is not a store that can be read: {error}."
        ) from None
