"""What is kept, for whom, and what happens to a cache that is damaged, full, shared or forbidden."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from github_samples import FIRST, PROJECT, SECOND, Asker, world
from support.github import Commit, serve

from rocmlock.errors import OFFLINE_MISSING, ExitCode, RocmlockError
from rocmlock.resolver.github.cache import Cache
from rocmlock.resolver.github.client import GitHub


def ask_everything(github: GitHub) -> list[object]:
    """Every kind of question, once."""
    return [
        github.releases(PROJECT),
        github.tags(PROJECT, "v"),
        github.tags("example/old-name", "v"),
        github.branch(PROJECT, "main"),
        github.canonical("example/old-name"),
        github.commit(PROJECT, FIRST),
        github.commit(PROJECT, SECOND[:9]),
        github.commit(PROJECT, "0000000"),
        github.file(PROJECT, FIRST, "version.txt"),
        github.file(PROJECT, FIRST, "gone.txt"),
    ]


def test_what_cannot_change_is_asked_once_and_the_rest_by_etag(tmp_path: Path) -> None:
    with serve(world()) as server:
        server.tokens.add("good")
        asker = Asker(server, tmp_path / "github.sqlite")
        environ = {"GH_ENTERPRISE_TOKEN": "good"}
        with asker(environ) as github:
            first = ask_everything(github)
        assert (github.counts.api, github.counts.api_not_modified, github.counts.raw) == (4, 0, 2)
        spent = server.remaining
        with asker(environ) as github:
            assert ask_everything(github) == first
        # the list of releases is unchanged; that there is no such commit is asked again, as is a missing file
        assert (github.counts.api, github.counts.api_not_modified, github.counts.raw) == (1, 1, 1)
        assert server.remaining == spent - 1


def test_offline_gives_the_same_answers_without_a_request_and_names_what_it_lacks(tmp_path: Path) -> None:
    with serve(world()) as server:
        asker = Asker(server, tmp_path / "github.sqlite")
        with asker() as github:
            first = ask_everything(github)
        asked = len(server.seen)
        with asker(offline=True) as github:
            assert ask_everything(github) == first
            with pytest.raises(RocmlockError) as caught:
                github.file(PROJECT, SECOND, "version.txt")
        assert caught.value.reason is OFFLINE_MISSING
        assert caught.value.reason.code is ExitCode.OFFLINE
        assert f"{SECOND}/version.txt" in caught.value.message
        assert len(server.seen) == asked


def test_without_a_token_an_answer_is_current_for_as_long_as_github_says(tmp_path: Path) -> None:
    with serve(world()) as server:
        server.max_age = 60
        server.tokens.add("good")
        asker = Asker(server, tmp_path / "github.sqlite")
        for environ, requests in (({}, 1), ({}, 1), ({"GH_ENTERPRISE_TOKEN": "good"}, 2)):
            with asker(environ) as github:
                assert len(github.releases(PROJECT)) == 3
            assert server.count("api") == requests


def test_an_answer_is_kept_once_however_often_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "github.sqlite"
    with serve(world()) as server:
        for number in range(5):
            server.world = world(branches={"main": f"{number:040x}"})
            with Asker(server, file)() as github:
                assert github.branch(PROJECT, "main") == f"{number:040x}"
                github.releases(PROJECT)
    with sqlite3.connect(file) as rows:
        assert rows.execute("SELECT count(*) FROM entries").fetchone() == (3,)  # info/refs, ls-refs, releases


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new" / "github.sqlite"
    with serve(world()) as server, Asker(server, file)() as github:
        github.tags(PROJECT)
        kept = list(file.parent.iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept if path.exists()} == {0o600}
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", ["noise", "truncated", "folder", "other-tables"])
def test_a_damaged_cache_is_told_and_done_without(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "github.sqlite"
    with serve(world()) as server:
        asker = Asker(server, file)
        if damage == "noise":
            file.write_bytes(os.urandom(8192))
        elif damage == "truncated":
            with asker() as github:
                ask_everything(github)
            file.write_bytes(file.read_bytes()[:5000])
        elif damage == "folder":
            file.mkdir()
        else:
            with sqlite3.connect(file) as rows:
                rows.execute("CREATE TABLE entries (other TEXT)")
        with asker() as github:
            assert len(github.releases(PROJECT)) == 3
            assert github.file(PROJECT, FIRST, "version.txt") == "1.0.0\n"
        assert len([line for line in asker.told if "without a cache" in line]) == 1
        assert str(file) in asker.told[0]


def test_damaged_rows_are_told_and_done_without(tmp_path: Path) -> None:
    file = tmp_path / "github.sqlite"
    with serve(world()) as server:
        asker = Asker(server, file)
        with asker() as github:
            first = ask_everything(github)
        with sqlite3.connect(file) as rows:
            rows.execute("UPDATE entries SET data = x'c1'")
        with asker() as github:
            assert ask_everything(github) == first
        assert len(asker.told) == 1


def test_a_cache_below_a_file_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with serve(world()) as server:
        asker = Asker(server, tmp_path / "file" / "github.sqlite")
        with asker() as github:
            assert len(github.releases(PROJECT)) == 3
        assert len(asker.told) == 1


def test_it_is_brought_under_its_bound_oldest_first(tmp_path: Path) -> None:
    file = tmp_path / "github.sqlite"
    texts: dict[str, str | bytes] = {f"{number}.txt": "x" * 100_000 for number in range(20)}
    with serve(world(commits={FIRST: Commit(date(2026, 1, 1), texts)})) as server:
        asker = Asker(server, file)
        with asker() as github:
            for name in texts:
                github.file(PROJECT, FIRST, name)
        before = file.stat().st_size
        Cache(file, asker.told.append, largest=1_000_000).close()
        assert file.stat().st_size < before / 2
        with asker(offline=True) as github:
            assert github.file(PROJECT, FIRST, "19.txt")
            with pytest.raises(RocmlockError):
                github.file(PROJECT, FIRST, "0.txt")
        assert asker.told == []


WORKER = """
import sys
from datetime import date
from pathlib import Path
from rocmlock.resolver.github.client import GitHub
project, commit, cache, *rest = sys.argv[1:]
environ = dict(pair.split("=", 1) for pair in rest)
for _ in range(3):
    with GitHub(environ, Path(cache), lambda line: sys.exit(line)) as github:
        assert len(github.releases(project)) == 3
        assert len(github.tags(project, "v")) == 2
        for number in range(10):
            assert github.file(project, commit, f"{number}.txt") == f"{number}\\n"
"""


def test_eight_processes_at_once(tmp_path: Path) -> None:
    file = tmp_path / "new" / "github.sqlite"
    texts: dict[str, str | bytes] = {f"{number}.txt": f"{number}\n" for number in range(10)}
    with serve(world(commits={FIRST: Commit(date(2026, 1, 1), texts)})) as server:
        server.remaining = 1000
        pairs = [f"{name}={value}" for name, value in server.environ().items()]
        command = [sys.executable, "-c", WORKER, PROJECT, FIRST, str(file), *pairs]
        running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(8)]
        ended = [(process.communicate()[1], process.returncode) for process in running]
        assert ended == [("", 0)] * 8
        before = server.count("raw")
        with Asker(server, file)() as github:
            assert [github.file(PROJECT, FIRST, name) for name in texts] == list(texts.values())
        assert server.count("raw") == before
    with sqlite3.connect(file) as rows:
        assert rows.execute("PRAGMA integrity_check").fetchone() == ("ok",)
