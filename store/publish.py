"""Publication: the only way anything gets into a store, whole or not at all.

Order, so that neither a kill nor a power loss leaves a half-written entry: everything is staged under ``tmp``
of the same file system; one ``syncfs``; renames in the order given (blobs first, what names them last); then
the folders that were touched are synced.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from .layout import StoreLayout, store_errors
from .leases import take_lock, try_lock

_LOCK = ".lock"

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
        self._ends = ExitStack()

    def __enter__(self) -> Publication:
        self.folder = self._ends.enter_context(scratch_folder(self._layout))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.close()

    def stage(self, final: Path, *, mode: int = 0o444) -> Path:
        """A fresh path to write what will stand at ``final``."""
        self._step("stage")
        self._count += 1
        staged = self.folder / str(self._count)
        self._staged.append((staged, final, mode))
        return staged

    def commit(self) -> None:
        """Put everything in place, in the order of staging.

        What stands under the same name is replaced whole; who has it open keeps reading the old one.
        """
        with store_errors(self._layout.root):
            for staged, _, mode in self._staged:
                staged.chmod(mode)
            folders = dict.fromkeys(final.parent for _, final, _ in self._staged)
            new = [folder for folder in folders if not folder.is_dir()]
            for folder in new:
                folder.mkdir(parents=True, exist_ok=True)
            self._step("sync")
            sync_files(self.folder, (staged for staged, _, _ in self._staged))
            for staged, final, _ in self._staged:
                self._step(f"rename {final.parent.name}")
                staged.replace(final)
            self._step("sync folders")
            # A new folder's own name has to be on the disk, too, before anything counts on what is in it.
            for folder in (*dict.fromkeys(folder.parent for folder in new), *folders):
                sync(folder)
        self._staged.clear()


@contextmanager
def scratch_folder(layout: StoreLayout) -> Generator[Path, None, None]:
    """A fresh private folder in the store's file system, removed at the end.

    While it lives the lock beside it is held, so collect_scratch leaves it alone, wherever that runs: owners
    may be in other containers and on other hosts, where process numbers mean nothing.
    """
    folder = layout.tmp / secrets.token_hex(8)
    with store_errors(layout.root):
        held = take_lock(_lock(folder))
    try:
        with store_errors(layout.root):
            folder.mkdir(mode=0o700)
        yield folder
    finally:
        _end(folder, held)


def _end(folder: Path, held: int) -> None:
    """Remove a scratch folder whose lock we hold. The lock comes first and goes last."""
    remove_folder(folder)
    with suppress(OSError):
        _lock(folder).unlink()
    os.close(held)


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{_LOCK}")


def collect_scratch(layout: StoreLayout) -> None:
    """Remove scratch folders whose owner is gone (a kill left them)."""
    with store_errors(layout.root):
        for name in {path.name.removesuffix(_LOCK) for path in layout.tmp.iterdir()}:
            _collect(layout.tmp / name)


def _collect(folder: Path) -> None:
    try:
        held = try_lock(_lock(folder))
    except FileNotFoundError:
        remove_folder(folder)  # locks come first and go last: this is what an earlier removal left
    except PermissionError:
        return  # another user's
    else:
        if held is not None:
            _end(folder, held)


def remove_folder(folder: Path) -> None:
    """Remove a folder and all in it, read-only ones too. What cannot be removed is left for the next run."""
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = Path(path, name)
            if not inner.is_symlink():
                with suppress(OSError):  # another process may be removing the same remains
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def write_file(layout: StoreLayout, final: Path, data: bytes) -> None:
    """Publish one small file."""
    with Publication(layout) as publication, store_errors(layout.root):
        publication.stage(final, mode=0o644).write_bytes(data)
        publication.commit()


def sync_files(folder: Path, files: Iterable[Path]) -> None:
    """``files``, all in the file system of ``folder``, are on the disk afterwards.

    One call for all of them; one a file where a system has no such call.
    """
    try:
        _sync_file_system(folder)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        for file in files:
            sync(file)


def _sync_file_system(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(descriptor):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """A file's content, or the names in a folder, are on the disk afterwards."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
