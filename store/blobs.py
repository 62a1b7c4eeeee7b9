"""Blobs: content by digest, read-only, checked whenever it is used."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ..errors import (
    HASH_MISMATCH,
    SOURCE_CHANGED,
    SOURCE_INVALID,
    STORE_CORRUPT,
    STORE_UNUSABLE,
    RocmlockError,
)
from .digest import Digest, digest_of_bytes
from .layout import StoreLayout, store_errors
from .publish import Publication

_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file until one of them is written
_CHUNK = 1 << 20


class BlobStore:
    """The blobs of a store."""

    def __init__(self, layout: StoreLayout) -> None:
        self.layout = layout

    def has(self, hash_: str) -> bool:
        return self.layout.blob(hash_).is_file()

    def read(self, hash_: str) -> bytes:
        """A blob's content. STORE_CORRUPT where it is missing or not what its name says."""
        path = self.layout.blob(hash_)
        with _open(path) as source, store_errors(self.layout.root):
            data = source.read()
        if digest_of_bytes(data).hash != hash_:
            raise _corrupt(path)
        return data

    def copy(self, hash_: str, place: Path, *, mode: int) -> None:
        """Copy a blob to ``place``, checking its hash on the way: what is damaged is found, never used.

        Blocks are shared where the file system can, inodes never.
        """
        path = self.layout.blob(hash_)
        with _open(path) as source, place.open("x+b") as target:
            found = _copy_and_hash(source, target)
        if found != hash_:
            place.unlink()
            raise _corrupt(path)
        place.chmod(mode)

    def add_bytes(self, publication: Publication, data: bytes) -> Digest:
        digest = digest_of_bytes(data)
        if not self.has(digest.hash):
            with store_errors(self.layout.root):
                publication.stage(self.layout.blob(digest.hash)).write_bytes(data)
        return digest

    def add_file(self, publication: Publication, path: Path, digest: Digest) -> None:
        """Add a file whose digest has just been measured. SOURCE_CHANGED where it is another one by now."""
        if self.has(digest.hash):
            return
        try:
            source = path.open("rb")
        except OSError as error:
            raise RocmlockError(SOURCE_CHANGED, f"{path} is gone: {error.strerror}.") from None
        with source, store_errors(self.layout.root):
            staged = publication.stage(self.layout.blob(digest.hash))
            with staged.open("x+b") as target:
                found = _copy_and_hash(source, target)
        if found != digest.hash:
            raise RocmlockError(SOURCE_CHANGED, f"{path} changed while it was added to the store.")

    def add_stream(
        self, publication: Publication, chunks: Iterable[bytes], expected: str, name: str, max_size: int
    ) -> None:
        """Add downloaded content whose SHA-256 must be ``expected``; ``name`` is its name in errors.

        Raises HASH_MISMATCH, and SOURCE_INVALID for more than ``max_size`` bytes.
        """
        digest, size = hashlib.sha256(), 0
        with store_errors(self.layout.root):
            staged = publication.stage(self.layout.blob(expected))
            with staged.open("xb") as target:
                for chunk in chunks:
                    size += len(chunk)
                    if size > max_size:
                        raise RocmlockError(SOURCE_INVALID, f"{name} is larger than {max_size} bytes.")
                    digest.update(chunk)
                    target.write(chunk)
        if digest.hexdigest() != expected:
            raise RocmlockError(
                HASH_MISMATCH,
                f"{name} is not the file that the lock names.",
                context=[f"the lock says sha256:{expected}", f"it is sha256:{digest.hexdigest()}"],
            )


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except PermissionError as error:
        raise RocmlockError(STORE_UNUSABLE, f"{path} cannot be read: {error.strerror}.") from None
    except OSError as error:
        raise RocmlockError(STORE_CORRUPT, f"{path} cannot be read: {error.strerror}.") from None


def _copy_and_hash(source: BinaryIO, target: BinaryIO) -> str:
    """Copy what is in ``source``, sharing blocks where it can be, and tell the SHA-256 of what came out."""
    shared = _share(source, target)
    digest = hashlib.sha256()
    while chunk := (target if shared else source).read(_CHUNK):
        digest.update(chunk)
        if not shared:
            target.write(chunk)
    return digest.hexdigest()


def _share(source: BinaryIO, target: BinaryIO) -> bool:
    """Give ``target`` the blocks of ``source``; False where the file system cannot."""
    try:
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
    except OSError:
        return False
    return True


def _corrupt(path: Path) -> RocmlockError:
    return RocmlockError(
        STORE_CORRUPT,
        f"{path} is damaged: its content is not what its name says.",
        hint=f"rm {path}; rocmlock realize",
    )
