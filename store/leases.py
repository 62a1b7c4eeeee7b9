"""Leases: who builds a derivation, and who owns a scratch folder. Locks of the kernel: the dead hold none.

Lost leases do no harm, as publishing is by rename to a content name.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from .layout import StoreLayout, store_errors


@contextmanager
def lease(layout: StoreLayout, key: str, on_wait: Callable[[str], None]) -> Generator[None, None, None]:
    """Hold the lease of ``key``. ``on_wait`` hears once who holds it, where it has to be waited for.

    A holder that dies loses its lease by itself: the kernel drops its lock. Raises STORE_FULL and
    STORE_UNUSABLE.
    """
    with store_errors(layout.root):
        descriptor = _open(layout.lease(key), create=True)
    try:
        with store_errors(layout.root):
            if not _try(descriptor):
                on_wait(os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            _name_holder(descriptor)
        try:
            yield
        finally:
            # Only here, where the lease is ours: who waits next is not told of a holder that is gone.
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _name_holder(descriptor: int) -> None:
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()} since {since}\n".encode(), 0)


def take_lock(path: Path) -> int:
    """Make the lock file ``path`` and hold it. Closing the descriptor that comes back lets go."""
    while True:
        descriptor = _open(path, create=True)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # somebody collected the file before it was locked: this lock is nobody's


def try_lock(path: Path) -> int | None:
    """Hold the lock file ``path`` if nobody else does. FileNotFoundError where there is none."""
    descriptor = _open(path, create=False)
    if _try(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _open(path: Path, *, create: bool) -> int:
    # For writing: NFS emulates flock by byte-range locks, and an exclusive one needs a writable file.
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o644)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
