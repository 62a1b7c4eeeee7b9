"""``rocmlock diff`` on files and on revisions of a real git repository."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import lock_samples
import pytest
from attrs import evolve
from harness import Cli, check_golden

from rocmlock.lockfile.codec import render_lock
from rocmlock.lockfile.model import Flags, GitSource, Lock, Reason, Wheel, WheelFile
from rocmlock.lockfile.names import commit, file_name

GOLDEN = Path(__file__).parent.parent / "golden" / "diff"
OLD = lock_samples.full()


def newer() -> Lock:
    """The full sample with something of each kind moved."""
    triton, msgspec = OLD.packages
    source = GitSource("https://github.com/ROCm/triton.git", commit("a" * 40))
    triton = evolve(
        triton,
        source=source,
        version="3.7.0",
        picks=(),
        environment={"CC": "{cc}", "A": "2"},
        reasons=(Reason("a:1", "newer"),),
    )
    (target,) = OLD.targets
    assert target.rocm is not None
    numpy, cmake = OLD.wheels
    new_numpy = WheelFile(file_name("numpy-2.4.0-py3-none-any.whl"), lock_samples.digest("b"), ("default",))
    six = WheelFile(file_name("six-1.17.0-py3-none-any.whl"), lock_samples.digest("c"), ("default",))
    return evolve(
        OLD,
        packages=(triton, evolve(msgspec, name="msgpack")),
        targets=(
            evolve(
                target,
                rocm=evolve(target.rocm, version="7.2.4"),
                python=evolve(target.python, wheels=("numpy==2.4.0", "six==1.17.0")),
            ),
        ),
        wheels=(
            evolve(numpy, version="2.4.0", files=(new_numpy,)),
            Wheel("six", "1.17.0", (six,)),
            evolve(cmake, files=(evolve(cmake.files[0], digest=lock_samples.digest("e")),)),
        ),
        flags=Flags("O3", "line"),
    )


def write(cli: Cli, name: str, lock: Lock) -> None:
    (cli.cwd / name).write_text(render_lock(lock))


def test_what_is_told(cli: Cli) -> None:
    write(cli, "old.lock", OLD)
    write(cli, "rocmlock.lock", newer())
    told = cli("diff", "old.lock")
    assert told.code == 0, told.stderr
    check_golden(GOLDEN / "plain.txt", told.stdout)
    check_golden(GOLDEN / "reasons.txt", cli("diff", "old.lock", "--reasons").stdout)
    check_golden(GOLDEN / "changes.json", cli("diff", "old.lock", "--json").stdout)
    assert cli("diff", "old.lock", "rocmlock.lock", "--exit-code").code == 1


def test_equal_locks(cli: Cli) -> None:
    write(cli, "old.lock", OLD)
    write(cli, "rocmlock.lock", evolve(OLD, warnings=()))
    same = cli("diff", "old.lock", "--exit-code")
    assert (same.code, same.stdout) == (0, "")
    assert same.stderr == "The locks pin the same.\n"
    assert cli("diff", "old.lock", "--exit-code", "--reasons").code == 1


def test_a_secret_in_a_url_is_not_shown(cli: Cli) -> None:
    write(cli, "old.lock", OLD)
    triton, msgspec = OLD.packages
    source = GitSource("https://ghp_secret@github.com/ROCm/triton", commit("a" * 40))
    write(cli, "rocmlock.lock", evolve(OLD, packages=(evolve(triton, source=source), msgspec)))
    for arguments in (["old.lock"], ["old.lock", "--json"], ["rocmlock.lock", "old.lock", "--json"]):
        told = cli("diff", *arguments)
        assert "compare" in told.stdout
        assert "ghp_secret" not in told.stdout + told.stderr


def git(cli: Cli, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=cli.cwd, check=True, capture_output=True)


@pytest.fixture
def history(cli: Cli) -> Cli:
    """A repository of two commits of two locks, with a folder below."""
    git(cli, "init", "-q", "-b", "main")
    (cli.cwd / "stacks").mkdir()
    for lock in (OLD, newer()):
        write(cli, "rocmlock.lock", lock)
        write(cli, "stacks/big.lock", lock)
        git(cli, "add", ".")
        git(cli, "commit", "-qm", "x")
    return cli


def changes(cli: Cli, *arguments: str, cwd: Path | None = None) -> list[Any]:
    outcome = cli("diff", *arguments, "--json", cwd=cwd)
    assert outcome.code == 0, outcome.stdout
    answer: Any = outcome.json()
    return answer["changes"]


@pytest.mark.requires("git")
def test_revisions(history: Cli) -> None:
    all_of_them = changes(history, "HEAD~1", "HEAD")
    assert all_of_them
    assert changes(history, "HEAD~1") == all_of_them
    assert changes(history, "HEAD~1:rocmlock.lock", "main") == all_of_them
    assert changes(history, "HEAD~1:stacks/big.lock") == all_of_them
    assert changes(history, "HEAD") == []
    below = history.cwd / "stacks"
    assert changes(history, "HEAD~1:big.lock", "../rocmlock.lock", cwd=below) == all_of_them
    assert changes(history, "HEAD~1:./big.lock", "HEAD:../rocmlock.lock", cwd=below) == all_of_them
    # git's own spelling counts from the top.
    assert changes(history, "HEAD~1:stacks/big.lock", "HEAD:rocmlock.lock", cwd=below) == all_of_them


@pytest.mark.requires("git")
@pytest.mark.parametrize(
    "name", ["HEAD~7", "nothing", "HEAD:none.lock", "HEAD:stacks", "HEAD:../../x", ":0:"]
)
def test_revisions_that_are_not_there(history: Cli, name: str) -> None:
    outcome = history("diff", name)
    assert (outcome.code, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith("error[file-unreadable]")


def test_names_that_are_nothing(cli: Cli) -> None:
    write(cli, "rocmlock.lock", OLD)
    assert cli("diff", "none.lock").stderr.startswith("error[lock-missing]")
    outside = cli("diff", "HEAD", env={"GIT_CEILING_DIRECTORIES": str(cli.cwd.parent)})
    assert outside.stderr.startswith("error[file-unreadable]")
