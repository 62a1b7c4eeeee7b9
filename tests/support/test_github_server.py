"""The server speaks GitHub's shape: held to the models that are made from GitHub's own description, and to git."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from github_samples import FIRST, PROJECT, SECOND, TAG_OBJECT, world
from pydantic import TypeAdapter
from support.github import Fault, Made, Release, Server, World, make_repository, read_world, serve
from support.github.git import run_git

ROOT = Path(__file__).resolve().parents[2]


def get(server: Server, path: str, **headers: str) -> httpx.Response:
    return httpx.get(f"{server.api}{path}", headers=headers, trust_env=False)


@pytest.mark.parametrize(
    ("path", "model", "is_list"),
    [
        ("", "FullRepository", False),
        ("/releases", "Release", True),
        ("/releases/latest", "Release", False),
        ("/releases/tags/v1.0.0", "Release", False),
        ("/tags", "Tag", True),
        ("/git/matching-refs/tags/v1", "GitRef", True),
        ("/git/ref/tags/v1.0.0", "GitRef", False),
        ("/git/ref/heads/main", "GitRef", False),
        (f"/git/tags/{TAG_OBJECT}", "GitTag", False),
        (f"/commits/{FIRST}", "Commit", False),
        (f"/commits/{FIRST[:7]}", "Commit", False),
        ("/contents/version.txt?ref=main", "ContentFile", False),
    ],
)
def test_answers_have_githubs_shape(path: str, model: str, is_list: bool) -> None:
    from githubkit_schemas.latest import models

    shape: Any = getattr(models, model)
    with serve(world()) as server:
        answer = get(server, f"/repos/{PROJECT}{path}")
        assert answer.status_code == 200
        rows = answer.json() if is_list else [answer.json()]
        assert rows
        for row in rows:
            shape.model_validate(row)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/repos/example/gone", 404),
        (f"/repos/{PROJECT}/commits/{'0' * 40}", 422),
        (f"/repos/{PROJECT}/git/ref/tags/gone", 404),
        (f"/repos/{PROJECT}/contents/gone", 404),
        ("/users/example", 404),
    ],
)
def test_refusals_have_githubs_shape(path: str, status: int) -> None:
    from githubkit_schemas.latest import models

    with serve(world()) as server:
        answer = get(server, path)
        assert answer.status_code == status
        assert models.BasicError.model_validate_json(answer.content).message


def test_the_quota_is_told_spent_and_left_alone_by_what_is_free() -> None:
    from githubkit_schemas.latest import models

    with serve(world()) as server:
        server.tokens.add("good")
        first = get(server, f"/repos/{PROJECT}")
        assert first.headers["x-ratelimit-remaining"] == "59"
        again = {"If-None-Match": first.headers["etag"]}
        unchanged = get(server, f"/repos/{PROJECT}", Authorization="Bearer good", **again)
        assert (unchanged.status_code, unchanged.content, server.remaining) == (304, b"", 59)
        assert get(server, f"/repos/{PROJECT}", **again).status_code == 304
        assert server.remaining == 58  # GitHub counts the 304 of whoever sends no token
        models.RateLimitOverview.model_validate_json(get(server, "/rate_limit").content)
        assert server.remaining == 58
        server.remaining = 0
        spent = get(server, f"/repos/{PROJECT}")
        assert (spent.status_code, spent.headers["x-ratelimit-remaining"]) == (403, "0")


def test_pages_are_linked_and_moves_redirected() -> None:
    many = tuple(Release(f"v{number}", date(2026, 1, 1)) for number in range(70))
    with serve(world(releases=many)) as server:
        first = get(server, f"/repos/{PROJECT}/releases")
        assert len(first.json()) == 30
        last = httpx.get(first.links["last"]["url"], trust_env=False)
        assert (len(last.json()), {*last.links}) == (10, {"first", "prev"})
        moved = get(server, "/repos/example/old-name/tags?per_page=1")
        assert moved.status_code == 301
        landed = httpx.get(moved.headers["location"], trust_env=False)
        assert (landed.status_code, len(landed.json())) == (200, 1)


def test_requests_to_each_host_are_counted_apart() -> None:
    with serve(world()) as server:
        assert len({server.api, server.raw, server.git}) == 3
        get(server, f"/repos/{PROJECT}")
        httpx.get(f"{server.raw}/{PROJECT}/{FIRST}/version.txt", trust_env=False)
        httpx.get(f"{server.git}/{PROJECT}.git/info/refs?service=git-upload-pack", trust_env=False)
        assert server.counts() == {"api": 1, "api_not_modified": 0, "raw": 1, "git": 1}
        server.faults.append(Fault(status=500))
        assert [get(server, f"/repos/{PROJECT}").status_code for _ in range(2)] == [500, 200]


def listed(folder: Path, url: str, *options: str) -> dict[str, str]:
    """What git's own command line lists, by name."""
    rows = run_git(folder, *options, "ls-remote", url).splitlines()
    return {name: oid for oid, name in (row.split("\t") for row in rows)}


