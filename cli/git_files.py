"""The user's own git repository: files as they were."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pygit2

_LARGEST = 64 << 20  # bytes; a lock of thousands of wheels has one or two MiB


def open_repository() -> pygit2.Repository | None:
    """The repository that the working folder is in. Raises FILE_UNREADABLE for one that git refuses."""
    import pygit2

    from ..errors import FILE_UNREADABLE, RocmlockError

    found = pygit2.discover_repository(str(Path.cwd()))
    try:
        return pygit2.Repository(found) if found else None
    except pygit2.GitError as error:
        raise RocmlockError(FILE_UNREADABLE, f"The git repository cannot be opened: {error}.") from None


def read_at_revision(revision: str, file: str) -> str:
    """The text of ``file`` at a revision: relative to the working folder, or else, as in git's own
    ``REV:FILE``, to the top of the repository. Raises FILE_UNREADABLE."""
    import pygit2

    from ..errors import FILE_UNREADABLE, RocmlockError

    where = f"{revision}:{file}"
    repository = open_repository()
    if repository is None:
        raise RocmlockError(
            FILE_UNREADABLE,
            f"There is no file {where if file != 'rocmlock.lock' else revision}, and the folder is in no "
            "git repository.",
            hint="Name two lock files: rocmlock diff OLD NEW",
        )
    root = Path(repository.workdir or repository.path).resolve()
    try:
        tree = repository.revparse_single(revision).peel(pygit2.Commit).tree
        beside = (Path.cwd() / file).resolve()
        path = beside.relative_to(root).as_posix() if beside.is_relative_to(root) else file
        blob = tree[path if path in tree else file].peel(pygit2.Blob)
    except (KeyError, ValueError, pygit2.GitError):
        raise RocmlockError(
            FILE_UNREADABLE, f"{where} is not in this repository.", hint=f"git show {where}"
        ) from None
    if blob.size > _LARGEST:
        raise RocmlockError(FILE_UNREADABLE, f"{where} is larger than any lock: {blob.size} bytes.")
    try:
        return blob.data.decode()
    except UnicodeDecodeError:
        raise RocmlockError(FILE_UNREADABLE, f"{where} is not UTF-8 text.") from None
