"""Keeping a lock: what stays, what update moves, and the switches that forbid things."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from harness import Cli, Outcome
from index_server import sdist, serve, wheel

SYSTEM = next((v for v in ("3.11", "3.12", "3.13") if Path(f"/usr/bin/python{v}").exists()), "3.11")
MANIFEST = f"""schema = 1
name = "x"
[target]
gfx = ["gfx942"]
python = "{SYSTEM}"
[toolchain]
host = {{ gcc = "11" }}
device = {{ clang = "19" }}
[packages]
tool = {{ sdist = "*" }}
[python]
requires = ["thing", "other"]
"""
PROJECT = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "tool"\nversion = "{0}"\n'


def tool(version: str) -> tuple[str, bytes]:
    info = f"Metadata-Version: 2.2\nName: tool\nVersion: {version}\n"
    files = {"pyproject.toml": PROJECT.format(version), "PKG-INFO": info}
    return f"tool-{version}.tar.gz", sdist("tool", version, files)


class Index:
    """An index whose files can be added to while it serves."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = dict(
            [
                tool("1.0"),
                wheel("thing", "1.0"),
                wheel("other", "1.0"),
                wheel("build", "1.2"),
                wheel("setuptools", "80"),
            ]
        )

    def add_newer(self) -> None:
        self.files |= dict([tool("2.0"), wheel("thing", "2.0"), wheel("other", "2.0")])


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def stack(cli: Cli, index: Index) -> Iterator[Stack]:
    with serve(index.files) as url:
        (cli.cwd / "rocmlock.toml").write_text(MANIFEST)
        yield Stack(cli, url)


class Stack:
    """A locked manifest beside an index."""

    def __init__(self, cli: Cli, url: str) -> None:
        self.cli, self.folder = cli, cli.cwd
        # Without a cache time of its own, uv would not see a newer file for ten minutes.
        self.env = {"UV_DEFAULT_INDEX": url, "UV_NO_CACHE": "1"}
        self.do("resolve")

    def do(self, *arguments: str, code: int = 0, env: Mapping[str, str] = {}) -> Outcome:
        done = self.cli(*arguments, env={**self.env, **env})
        assert done.code == code, done.stdout + done.stderr
        return done

    @property
    def lock(self) -> str:
        return (self.folder / "rocmlock.lock").read_text()

    def edit(self, old: str, new: str) -> None:
        path = self.folder / "rocmlock.toml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def versions(self) -> dict[str, str]:
        shown: Any = self.do("show", "--json").json()
        wheels = dict(name.split("==") for name in shown["wheels"])
        return {**wheels, **{each["name"]: each["version"] for each in shown["packages"]}}


def test_resolve_moves_nothing_that_still_satisfies(stack: Stack, index: Index) -> None:
    before = stack.lock
    index.add_newer()
    assert "Unchanged" in stack.do("resolve").stderr
    assert stack.lock == before
    # A changed layer is locked anew, but the wheels that can stay do.
    stack.edit('["thing", "other"]', '["thing", "other>=2"]')
    stack.do("resolve")
    assert (stack.versions()["thing"], stack.versions()["other"], stack.versions()["tool"]) == (
        "1.0",
        "2.0",
        "1.0",
    )


def test_update_moves_what_is_named_alone(stack: Stack, index: Index) -> None:
    index.add_newer()
    before = stack.lock
    dry = stack.do("update", "thing", "--dry-run")
    assert "thing  1.0 -> 2.0" in dry.stdout
    assert "Would write" in dry.stderr
    assert stack.lock == before
    stack.do("update", "thing")
    assert (stack.versions()["thing"], stack.versions()["other"]) == ("2.0", "1.0")
    told: Any = stack.do("update", "tool", "--json").json()
    assert {(each["kind"], each["name"]) for each in told["changes"]} >= {("package", "tool")}
    assert stack.versions()["tool"] == "2.0"
    assert stack.versions()["other"] == "1.0"


def test_what_is_newer_and_what_holds_it_back(stack: Stack, index: Index) -> None:
    assert stack.do("outdated").stdout == ""
    index.add_newer()
    index.files |= dict([wheel("newest", "1.0"), wheel("thing", "3.0a1"), wheel("build", "1.3", "other<2")])
    stack.edit('"other"', '"other<2"')
    stack.edit('sdist = "*"', 'sdist = "<2"')
    before = stack.lock
    told: Any = stack.do("outdated", "--json").json()
    rows = {row["name"]: row for row in told["outdated"]}
    found = {name: (row["kind"], row["locked"], row["update"], row["newest"]) for name, row in rows.items()}
    assert found == {
        "tool": ("package", "1.0", "1.0", "2.0"),
        "thing": ("wheel", "1.0", "2.0", "2.0"),
        "other": ("wheel", "1.0", "1.0", "2.0"),
        "build": ("wheel", "1.2", "1.3", "1.3"),
    }
    assert rows["tool"]["held_by"] == ['the manifest says tool = { sdist = "<2" }']
    assert rows["other"]["held_by"] == ["the manifest needs other<2"]
    assert rows["thing"]["held_by"] == []
    assert stack.lock == before
    shown = stack.do("outdated")
    assert [line.split()[:4] for line in shown.stdout.splitlines()][1:] == [
        ["tool", "1.0", "-", "2.0"],
        ["build", "1.2", "1.3", "1.3"],
        ["other", "1.0", "-", "2.0"],
        ["thing", "1.0", "2.0", "2.0"],
    ]
    assert "2 would move: rocmlock update" in shown.stderr
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple/"}
    assert stack.do("outdated", "--offline", env=nowhere).stdout == ""
    assert "tool" in stack.do("outdated", "--no-wheels").stdout


