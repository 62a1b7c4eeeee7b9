"""What the client says about a world, over real HTTP and real git."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from github_samples import FIRST, PROJECT, SECOND, TAG_OBJECT, Asker, world
from support.github import Commit, Made, Release, Repository, World, fake_commit, make_repository, serve

from rocmlock.errors import COMMIT_AMBIGUOUS, REPOSITORY_MISSING, UPSTREAM_UNREADABLE, RocmlockError
from rocmlock.resolver.github.client import CommitRow, ReleaseRow, TagRow


def test_releases_have_days_and_leave_drafts_out() -> None:
    drafted = (Release("v2.0.0", date(2026, 3, 1), draft=True), *world().repositories[PROJECT].releases)
    with serve(world(releases=drafted)) as server, Asker(server)() as github:
        assert github.releases(PROJECT) == (
            ReleaseRow("v1.1.0", date(2026, 2, 1), prerelease=False),
            ReleaseRow("v1.1.0rc1", date(2026, 1, 20), prerelease=True),
            ReleaseRow("v1.0.0", date(2026, 1, 1), prerelease=False),
        )
        assert server.counts() == {"api": 1, "api_not_modified": 0, "raw": 0, "git": 0}


def test_every_page_is_read_100_rows_at_a_time() -> None:
    many = tuple(Release(f"v{number}", date(2026, 1, 1)) for number in range(250))
    with serve(world(releases=many)) as server, Asker(server)() as github:
        assert {row.tag for row in github.releases(PROJECT)} == {row.tag for row in many}
        assert github.counts.api == 3


def test_a_project_without_releases_or_tags() -> None:
    with serve(World({PROJECT: Repository()})) as server, Asker(server)() as github:
        assert github.releases(PROJECT) == ()
        assert github.tags(PROJECT) == ()
        assert github.branch(PROJECT, "main") is None


@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_tags_are_peeled_and_cost_no_quota(protocol: int) -> None:
    with serve(world(protocol=protocol)) as server, Asker(server)() as github:
        assert github.tags(PROJECT, "v") == (
            TagRow("v1.0.0", FIRST, TAG_OBJECT),
            TagRow("v1.1.0", SECOND, None),
        )
        assert [row.tag for row in github.tags(PROJECT)] == ["nightly", "v1.0.0", "v1.1.0"]
        assert (github.branch(PROJECT, "main"), github.branch(PROJECT, "gone")) == (SECOND, None)
        assert github.counts.api == 0
        assert github.counts.git == server.count("git")


@pytest.mark.requires("git")
def test_tags_of_a_repository_that_git_itself_serves(tmp_path: Path) -> None:
    history = [
        Made({"version.txt": "1\n"}, date(2026, 1, 1), tags=["v1"]),
        Made({"version.txt": "2\n"}, date(2026, 1, 2), annotated=["v2", "proto-v2"]),
        Made({"version.txt": "3\n"}, date(2026, 1, 3), branch="side"),
    ]
    made = make_repository(tmp_path / "made.git", history)
    with serve(World({PROJECT: made})) as server, Asker(server)() as github:
        rows = github.tags(PROJECT, "v")
        assert rows == tuple(
            TagRow(tag.name, tag.commit, tag.tag_object) for tag in made.tags if tag.name[0] == "v"
        )
        assert rows[1].tag_object not in {None, rows[1].commit}
        assert github.branch(PROJECT, "side") == made.branches["side"]
        assert github.file(PROJECT, rows[0].commit, "version.txt") == "1\n"


def test_commits_whole_short_unknown() -> None:
    with serve(world()) as server, Asker(server)() as github:
        row = CommitRow(FIRST, date(2025, 12, 31))
        assert github.commit(PROJECT, FIRST) == row
        assert github.commit(PROJECT, FIRST[:8]) == row
        assert github.commit(PROJECT, fake_commit("gone")) is None
        assert github.commit(PROJECT, "0000000") is None


def test_a_short_commit_that_means_several_is_told_apart() -> None:
    twins = {f"abcd{number}{'0' * 35}": Commit(date(2026, 1, 1)) for number in (1, 2)}
    with serve(world(commits=twins)) as server, Asker(server)() as github:
        with pytest.raises(RocmlockError) as caught:
            github.commit(PROJECT, "abcd")
        assert caught.value.reason is COMMIT_AMBIGUOUS
        assert github.commit(PROJECT, "abcd1") == CommitRow("abcd1" + "0" * 35, date(2026, 1, 1))


def test_a_branch_that_looks_like_a_commit_is_not_taken_for_one() -> None:
    with serve(world(branches={"deadbeef": FIRST})) as server, Asker(server)() as github:
        with pytest.raises(RocmlockError) as caught:
            github.commit(PROJECT, "deadbeef")
        assert caught.value.reason is COMMIT_AMBIGUOUS


def test_files_come_from_the_raw_host() -> None:
    with serve(world()) as server, Asker(server)() as github:
        assert github.file(PROJECT, FIRST, "version.txt") == "1.0.0\n"
        assert github.file(PROJECT, FIRST, "docs/ü b.txt") == "ü\n"
        assert github.file(PROJECT, FIRST, "gone.txt") is None
        assert github.file(PROJECT, fake_commit("gone"), "version.txt") is None
        assert server.counts() == {"api": 0, "api_not_modified": 0, "raw": 4, "git": 0}


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../../other/project/main/x", "a//b", "a/./b"])
def test_no_path_leads_out_of_the_repository(path: str) -> None:
    with serve(world()) as server, Asker(server)() as github:
        with pytest.raises(ValueError, match="path"):
            github.file(PROJECT, FIRST, path)
        with pytest.raises(ValueError, match="commit"):
            github.file(PROJECT, "main", "version.txt")
        assert server.seen == []


def test_a_file_that_is_too_large_or_no_text_is_refused() -> None:
    files: dict[str, str | bytes] = {
        "big.txt": "x" * (4 << 20) + "x",
        "most.txt": "x" * (4 << 20),
        "b.bin": b"\xff\xfe",
    }
    with serve(world(commits={FIRST: Commit(date(2026, 1, 1), files)})) as server, Asker(server)() as github:
        assert len(github.file(PROJECT, FIRST, "most.txt") or "") == 4 << 20
        for name in ("big.txt", "b.bin"):
            with pytest.raises(RocmlockError) as caught:
                github.file(PROJECT, FIRST, name)
            assert caught.value.reason is UPSTREAM_UNREADABLE
            assert name in caught.value.message


def test_too_many_refs_are_an_error_not_a_flood() -> None:
    with serve(world()) as server, Asker(server)(sizes={"api": 1 << 20, "raw": 1 << 20, "git": 50}) as github:
        with pytest.raises(RocmlockError) as caught:
            github.tags(PROJECT)
        assert caught.value.reason is UPSTREAM_UNREADABLE


def test_a_renamed_repository_answers_under_its_old_name() -> None:
    with serve(world()) as server, Asker(server)() as github:
        assert github.canonical("example/old-name") == PROJECT
        assert github.canonical(PROJECT) == PROJECT
        assert github.releases("example/old-name") == github.releases(PROJECT)
        assert github.tags("example/old-name", "v") == github.tags(PROJECT, "v")
        assert github.commit("example/old-name", FIRST[:7]) == github.commit(PROJECT, FIRST)
        assert github.file("example/old-name", FIRST, "version.txt") == "1.0.0\n"


@pytest.mark.parametrize("ask", ["releases", "tags", "canonical"])
def test_a_repository_that_is_not_there(ask: str) -> None:
    with serve(world()) as server, Asker(server)() as github:
        for name in ("example/gone", "no repository", "https://github.com/a/b", "a/..", "a/b/c"):
            with pytest.raises(RocmlockError) as caught:
                getattr(github, ask)(name)
            assert caught.value.reason is REPOSITORY_MISSING


def test_private_is_told_together_with_missing_and_opens_with_a_token() -> None:
    with serve(world(private=True)) as server:
        server.tokens.add("good")
        with Asker(server)() as github:
            for ask in (github.releases, github.tags):
                with pytest.raises(RocmlockError) as caught:
                    ask(PROJECT)
                assert caught.value.reason is REPOSITORY_MISSING
                assert "private" in caught.value.message
                assert "GH_ENTERPRISE_TOKEN" in caught.value.hint
        with Asker(server)({"GH_ENTERPRISE_TOKEN": "good"}) as github:
            assert len(github.releases(PROJECT)) == 3
            assert len(github.tags(PROJECT, "v")) == 2
            assert github.file(PROJECT, FIRST, "version.txt") == "1.0.0\n"


def test_a_tag_that_moves_and_a_release_that_goes_are_seen_at_once(tmp_path: Path) -> None:
    with serve(world()) as server:
        asker = Asker(server, tmp_path / "github.sqlite")
        with asker() as github:
            before = github.tags(PROJECT, "v1.1")
            assert len(github.releases(PROJECT)) == 3
        row = world().repositories[PROJECT]
        moved = replace(row, tags=(replace(row.tags[1], commit=FIRST),), releases=row.releases[1:])
        server.world = World({PROJECT: moved})
        with asker() as github:
            assert (before[0].commit, github.tags(PROJECT, "v1.1")[0].commit) == (SECOND, FIRST)
            assert [row.tag for row in github.releases(PROJECT)] == ["v1.1.0rc1", "v1.0.0"]


def test_many_threads_share_one_client(tmp_path: Path) -> None:
    texts: dict[str, str | bytes] = {f"{number}.txt": f"{number}\n" for number in range(60)}
    with serve(world(commits={FIRST: Commit(date(2026, 1, 1), texts)})) as server:
        with Asker(server, tmp_path / "github.sqlite")() as github, ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda name: github.file(PROJECT, FIRST, name), texts))
        assert found == list(texts.values())
        assert github.counts.raw == 60
