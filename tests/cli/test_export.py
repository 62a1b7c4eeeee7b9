"""``rocmlock export``: where the text and the notes go, and which target is meant."""

from __future__ import annotations

from typing import Any

import lock_samples
import pytest
from attrs import evolve
from harness import Cli

from rocmlock.lockfile.codec import parse_lock, render_lock
from rocmlock.lockfile.exports.dockerfile import render_dockerfile
from rocmlock.lockfile.targets import join_locks

FULL = parse_lock(render_lock(lock_samples.full()), "x.lock")


@pytest.fixture
def locked(cli: Cli) -> Cli:
    (cli.cwd / "rocmlock.lock").write_text(render_lock(FULL))
    return cli


def test_the_text_is_the_answer_and_notes_are_talk(locked: Cli) -> None:
    outcome = locked("export", "--format", "dockerfile")
    assert (outcome.code, outcome.stdout) == (0, render_dockerfile(FULL).text)
    assert outcome.stderr.startswith("note: triton: ")
    written = locked("export", "-f", "dockerfile", "-o", "args")
    assert (written.code, written.stdout) == (0, "")
    assert (locked.cwd / "args").read_text() == outcome.stdout
    answer: Any = locked("export", "-f", "dockerfile", "--json").json()
    assert answer["text"] == outcome.stdout
    assert len(answer["notes"]) == 2


@pytest.mark.parametrize("form", ["pylock", "constraints", "cyclonedx"])
def test_every_format_is_there(locked: Cli, form: str) -> None:
    outcome = locked("export", "--format", form)
    assert (outcome.code, outcome.stdout != "") == (0, True), outcome.stderr


def test_the_folder_of_a_pylock(locked: Cli) -> None:
    assert 'path = "../files/numpy-' in locked("export", "-f", "pylock", "--wheels", "../files").stdout


def test_what_cannot_be_exported(locked: Cli) -> None:
    assert locked("export", "-f", "therock").stderr.startswith("error[export-unsupported]")
    assert locked("export").code == 2
    assert locked("export", "-f", "dockerfile", "-o", "none/args").stderr.startswith("error[file-unwritable]")


def test_one_target_is_exported(cli: Cli) -> None:
    def named(name: str, gfx: str) -> Any:
        return evolve(
            FULL,
            targets=(evolve(FULL.targets[0], name=name, gfx=(gfx,)),),
            packages=tuple(evolve(each, targets=(name,), gfx=(gfx,)) for each in FULL.packages),
            wheels=tuple(
                evolve(each, files=tuple(evolve(file, targets=(name,)) for file in each.files))
                for each in FULL.wheels
            ),
        )

    two = join_locks([named("a", "gfx90a"), named("b", "gfx942")])
    (cli.cwd / "rocmlock.lock").write_text(render_lock(two))
    unclear = cli("export", "-f", "dockerfile")
    assert unclear.stderr.startswith("error[target-unknown]")
    assert "rocmlock export --format dockerfile --target a" in unclear.stderr
    for form in ("dockerfile", "pylock", "constraints", "cyclonedx"):
        assert cli("export", "-f", form, "--target", "b").code == 0
    assert 'ARG PYTORCH_ROCM_ARCH="gfx942"' in cli("export", "-f", "dockerfile", "--target", "b").stdout
