"""What a tree is made of: files, folders and links by name. Pure values and the rules for them."""

from __future__ import annotations

from dataclasses import dataclass

from .digest import Digest


@dataclass(frozen=True, slots=True)
class FileNode:
    name: str
    digest: Digest
    executable: bool


@dataclass(frozen=True, slots=True)
class DirectoryNode:
    name: str
    digest: Digest


@dataclass(frozen=True, slots=True)
class SymlinkNode:
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Folder:
    """One Directory message as values."""

    files: tuple[FileNode, ...] = ()
    directories: tuple[DirectoryNode, ...] = ()
    symlinks: tuple[SymlinkNode, ...] = ()


def check_folder(folder: Folder) -> None:
    """ValueError for a name that is no single path component, stands twice, or a link that is absolute."""
    seen: set[str] = set()
    for node in (*folder.files, *folder.directories, *folder.symlinks):
        if not node.name or node.name in {".", ".."} or "/" in node.name or "\0" in node.name:
            raise ValueError(f"{node.name!r} is not a file name")
        if node.name in seen:
            raise ValueError(f"{node.name!r} stands twice in one folder")
        seen.add(node.name)
    for link in folder.symlinks:
        if not link.target or link.target.startswith("/") or "\0" in link.target:
            raise ValueError(f"link {link.name!r} to {link.target!r} is not relative")


def link_stays_inside(depth: int, target: str) -> bool:
    """Whether a link in a folder ``depth`` levels below the root of its tree stays in the tree."""
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in {"", "."}:
            depth += 1
        if depth < 0:
            return False
    return not target.startswith("/")
