"""Leases: who builds a derivation. Lost leases do no harm, as publishing is by rename to a content name."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

from .layout import StoreLayout
from .publish import store_errors


@contextmanager
def lease(layout: StoreLayout, key: str, on_wait: Callable[[str], None]) -> Generator[None, None, None]:
    """Hold the lease of ``key``. ``on_wait`` hears once who holds it, where it has to be waited for.

    A holder that dies loses its lease by itself: the kernel drops its lock.
    """
    # Open for writing: NFS emulates flock by byte-range locks, and an exclusive one needs a writable file.
    with store_errors(layout.root):
        descriptor = os.open(layout.lease(key), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait(os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