def test_update_of_everything_and_of_what_is_not_there(stack: Stack, index: Index) -> None:
    index.add_newer()
    wrong = stack.do("update", "thingy", code=1)
    assert wrong.stderr.startswith("error[package-not-locked]")
    assert "'thing'" in wrong.stderr
    stack.do("update")
    assert {stack.versions()[name] for name in ("thing", "other", "tool")} == {"2.0"}
    assert "as new as" in stack.do("update").stderr


def test_locked_and_frozen_write_nothing(stack: Stack) -> None:
    before = stack.lock
    stack.do("resolve", "--locked")
    stack.edit('"thing", "other"', '"thing"')
    stale = stack.do("resolve", "--locked", code=4)
    assert stale.stderr.startswith("error[lock-stale]")
    assert stack.do("resolve", code=4, env={"ROCMLOCK_LOCKED": "1"}).stderr.startswith("error[lock-stale]")
    stack.do("realize", "--locked", code=4)
    stack.do("resolve", "--frozen")
    stack.do("resolve", env={"ROCMLOCK_FROZEN": "1"})
    for command in (["resolve"], ["realize"], ["run", "--", "true"]):
        both = stack.do(command[0], "--locked", "--frozen", *command[1:], code=2)
        assert "give one" in both.stderr
    assert "forbids" in stack.do("resolve", "--frozen", "--accept-moved-tag", "tool", code=2).stderr
    stack.do("run", "--locked", "--", "true", code=4)
    assert stack.do("run", "--", "true", code=1).stderr.startswith("error[store-unusable]")
    for name in ("ROCMLOCK_LOCKED", "ROCMLOCK_FROZEN"):
        assert "no lock is written" in stack.do("update", code=2, env={name: "1"}).stderr
        stack.do("update", "--dry-run", env={name: "1"})
    assert stack.lock == before


def test_offline_uses_what_is_locked_and_names_what_is_missing(stack: Stack) -> None:
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple/"}
    before = stack.lock
    stack.do("resolve", "--offline", env=nowhere)
    stack.do("resolve", env={**nowhere, "ROCMLOCK_OFFLINE": "1"})
    assert stack.lock == before
    stack.edit('"thing", "other"', '"thing", "other", "more"')
    missing = stack.do("resolve", "--offline", code=7, env=nowhere)
    assert "error[offline-missing]" in missing.stderr
    assert "more" in missing.stderr
    stack.edit("tool = ", 'tool2 = { sdist = "*" }\ntool3 = { sdist = ">=2" }\ntool = ')
    told = stack.do("resolve", "--offline", code=7, env=nowhere).stderr
    assert 'tool2 in "*", tool3 in ">=2"' in told


@pytest.mark.requires("bwrap", "gcc-11", "g++-11", "clang-19", "ld.lld-19")
def test_realizing_offline_names_every_file_that_is_missing(stack: Stack) -> None:
    told = stack.do("realize", "--offline", code=7).stderr
    files = ("tool-1.0.tar.gz", "thing-1.0-py3-none-any.whl", "setuptools-80-py3-none-any.whl")
    assert [name in told for name in files] == [True] * 3
    assert stack.do("realize", code=7, env={"ROCMLOCK_OFFLINE": "1"}).stderr == told


def test_a_local_folder_that_changed_makes_the_lock_stale(stack: Stack) -> None:
    own = stack.folder / "own"
    own.mkdir()
    (own / "pyproject.toml").write_text(PROJECT.replace('"tool"', '"own"').format("1.0"))
    stack.edit("tool = ", 'own = { path = "own" }\ntool = ')
    stack.do("resolve")
    stack.do("check")
    (own / "new.py").write_text("x = 1\n")
    for command in (["check"], ["resolve", "--locked"]):
        assert "own has changed since it was locked" in stack.do(*command, code=4).stderr
    stack.do("resolve")
    stack.do("check")
    own.rename(stack.folder / "elsewhere")
    assert "own: " in stack.do("check", code=4).stderr
    stack.edit('path = "own"', 'path = "elsewhere"')
    assert "own is own in the lock, elsewhere in the manifest" in stack.do("check", code=4).stderr


def test_a_revision_of_the_lock_can_be_compared(stack: Stack, index: Index) -> None:
    def git(*arguments: str) -> None:
        who = {
            "GIT_AUTHOR_NAME": "n",
            "GIT_AUTHOR_EMAIL": "e@x",
            "GIT_COMMITTER_NAME": "n",
            "GIT_COMMITTER_EMAIL": "e@x",
        }
        subprocess.run(
            ["git", *arguments], cwd=stack.folder, check=True, env={**os.environ, **who}, capture_output=True
        )

    git("init", "-q")
    git("add", "rocmlock.lock")
    git("commit", "-qm", "one")
    assert "pin the same" in stack.do("diff", "HEAD").stderr
    index.add_newer()
    stack.do("update", "thing")
    for old in ("HEAD", "HEAD:rocmlock.lock"):
        assert "thing  1.0 -> 2.0" in stack.do("diff", old, "--exit-code", code=1).stdout
    told: Any = stack.do("diff", "HEAD", "--json").json()
    assert {each["name"] for each in told["changes"]} == {"default", "thing"}
    Path(stack.folder / "old.lock").write_text(stack.lock)
    assert stack.do("diff", "old.lock", "--exit-code").stdout == ""
    for wrong in ("HEAD~7", "HEAD:none.lock", "nothing-here"):
        assert stack.do("diff", wrong, code=1).stderr.startswith("error[file-unreadable]")
    assert stack.do("diff", "none.lock", code=4).stderr.startswith("error[lock-missing]")


def test_outside_of_a_repository_that_is_said(cli: Cli) -> None:
    told = cli("diff", "HEAD")
    assert told.code == 1
    assert "no git repository" in told.stderr
