"""Publication: the only way anything gets into a store, whole or not at all.

Order, so that neither a kill nor a power loss leaves a half-written entry: everything is staged under ``tmp``
of the same file system; one ``syncfs``; renames in the order given (blobs first, what names them last); then
the folders that were touched are synced.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from ..errors import STORE_FULL, STORE_UNUSABLE, RocmlockError
from .layout import StoreLayout

Step = Callable[[str], None]
"""Called with the name of each step before it happens; tests stop a publication there."""


def _no_step(_: str) -> None:
    return


class Publication:
    """Files on their way into a store. ``with`` removes what was staged and not committed."""

    def __init__(self, layout: StoreLayout, step: Step = _no_step) -> None:
        self._layout = layout
        self._step = step
        self._staged: list[tuple[Path, Path, int]] = []
        self._count = 0

    def __enter__(self) -> Publication:
        with store_errors(self._layout.root):
            self.folder = scratch_folder(self._layout)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove_folder(self.folder)

    def stage(self, final: Path, *, mode: int = 0o444) -> Path:
        """A fresh path to write what will stand at ``final``."""
        self._count += 1
        staged = self.folder / str(self._count)
        self._staged.append((staged, final, mode))
        return staged

    def commit(self) -> None:
        """Put everything in place. What is there already under the same name is kept."""
        with store_errors(self._layout.root):
            for staged, _, mode in self._staged:
                staged.chmod(mode)
            self._step("sync")
            sync_file_system(self.folder)
            touched: dict[Path, None] = {}
            for staged, final, _ in self._staged:
                self._step(f"rename {final.parent.name}")
                final.parent.mkdir(parents=True, exist_ok=True)
                staged.replace(final)
                touched[final.parent] = None
            self._step("sync folders")
            for folder in touched:
                sync_folder(folder)
        self._staged.clear()


@contextmanager
def store_errors(root: Path) -> Generator[None, None, None]:
    """Turns what the operating system says of a store into errors for the user."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise RocmlockError(
                STORE_FULL, f"The store {root} is full: {error.strerror}. Nothing half-written is left."
            ) from None
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise RocmlockError(
                STORE_UNUSABLE, f"The store {root} cannot be written: {error.strerror}."
            ) from None
        raise


def scratch_folder(layout: StoreLayout) -> Path:
    """A fresh private folder in the store's file system. Its name tells who made it, for collect_scratch."""
    prefix = f"{os.getpid()}-{_start_time(os.getpid())}-"
    return Path(tempfile.mkdtemp(prefix=prefix, dir=layout.tmp))


def collect_scratch(layout: StoreLayout) -> None:
    """Remove scratch folders whose process is gone (a kill left them)."""
    for folder in layout.tmp.iterdir():
        pid, _, rest = folder.name.partition("-")
        if pid.isdigit() and _start_time(int(pid)) != rest.partition("-")[0]:
            remove_folder(folder)


def _start_time(pid: int) -> str:
    """When a process started, in clock ticks since boot; empty when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def remove_folder(folder: Path) -> None:
    """Remove a folder and all in it, read-only ones too. What cannot be removed is left for the next run."""
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = Path(path, name)
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def write_file(layout: StoreLayout, final: Path, data: bytes) -> None:
    """Publish one small file."""
    with Publication(layout) as publication, store_errors(layout.root):
        publication.stage(final, mode=0o644).write_bytes(data)
        publication.commit()


def sync_file_system(folder: Path) -> None:
    """Everything written to the file system of ``folder`` is on the disk afterwards."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(descriptor):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """The names in ``folder`` are on the disk afterwards."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
