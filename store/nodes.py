"""What a tree is made of: files, folders and links by name. Pure values and the rules for them."""

from __future__ import annotations

from collections.abc import Collection
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


def link_stays_inside(folder: str, target: str, folders: Collection[str]) -> bool:
    """Whether a link in ``folder`` to ``target`` stays in its tree.

    ``folders`` are the real folders of the tree by path from its root, which is the empty path. Where ``..``
    leads is known of those alone: after a name that is a link it depends on that link, and two links that
    stay inside could together lead out.
    """
    if target.startswith("/"):
        return False
    at = [part for part in folder.split("/") if part]
    steps = [part for part in target.split("/") if part not in {"", "."}]
    ups = steps.count("..")
    for step in steps:
        if not ups:
            break  # names alone are left: they lead down, or through links that are checked themselves
        if step == "..":
            ups -= 1
            if not at:
                return False
            at.pop()
        else:
            at.append(step)
            if "/".join(at) not in folders:
                return False
    return True