@pytest.mark.requires("git")
@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_git_lists_the_refs_of_facts(tmp_path: Path, protocol: int) -> None:
    with serve(world(protocol=protocol)) as server:
        refs = listed(tmp_path, f"{server.git}/{PROJECT}.git", "-c", f"protocol.version={protocol}")
    assert refs == {
        "refs/heads/main": SECOND,
        "refs/heads/main-2": FIRST,
        "refs/tags/nightly": SECOND,
        "refs/tags/v1.0.0": TAG_OBJECT,
        "refs/tags/v1.0.0^{}": FIRST,
        "refs/tags/v1.1.0": SECOND,
    }


HISTORY = [
    Made({"version.txt": "1\n"}, date(2026, 1, 1), tags=["v1"]),
    Made({"version.txt": "2\n", "folder/file.txt": "deep\n"}, date(2026, 1, 2), annotated=["v2"]),
]


@pytest.mark.requires("git")
def test_git_and_libgit2_fetch_a_real_repository(tmp_path: Path) -> None:
    import pygit2

    made = make_repository(tmp_path / "made.git", HISTORY)
    assert make_repository(tmp_path / "again.git", HISTORY).commits == made.commits
    with serve(World({PROJECT: made}, {"example/old-name": PROJECT})) as server:
        for protocol in ("0", "2"):
            refs = listed(
                tmp_path, f"{server.git}/example/old-name.git", "-c", f"protocol.version={protocol}"
            )
            assert refs["refs/tags/v2^{}"] == refs["refs/heads/main"] == made.branches["main"]
        run_git(tmp_path, "clone", "--quiet", f"{server.git}/{PROJECT}.git", "by-git")
        assert (tmp_path / "by-git/folder/file.txt").read_text() == "deep\n"
        pygit2.clone_repository(f"{server.git}/{PROJECT}.git", str(tmp_path / "by-libgit2"))
        assert (tmp_path / "by-libgit2/folder/file.txt").read_text() == "deep\n"


@pytest.mark.requires("git")
def test_git_sees_a_private_repository_with_a_token_only(tmp_path: Path) -> None:
    made = make_repository(tmp_path / "made.git", HISTORY, private=True)
    with serve(World({PROJECT: made})) as server:
        server.tokens.add("good")
        with pytest.raises(subprocess.CalledProcessError):
            listed(tmp_path, f"{server.git}/{PROJECT}.git")
        asked = server.git.replace("http://", "http://x-access-token:good@")
        assert listed(tmp_path, f"{asked}/{PROJECT}.git")


def test_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "world.json"
    file.write_bytes(TypeAdapter(World).dump_json(world()))
    assert read_world(file) == world()
    command = [sys.executable, "-m", "tests.support.github", "--port", "0", "--world", str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout
            printed = ""
            while "}" not in printed:
                printed += running.stdout.readline()
            api = json.loads(printed)["ROCMLOCK_GITHUB_API_URL"]
            assert httpx.get(f"{api}/repos/{PROJECT}", trust_env=False).json()["full_name"] == PROJECT
        finally:
            running.terminate()
