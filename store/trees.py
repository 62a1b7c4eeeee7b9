"""Trees: a folder's content under one digest (REAPI Directory messages), and folders made from it.

A tree keeps names, contents, the execute bit and relative links that stay inside. It keeps no times, no
owners, no empty meaning in order: docs/formats/trees.md.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ..errors import SOURCE_INVALID, STORE_CORRUPT, Problem, RocmlockError
from .blobs import BlobStore
from .digest import Digest, digest_of_bytes, digest_of_file
from .nodes import DirectoryNode, FileNode, Folder, SymlinkNode, link_stays_inside
from .publish import Publication

# What a working folder holds beside its source. Everything else counts.
DEFAULT_IGNORE = (
    *(".git", ".hg", ".svn", ".venv", "__pycache__", "*.pyc", "build", "dist", "*.egg-info"),
    *(".pytest_cache", ".mypy_cache", ".ruff_cache"),
)


@dataclass(frozen=True, slots=True)
class Tree:
    """``messages`` are the Directory bytes by digest, ``files`` the contents to keep, by path."""

    root: Digest
    messages: dict[Digest, bytes]
    files: dict[Path, Digest]


def tree_digest(folder: Path) -> Digest:
    """The digest of a local source folder, without what DEFAULT_IGNORE leaves out."""
    return read_tree(folder, DEFAULT_IGNORE).root


def read_tree(folder: Path, ignore: tuple[str, ...] = ()) -> Tree:
    """The tree of ``folder``. SOURCE_INVALID, naming every one, for entries that no tree can hold."""
    reader = _Reader(ignore)
    try:
        root = reader.read(folder)
    except OSError as error:
        raise RocmlockError(SOURCE_INVALID, f"{error.filename} cannot be read: {error.strerror}.") from None
    if reader.problems:
        raise RocmlockError(
            SOURCE_INVALID, f"{folder} holds what no tree can hold.", problems=reader.problems
        )
    return Tree(root, reader.messages, reader.files)


class _Reader:
    """Walks a folder, deepest folders first, without recursion."""

    def __init__(self, ignore: tuple[str, ...]) -> None:
        self._ignore = ignore
        self._digests: dict[Path, Digest] = {}
        self.messages: dict[Digest, bytes] = {}
        self.files: dict[Path, Digest] = {}
        self.problems: list[Problem] = []

    def read(self, root: Path) -> Digest:
        from .proto import encode_folder

        for path, depth in reversed(list(self._folders(root))):
            data = encode_folder(self._folder(path, depth))
            self._digests[path] = digest_of_bytes(data)
            self.messages[self._digests[path]] = data
        return self._digests[root]

    def _folders(self, root: Path) -> Iterator[tuple[Path, int]]:
        """Every folder with its depth, parents first."""
        pending = [(root, 0)]
        while pending:
            path, depth = pending.pop()
            yield path, depth
            with os.scandir(path) as entries:
                pending.extend(
                    (Path(entry.path), depth + 1)
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False) and not self._ignored(entry.name)
                )

    def _ignored(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._ignore)

    def _folder(self, path: Path, depth: int) -> Folder:
        files: list[FileNode] = []
        directories: list[DirectoryNode] = []
        symlinks: list[SymlinkNode] = []
        with os.scandir(path) as entries:
            for entry in entries:
                name, place = entry.name, Path(entry.path)
                if self._ignored(name):
                    continue
                mode = entry.stat(follow_symlinks=False).st_mode
                if not _is_text(name):
                    self.problems.append(Problem(f"{place!r}: its name is not UTF-8"))
                elif stat.S_ISLNK(mode):
                    target = str(place.readlink())
                    if _is_text(target) and link_stays_inside(depth, target):
                        symlinks.append(SymlinkNode(name, target))
                    else:
                        self.problems.append(Problem(f"{place} links to {target!r}, out of the folder"))
                elif stat.S_ISDIR(mode):
                    directories.append(DirectoryNode(name, self._digests[place]))
                elif stat.S_ISREG(mode):
                    self.files[place] = digest_of_file(place)
                    files.append(FileNode(name, self.files[place], bool(mode & stat.S_IXUSR)))
                else:
                    self.problems.append(Problem(f"{place} is neither file, folder nor link"))
        return Folder(tuple(files), tuple(directories), tuple(symlinks))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def add_tree(blobs: BlobStore, publication: Publication, tree: Tree) -> None:
    """Stage all content of a tree: files first, then the messages that name them."""
    for path, digest in tree.files.items():
        blobs.add_file(publication, path, digest)
    for data in tree.messages.values():
        blobs.add_bytes(publication, data)


def materialise(blobs: BlobStore, root: Digest, place: Path, *, writable: bool, epoch: int) -> None:
    """Make the folder ``place`` from a tree; every file is a copy with the time ``epoch``.

    Raises STORE_CORRUPT for content that is missing, damaged or no tree of ours.
    """
    from .proto import parse_folder

    pending = [(root, place, 0)]
    made: list[Path] = []
    while pending:
        digest, path, depth = pending.pop()
        try:
            folder = parse_folder(blobs.read(digest.hash))
        except ValueError as error:
            raise RocmlockError(STORE_CORRUPT, f"tree {digest.hash} is refused: {error}.") from None
        path.mkdir()
        made.append(path)
        _make_entries(blobs, folder, path, depth, writable=writable, epoch=epoch)
        pending.extend((node.digest, path / node.name, depth + 1) for node in folder.directories)
    for path in reversed(made):
        os.utime(path, (epoch, epoch))
        path.chmod(0o755 if writable else 0o555)


def _make_entries(
    blobs: BlobStore, folder: Folder, path: Path, depth: int, *, writable: bool, epoch: int
) -> None:
    for file in folder.files:
        mode = (0o644 if writable else 0o444) | (0o111 if file.executable else 0)
        blobs.copy(file.digest.hash, path / file.name, mode=mode)
        os.utime(path / file.name, (epoch, epoch))
    for link in folder.symlinks:
        if not link_stays_inside(depth, link.target):
            raise RocmlockError(STORE_CORRUPT, f"a tree links {link.name} to {link.target}, out of itself.")
        (path / link.name).symlink_to(link.target)
