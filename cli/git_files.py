"""Files of the user's own git repository as they were."""

from __future__ import annotations

from pathlib import Path


def read_at_revision(revision: str, file: str) -> str:
    """The text of ``file`` (relative to the working folder) at a revision. Raises FILE_UNREADABLE."""
    import pygit2

    from ..errors import FILE_UNREADABLE, RocmlockError

    where = f"{revision}:{file}"
    found = pygit2.discover_repository(str(Path.cwd()))
    if found is None:
        raise RocmlockError(
            FILE_UNREADABLE,
            f"There is no file {revision}, and the folder is in no git repository.",
            hint="Name two lock files: rocmlock diff OLD NEW",
        )
    repository = pygit2.Repository(found)
    root = Path(repository.workdir or found).resolve()
    try:
        path = (Path.cwd() / file).resolve().relative_to(root)
        commit = repository.revparse_single(revision).peel(pygit2.Commit)
        return commit.tree[path.as_posix()].peel(pygit2.Blob).data.decode()
    except (KeyError, ValueError, pygit2.GitError):
        raise RocmlockError(
            FILE_UNREADABLE,
            f"{where} is not in this repository.",
            hint=f"git show {where}",
        ) from None
