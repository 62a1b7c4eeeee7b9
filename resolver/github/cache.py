"""Answers kept in one SQLite file: safe for many threads and processes, bounded, and never needed.

Whatever is wrong with the file is told once, and the client goes on without it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hishel import Entry, EntryMeta, Request, Response, SyncBaseStorage, SyncSqliteStorage

LARGEST = 256 << 20  # bytes of all answers; what is over when a command ends goes, oldest first

# sqlite3's own, and what a damaged row makes of its reader.
_FAULTS = (sqlite3.Error, OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError)


class Cache(SyncBaseStorage):
    """hishel's storage with one answer a request, written whole or not at all. No method raises.

    ``file`` is made with its folder, readable by its owner only: answers may come from private repositories.
    """

    def __init__(self, file: Path, tell: Callable[[str], None], largest: int = LARGEST) -> None:
        self._file = file
        self._tell = tell
        self._largest = largest
        self._lock = threading.RLock()
        self._rows: SyncSqliteStorage | None = None
        self._connection: sqlite3.Connection | None = None
        with self._guarded("cannot be used"), _alone(file):
            self._connection = _open_database(file)
            rows = SyncSqliteStorage(connection=self._connection)
            rows.get_entries("")  # makes the tables, under the lock
            self._rows = rows

    def create_entry(
        self, request: Request, response: Response, key: str, id_: uuid.UUID | None = None
    ) -> Entry:
        """Keep ``response`` in place of any earlier answer to the same request."""
        body = response.read()
        entry_id = id_ or uuid.uuid4()
        with self._lock, self._guarded("cannot be written"):
            if self._rows is not None and self._connection is not None:
                stale = [entry.id for entry in self._rows.get_entries(key) if _same(entry, request)]
                made = self._rows.create_entry(request, replace(response, stream=iter([body])), key, entry_id)
                for _ in made.response._iter_stream():  # pyright: ignore[reportPrivateUsage] -- reading it stores it
                    pass
                _delete(self._connection, stale)
        kept = replace(response, stream=iter([body]))
        return Entry(entry_id, request, EntryMeta(), kept, key.encode())

    def get_entries(self, key: str) -> list[Entry]:
        """The answers kept under ``key``, whole, newest first."""
        with self._lock, self._guarded("cannot be read"):
            if self._rows is not None and self._connection is not None:
                with _one_moment(self._connection):
                    found = sorted(self._rows.get_entries(key), key=lambda entry: -entry.meta.created_at)
                    return [
                        replace(entry, response=replace(entry.response, stream=iter([entry.response.read()])))
                        for entry in found
                    ]
        return []

    def update_entry(self, id: uuid.UUID, new_entry: Entry | Callable[[Entry], Entry]) -> Entry | None:  # noqa: A002 -- hishel's name
        """Change the headers of a kept answer; its body stays."""
        with self._lock, self._guarded("cannot be written"):
            if self._rows is not None:
                return self._rows.update_entry(id, new_entry)
        return None

    def remove_entry(self, id: uuid.UUID) -> None:  # noqa: A002 -- hishel's name
        """Forget an answer."""
        with self._lock, self._guarded("cannot be written"):
            if self._connection is not None:
                _delete(self._connection, [id])

    def close(self) -> None:
        """Bring the file under its bound and close it. Safe to call twice."""
        with self._lock:
            rows, connection = self._rows, self._connection
            with self._guarded("cannot be made smaller"):
                if rows is not None and connection is not None:
                    _prune(connection, self._largest)
            self._rows = self._connection = None
            if rows is not None:
                rows.close()

    @contextmanager
    def _guarded(self, what: str) -> Generator[None, None, None]:
        """Tell what fails, once, and be without a cache from then on."""
        try:
            yield
        except _FAULTS as error:
            self._rows = None
            self._tell(
                f"{self._file} {what} ({error}): going on without a cache; remove it to have one again"
            )


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Generator[None, None, None]:
    """What is read inside is of one moment: another process may put a new answer in place of one between the
    reading of its row and that of its body, which would then be empty."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.rollback()


def _same(entry: Entry, request: Request) -> bool:
    return entry.request.url == request.url and entry.request.method == request.method


@contextmanager
def _alone(file: Path) -> Generator[None, None, None]:
    """One process at a time: SQLite's switch to its write-ahead log does not wait for another's."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _open_database(file: Path) -> sqlite3.Connection:
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(file, check_same_thread=False, timeout=30)
    connection.execute(
        "PRAGMA auto_vacuum=INCREMENTAL"
    )  # before the first table, so that pruning gives space back
    return connection


def _delete(connection: sqlite3.Connection, entries: Sequence[uuid.UUID]) -> None:
    with connection:
        connection.executemany("DELETE FROM entries WHERE id = ?", [(entry.bytes,) for entry in entries])


def _prune(connection: sqlite3.Connection, largest: int) -> None:
    """Over ``largest`` bytes, remove the oldest answers until the rest takes three quarters of that."""
    (total,) = connection.execute("SELECT coalesce(sum(length(chunk_data)), 0) FROM streams").fetchone()
    if total <= largest:
        return
    rows = connection.execute(
        "SELECT e.id, coalesce(sum(length(s.chunk_data)), 0) FROM entries e"
        " LEFT JOIN streams s ON s.entry_id = e.id GROUP BY e.id ORDER BY e.created_at"
    ).fetchall()
    gone: list[uuid.UUID] = []
    for entry, size in rows:
        if total <= largest * 3 // 4:
            break
        gone.append(uuid.UUID(bytes=entry))
        total -= size
    _delete(connection, gone)
    # Each step gives back one page, and only a script is stepped through without rows to fetch.
    connection.executescript("PRAGMA incremental_vacuum")
