"""Where things are in a store. Path arithmetic, and opening a store."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import STORE_FORMAT, STORE_UNUSABLE, RocmlockError

FORMAT = 1


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

    Raises STORE_FORMAT for one of a later version and STORE_UNUSABLE where it cannot be written.
    """
    layout = StoreLayout(root)
    version = _read_format(layout)
    if version is not None and version > FORMAT:
        raise RocmlockError(
            STORE_FORMAT,
            f"{root} is a store of format {version}; this rocmlock knows up to {FORMAT}.",
        )
    try:
        root.mkdir(parents=True, exist_ok=True)
        for name in _SHARED:
            (root / name).mkdir(exist_ok=True)
        for name in _PRIVATE:
            (root / name).mkdir(mode=0o700, exist_ok=True)
        if version is None:
            (root / "format").write_text(f"{FORMAT}\n")
    except OSError as error:
        raise RocmlockError(
            STORE_UNUSABLE, f"The store {root} cannot be written: {error.strerror}."
        ) from None
    if not os.access(layout.tmp, os.W_OK):
        raise RocmlockError(STORE_UNUSABLE, f"The store {root} cannot be written: permission denied.")
    return layout


def find_store(root: Path) -> StoreLayout:
    """The store at ``root`` for reading alone: needs no write access. STORE_UNUSABLE where there is none."""
    if _read_format(StoreLayout(root)) is None:
        raise RocmlockError(STORE_UNUSABLE, f"There is no store at {root}.", hint="rocmlock realize")
    return StoreLayout(root)


def _read_format(layout: StoreLayout) -> int | None:
    try:
        return int((layout.root / "format").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise RocmlockError(
            STORE_UNUSABLE, f"{layout.root} is not a store that can be read: {error}."
        ) from None
