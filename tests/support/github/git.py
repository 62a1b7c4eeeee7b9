"""Real git: repositories made by the git command, served by its own ``http-backend``."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path

from .world import Commit, Repository, Tag

_SAFE = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "GIT_TERMINAL_PROMPT": "0",
}
_SIGNED = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@example.invalid"))
}


@dataclass(frozen=True)
class Made:
    """A commit to make: its files, its day, its tags (light and annotated), the branch it is added to."""

    files: Mapping[str, str]
    day: date
    tags: Sequence[str] = ()
    annotated: Sequence[str] = ()
    branch: str = "main"


def run_git(folder: Path, *arguments: str, day: date | None = None, stdin: str | None = None) -> str:
    """What git prints, without the line feed at its end."""
    dated: dict[str, str] = {}
    if day:
        moment = datetime.combine(day, time(12), UTC).isoformat()
        dated = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **_SAFE, **_SIGNED, **dated}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environ, check=True, capture_output=True, text=True, input=stdin
    )
    return done.stdout.strip()


def make_repository(folder: Path, history: Sequence[Made], *, private: bool = False) -> Repository:
    """A bare repository at ``folder`` and its facts. The same history gives the same commits on any machine."""
    folder.mkdir(parents=True)
    run_git(folder, "init", "--quiet", "--bare", "--initial-branch=main")
    run_git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")  # as GitHub has it
    branches: dict[str, str] = {}
    commits: dict[str, Commit] = {}
    tags: list[Tag] = []
    for made in history:
        rows = [
            f"100644 blob {run_git(folder, 'hash-object', '-w', '--stdin', stdin=text)}\t{path}"
            for path, text in made.files.items()
        ]
        index = {"GIT_INDEX_FILE": str(folder / "made.index")}
        tree = _tree(folder, rows, index)
        parents = ["-p", branches[made.branch]] if made.branch in branches else []
        commit = run_git(folder, "commit-tree", tree, *parents, "-m", f"On {made.day}", day=made.day)
        run_git(folder, "update-ref", f"refs/heads/{made.branch}", commit)
        branches[made.branch] = commit
        commits[commit] = Commit(made.day, dict(made.files), f"On {made.day}")
        for name in made.tags:
            run_git(folder, "tag", name, commit)
            tags.append(Tag(name, commit))
        for name in made.annotated:
            run_git(folder, "tag", "-a", "-m", name, name, commit, day=made.day)
            tags.append(Tag(name, commit, run_git(folder, "rev-parse", f"refs/tags/{name}")))
    return Repository(tuple(tags), (), branches, commits, private, folder)


def _tree(folder: Path, rows: Sequence[str], index: Mapping[str, str]) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **_SAFE, **index}
    Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
    fed = "\n".join(rows) + "\n" if rows else ""
    for arguments, stdin in ((["update-index", "--index-info"], fed), (["write-tree"], None)):
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environ,
            check=True,
            capture_output=True,
            text=True,
            input=stdin,
        )
    Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
    return done.stdout.strip()


@dataclass(frozen=True)
class Answered:
    """What git's CGI program answers."""

    status: int
    headers: dict[str, str]
    body: bytes


def answer_by_git(
    repository: Path, method: str, tail: str, query: str, headers: Mapping[str, str], body: bytes
) -> Answered:
    """One request given to ``git http-backend``. ``tail`` is the path behind the repository's name."""
    done = subprocess.run(
        ["git", "http-backend"],
        env={
            "PATH": os.environ["PATH"],
            **_SAFE,
            "GIT_PROJECT_ROOT": str(repository),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "PATH_INFO": tail,
            "QUERY_STRING": query,
            "REQUEST_METHOD": method,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "REMOTE_ADDR": "127.0.0.1",
        },
        input=body,
        check=False,
        capture_output=True,
    )
    head, _, rest = done.stdout.partition(b"\r\n\r\n")
    given = dict(row.split(": ", 1) for row in head.decode().split("\r\n") if ": " in row)
    status = int(given.pop("Status", "200 OK").split(" ")[0])
    return Answered(status, given, rest)
