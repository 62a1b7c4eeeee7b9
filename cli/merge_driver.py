"""Telling git about the merge driver: ``.gitattributes`` for everybody, the configuration for this clone."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import pygit2

_KEY = "merge.rocmlock"
_ATTRIBUTE = "merge=rocmlock"
# At any depth. Other tools' locks end in .lock, too: only those that are ours are named, each by its path.
_DEFAULT = "rocmlock.lock"
_PLAIN = re.compile(r"[A-Za-z0-9._+@/-]+")
_MARK = b"# Written by rocmlock:"


def install_driver(*, as_json: bool) -> None:
    """Writes both, and says what. Raises USAGE outside of a repository's work tree."""
    from ..files import write_text
    from .render import answer_json, talk

    repository, root = _repository()
    attributes = root / ".gitattributes"
    before = _read(attributes)
    there = before.splitlines()
    patterns, odd = [_DEFAULT], list[str]()
    for path in _locks(repository, root):
        (patterns if _PLAIN.fullmatch(path) else odd).append(f"/{path}")
    lines = [f"{pattern} {_ATTRIBUTE}" for pattern in patterns]
    new = [line for line in lines if line not in there]
    if new:
        gap = [""] if before and not before.endswith("\n") else []
        write_text(attributes, before + "\n".join((*gap, *new, "")))
    settings = {
        "name": "rocmlock: locks by target and package",
        "driver": f"{_program()} merge %O %A %B --path %P",
    }
    for key, value in settings.items():
        repository.config[f"{_KEY}.{key}"] = value
    if as_json:
        answer_json(
            {"attributes": str(attributes), "lines": lines, "added": new, "driver": settings["driver"]}
        )
        return
    for line in new:
        talk(f"{attributes}: added {line}")
    if not new:
        talk(f"{attributes}: nothing to add")
    talk(f"git configuration of this clone: {_KEY}.driver = {settings['driver']}")
    for path in odd:
        talk(f"warning: {path} needs a line of your own in .gitattributes, ending in: {_ATTRIBUTE}")
    talk("Commit .gitattributes. Each clone runs this command once; without it git merges locks by lines.")


def uninstall_driver(*, as_json: bool) -> None:
    """Takes out what install_driver wrote. Raises USAGE outside of a repository's work tree."""
    from ..files import write_text
    from .render import answer_json, talk

    repository, root = _repository()
    attributes = root / ".gitattributes"
    lines = _read(attributes).splitlines(keepends=True)
    kept = [line for line in lines if not line.rstrip().endswith(f" {_ATTRIBUTE}")]
    if kept != lines:
        if kept:
            write_text(attributes, "".join(kept))
        else:
            attributes.unlink()
    for key in ("name", "driver"):
        if f"{_KEY}.{key}" in repository.config:
            del repository.config[f"{_KEY}.{key}"]
    if as_json:
        answer_json(
            {"attributes": str(attributes), "removed": [line.rstrip() for line in lines if line not in kept]}
        )
    else:
        talk("git merges locks by lines again.")


def _repository() -> tuple[pygit2.Repository, Path]:
    from ..errors import USAGE, RocmlockError
    from .git_files import open_repository

    repository = open_repository()
    if repository is None or not repository.workdir:
        raise RocmlockError(USAGE, "This folder is in no work tree of a git repository.", hint="git init")
    return repository, Path(repository.workdir)


def _read(path: Path) -> str:
    """The text of a file, empty where there is none. Raises FILE_UNREADABLE."""
    from ..errors import FILE_UNREADABLE, RocmlockError

    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise RocmlockError(FILE_UNREADABLE, f"{path} cannot be read: {error}.") from None


def _locks(repository: pygit2.Repository, root: Path) -> Iterator[str]:
    """Locks of ours that git tracks and the pattern for all does not cover, by path from the top."""
    index = cast("Iterable[pygit2.IndexEntry]", repository.index)
    for path in sorted(str(entry.path) for entry in index):
        if path.endswith(".lock") and Path(path).name != _DEFAULT and _is_ours(root / path):
            yield path


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_MARK)) == _MARK
    except OSError:
        return False


def _program() -> str:
    """How git's shell calls this command: by name where it is on the path, else by its interpreter."""
    return "rocmlock" if shutil.which("rocmlock") else f"{shlex.quote(sys.executable)} -m rocmlock"
