"""Trees: a folder's content under one digest (REAPI Directory messages), and folders made from it.

A tree keeps names, contents, the execute bit and relative links that stay inside. It keeps no times, no
owners and no order: docs/formats/trees.md.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
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
    reader = _Reader(folder, ignore)
    try:
        root = reader.read()
    except OSError as error:
        where = _shown(str(error.filename or folder))
        raise RocmlockError(SOURCE_INVALID, f"{where} cannot be read: {error.strerror}.") from None
    if reader.problems:
        raise RocmlockError(
            SOURCE_INVALID, f"{_shown(str(folder))} holds what no tree can hold.", problems=reader.problems
        )
    return Tree(root, reader.messages, reader.files)


class _Reader:
    """Walks a folder, deepest folders first, without recursion. Paths are relative to the root."""

    def __init__(self, root: Path, ignore: tuple[str, ...]) -> None:
        self._root = root
        self._ignored = re.compile("|".join(map(translate, ignore)) or r"(?!)").match
        self._digests: dict[str, Digest] = {}
        self._folders: set[str] = set()
        self.messages: dict[Digest, bytes] = {}
        self.files: dict[Path, Digest] = {}
        self.problems: list[Problem] = []

    def read(self) -> Digest:
        from .proto import encode_folder

        found = list(self._walk())
        self._folders.update(path for path, _ in found)
        for path, entries in reversed(found):
            data = encode_folder(self._folder(path, entries))
            self._digests[path] = digest_of_bytes(data)
            self.messages[self._digests[path]] = data
        return self._digests[""]

    def _walk(self) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
        """Every folder with its entries, parents first."""
        pending = [("", os.fspath(self._root))]
        while pending:
            path, place = pending.pop()
            with os.scandir(place) as found:
                entries = [entry for entry in found if not self._ignored(entry.name)]
            yield path, entries
            prefix = f"{path}/" if path else ""
            pending.extend(
                (prefix + entry.name, entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)
            )

    def _folder(self, path: str, entries: list[os.DirEntry[str]]) -> Folder:
        files: list[FileNode] = []
        directories: list[DirectoryNode] = []
        symlinks: list[SymlinkNode] = []
        for entry in entries:
            name = entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            if not _is_text(name):
                self._refuse(entry, "its name is not UTF-8")
            elif stat.S_ISLNK(mode):
                target = os.readlink(entry.path)  # noqa: PTH115 -- a Path would tidy what the link says
                if _is_text(target) and link_stays_inside(path, target, self._folders):
                    symlinks.append(SymlinkNode(name, target))
                else:
                    self._refuse(entry, f"it links to {target!r}, out of the folder")
            elif stat.S_ISDIR(mode):
                digest = self._digests[f"{path}/{name}" if path else name]
                directories.append(DirectoryNode(name, digest))
            elif stat.S_ISREG(mode):
                place = Path(entry.path)
                self.files[place] = digest_of_file(place)
                files.append(FileNode(name, self.files[place], bool(mode & stat.S_IXUSR)))
            else:
                self._refuse(entry, "it is neither file, folder nor link")
        return Folder(tuple(files), tuple(directories), tuple(symlinks))

    def _refuse(self, entry: os.DirEntry[str], why: str) -> None:
        self.problems.append(Problem(f"{_shown(entry.path)}: {why}"))


def _shown(path: str) -> str:
    """A path as text, whatever its bytes are."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def add_tree(blobs: BlobStore, publication: Publication, tree: Tree) -> None:
    """Stage all content of a tree: files first, then the messages that name them."""
    for digest, path in {digest: path for path, digest in tree.files.items()}.items():
        blobs.add_file(publication, path, digest)
    for data in tree.messages.values():
        blobs.add_bytes(publication, data)


def materialise(blobs: BlobStore, root: Digest, place: Path, *, writable: bool, epoch: int) -> None:
    """Make the folder ``place`` from a tree; every file is a copy with the time ``epoch``.

    Raises STORE_CORRUPT for content that is missing, damaged or no tree of ours.
    """
    from .proto import parse_folder

    pending = [(root, "")]
    made: dict[str, Folder] = {}
    while pending:
        digest, path = pending.pop()
        try:
            folder = parse_folder(blobs.read(digest.hash))
        except ValueError as error:
            raise RocmlockError(STORE_CORRUPT, f"tree {digest.hash} is refused: {error}.") from None
        (place / path).mkdir()
        made[path] = folder
        for file in folder.files:
            _make_file(blobs, file, place / path / file.name, writable=writable, epoch=epoch)
        prefix = f"{path}/" if path else ""
        pending.extend((node.digest, prefix + node.name) for node in folder.directories)
    # Links come last: which of them stay inside is known when all folders are.
    for path, folder in reversed(made.items()):
        for link in folder.symlinks:
            if not link_stays_inside(path, link.target, made):
                raise RocmlockError(
                    STORE_CORRUPT, f"a tree links {link.name} to {link.target}, out of itself."
                )
            (place / path / link.name).symlink_to(link.target)
        os.utime(place / path, (epoch, epoch))
        (place / path).chmod(0o755 if writable else 0o555)


def _make_file(blobs: BlobStore, file: FileNode, place: Path, *, writable: bool, epoch: int) -> None:
    mode = (0o644 if writable else 0o444) | (0o111 if file.executable else 0)
    blobs.copy(file.digest.hash, place, mode=mode)
    if place.stat().st_size != file.digest.size:
        raise RocmlockError(STORE_CORRUPT, f"a tree gives {file.name} a size that its content does not have.")
    os.utime(place, (epoch, epoch))
