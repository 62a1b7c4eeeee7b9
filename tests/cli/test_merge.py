"""The merge driver, called by git itself through the installed command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import lock_samples
import pytest
from attrs import evolve
from harness import Cli

from rocmlock.lockfile.codec import read_lock, render_lock
from rocmlock.lockfile.model import GitSource, Lock, Wheel, WheelFile
from rocmlock.lockfile.names import commit, file_name

BASE = lock_samples.full()
pytestmark = pytest.mark.requires("git")


def moved(lock: Lock, name: str, digit: str) -> Lock:
    source = GitSource("https://github.com/ROCm/triton", commit(digit * 40))
    return evolve(
        lock,
        packages=tuple(evolve(each, source=source) if each.name == name else each for each in lock.packages),
    )


def with_six(lock: Lock) -> Lock:
    file = WheelFile(file_name("six-1.17.0-py3-none-any.whl"), lock_samples.digest("c"), ("default",))
    (target,) = lock.targets
    python = evolve(target.python, wheels=(*target.python.wheels, "six==1.17.0"))
    return evolve(
        lock, targets=(evolve(target, python=python),), wheels=(*lock.wheels, Wheel("six", "1.17.0", (file,)))
    )


class Repository:
    """A git repository in the working folder of ``cli``, in which git finds the installed command."""

    def __init__(self, cli: Cli) -> None:
        self.cli = cli
        self.lock = cli.cwd / "rocmlock.lock"
        self.git("init", "-q", "-b", "main")
        self.write(BASE)
        (cli.cwd / "poetry.lock").write_text("# another tool's\n")
        self.commit("base")

    def git(self, *arguments: str, code: int | None = 0) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        scripts = str(Path(sys.executable).parent)
        environment = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            command, cwd=self.cli.cwd, env=environment, capture_output=True, text=True, check=False
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def write(self, lock: Lock) -> None:
        self.lock.write_text(render_lock(lock))

    def commit(self, message: str) -> None:
        self.git("add", ".")
        self.git("commit", "-qm", message)

    def branch(self, name: str, lock: Lock, start: str = "main") -> None:
        self.git("checkout", "-qb", name, start)
        self.write(lock)
        self.commit(name)
        self.git("checkout", "-q", "main")

    def install(self) -> Any:
        scripts = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        outcome = self.cli("merge", "--install", "--json", env={"PATH": scripts})
        assert outcome.code == 0, outcome.stdout
        return outcome.json()


@pytest.fixture
def repository(cli: Cli) -> Repository:
    made = Repository(cli)
    made.install()
    made.commit("attributes")
    return made


def test_installing_names_our_locks_alone_and_twice_is_once(cli: Cli) -> None:
    repository = Repository(cli)
    (cli.cwd / "stacks").mkdir()
    for name in ("stacks/mi300x.lock", "stacks/odd name.lock"):
        (cli.cwd / name).write_text(render_lock(BASE))
    (cli.cwd / ".gitattributes").write_text("*.png binary")
    repository.commit("stacks")
    added = ["rocmlock.lock merge=rocmlock", "/stacks/mi300x.lock merge=rocmlock"]
    assert repository.install()["added"] == added
    attributes = (cli.cwd / ".gitattributes").read_text()
    assert attributes == "\n".join(["*.png binary", *added, ""])
    assert repository.git("config", "merge.rocmlock.driver") == "rocmlock merge %O %A %B --path %P\n"
    assert repository.install()["added"] == []
    assert (cli.cwd / ".gitattributes").read_text() == attributes
    checked = repository.git("check-attr", "merge", "poetry.lock", "a/rocmlock.lock", "stacks/mi300x.lock")
    assert [line.split(": ")[2] for line in checked.splitlines()] == ["unspecified", "rocmlock", "rocmlock"]
    assert "stacks/odd name.lock" in cli("merge", "--install").stderr
    assert cli("merge", "--uninstall").code == 0
    assert (cli.cwd / ".gitattributes").read_text() == "*.png binary\n"
    repository.git("config", "merge.rocmlock.driver", code=1)


def test_the_command_is_named_by_its_interpreter_where_it_is_not_on_the_path(
    cli: Cli, tmp_path: Path
) -> None:
    repository = Repository(cli)
    outcome = cli("merge", "--install", "--json", env={"PATH": str(tmp_path)})
    driver: Any = outcome.json()
    assert driver["driver"].startswith(sys.executable)
    repository.commit("attributes")
    repository.branch("one", moved(BASE, "triton", "a"))
    repository.write(with_six(BASE))
    repository.commit("two")
    repository.git("merge", "-q", "one")
    assert read_lock(repository.lock).wheel("six==1.17.0")


def test_branches_that_changed_different_things_merge_by_themselves(repository: Repository) -> None:
    repository.branch("commit", moved(BASE, "triton", "a"))
    repository.branch("wheel", with_six(BASE))
    flags = evolve(BASE, flags=evolve(BASE.flags, debug="none"))
    repository.branch("flags", flags)
    for name in ("commit", "wheel", "flags"):
        repository.git("merge", "-q", "--no-edit", name)
    expected = evolve(with_six(moved(BASE, "triton", "a")), flags=flags.flags)
    assert repository.lock.read_text() == render_lock(expected)
    # The same by rebasing: each commit is merged by the driver.
    repository.git("checkout", "-q", "wheel")
    repository.git("rebase", "-q", "flags")
    repository.git("cherry-pick", "commit")
    assert repository.lock.read_text() == render_lock(expected)


def test_changes_side_by_side_that_git_alone_cannot_merge(repository: Repository) -> None:
    """Neighbouring lines: a text merge would stop here."""
    triton, msgspec = BASE.packages
    one = evolve(BASE, packages=(evolve(triton, environment={**triton.environment, "B": "1"}), msgspec))
    two = evolve(BASE, packages=(evolve(triton, environment={**triton.environment, "D": "1"}), msgspec))
    repository.branch("one", one)
    repository.branch("two", two)
    repository.git("merge", "-q", "--no-edit", "one")
    repository.git("merge", "-q", "--no-edit", "two")
    package = read_lock(repository.lock).package("triton", "default")
    assert package is not None
    assert package.environment == {**triton.environment, "B": "1", "D": "1"}


def test_a_conflict_is_told_by_package_and_left_as_git_leaves_conflicts(repository: Repository) -> None:
    repository.branch("one", with_six(moved(BASE, "triton", "a")))
    repository.branch("two", moved(BASE, "triton", "b"))
    repository.git("merge", "-q", "--no-edit", "one")
    told = repository.git("merge", "--no-edit", "two", code=1)
    assert "error[merge-conflict]" in told
    assert "triton: both sides changed its source" in told
    assert "ours: source.commit 222222222222 -> aaaaaaaaaaaa" in told
    assert "theirs: source.commit 222222222222 -> bbbbbbbbbbbb" in told
    assert repository.git("status", "--porcelain", "rocmlock.lock") == "UU rocmlock.lock\n"
    text = repository.lock.read_text()
    # The markers stand around what clashes, not around what merges.
    assert text.count("<<<<<<<") == 1
    ours, theirs = text.split("<<<<<<< ours\n")[1].split(">>>>>>> theirs")[0].split("=======\n")
    assert (ours, theirs) == (f'commit = "{"a" * 40}"\n', f'commit = "{"b" * 40}"\n')
    shown = repository.cli("show")
    assert shown.stderr.startswith("error[lock-conflict]")
    assert "git checkout --ours" in shown.stderr
    repository.git("checkout", "--theirs", "rocmlock.lock")
    assert read_lock(repository.lock) == read_lock_of(moved(BASE, "triton", "b"), repository.cli)


def read_lock_of(lock: Lock, cli: Cli) -> Lock:
    path = cli.cwd.parent / "expected.lock"
    path.write_text(render_lock(lock))
    return read_lock(path)


def test_a_need_that_the_other_side_took_out(repository: Repository) -> None:
    triton, msgspec = BASE.packages
    alone = evolve(msgspec, build=evolve(msgspec.build, packages=()), run=evolve(msgspec.run, packages=()))
    base = evolve(BASE, packages=(triton, alone))
    repository.write(base)
    repository.commit("apart")
    without = evolve(base, packages=(alone,))
    needing = evolve(base, packages=(triton, evolve(msgspec, run=alone.run)))
    repository.branch("without", without)
    repository.branch("needing", needing)
    repository.git("merge", "-q", "--no-edit", "without")
    told = repository.git("merge", "--no-edit", "needing", code=1)
    assert "msgspec needs the package triton, which the other side took out" in told
    # Neither can be taken apart from the rest: the markers hold all that differs.
    text = repository.lock.read_text()
    assert taken(text, "ours") == render_lock(without)
    assert taken(text, "theirs") == render_lock(needing)
    assert repository.cli("show").stderr.startswith("error[lock-conflict]")


def taken(text: str, side: str) -> str:
    """The text with one side taken of each conflict."""
    lines: list[str] = []
    inside = ""
    for line in text.splitlines(keepends=True):
        if line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
            inside = {"<": "ours", "=": "theirs", ">": ""}[line[0]]
        elif inside in {"", side}:
            lines.append(line)
    return "".join(lines)


def three(cli: Cli, *texts: str) -> list[str]:
    for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
        (cli.cwd / name).write_text(text)
    return ["merge", "base", "ours", "theirs", "--path", "x.lock"]


@pytest.mark.parametrize(
    ("old", "new", "code", "reference"),
    [
        ("version = 1", "version = 9", 4, "lock-too-new"),
        ("revision = 0", "revision = 9", 4, "lock-too-new"),
        ('name = "full"', "<<<<<<< x", 4, "lock-conflict"),
        ('name = "full"', 'name = "fu', 4, "lock-invalid"),
    ],
)
@pytest.mark.parametrize("side", [0, 1, 2])
def test_a_side_that_cannot_be_read(
    cli: Cli, side: int, old: str, new: str, code: int, reference: str
) -> None:
    texts = [render_lock(lock) for lock in (BASE, moved(BASE, "triton", "a"), with_six(BASE))]
    texts[side] = texts[side].replace(old, new)
    outcome = cli(*three(cli, *texts))
    assert outcome.code == code
    assert outcome.stderr.startswith(f"error[{reference}] x.lock (")
    assert "<<<<<<< ours" in (cli.cwd / "ours").read_text()
    assert (cli.cwd / "theirs").read_text() == texts[2]


def test_sides_that_differ_nowhere_and_yet_do_not_go_together(cli: Cli) -> None:
    """Another ROCm here, another commit there: each side is left as it was, not a lock that nobody resolved."""
    (target,) = BASE.targets
    assert target.rocm is not None
    ours = evolve(BASE, targets=(evolve(target, rocm=evolve(target.rocm, version="7.2.4")),))
    theirs = moved(BASE, "triton", "a")
    outcome = cli(*three(cli, render_lock(BASE), render_lock(ours), render_lock(theirs)))
    assert outcome.code == 1
    assert "triton: theirs chose it for another target" in outcome.stderr
    assert "rocm.version 7.2.3 -> 7.2.4" in outcome.stderr
    text = (cli.cwd / "ours").read_text()
    assert (taken(text, "ours"), taken(text, "theirs")) == (render_lock(ours), render_lock(theirs))


def test_both_sides_brought_a_lock(cli: Cli) -> None:
    same = three(cli, "", render_lock(BASE), render_lock(BASE))
    assert cli(*same).code == 0
    different = three(cli, "", render_lock(BASE), render_lock(moved(BASE, "triton", "a")))
    assert cli(*different).stderr.startswith("error[merge-conflict] x.lock")
    outcome = cli(*three(cli, render_lock(BASE), render_lock(BASE), ""))
    assert outcome.stderr.startswith("error[merge-conflict]")


@pytest.mark.parametrize(
    "arguments", [[], ["a"], ["a", "b"], ["--install", "a"], ["--install", "--uninstall"]]
)
def test_usage(cli: Cli, arguments: list[str]) -> None:
    assert cli("merge", *arguments).code == 2


def test_outside_of_a_repository(cli: Cli) -> None:
    assert cli("merge", "--install").stderr.startswith("error[usage]")
