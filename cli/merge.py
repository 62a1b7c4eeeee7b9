"""``rocmlock merge``: the merge driver that git calls for locks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option

if TYPE_CHECKING:
    from ..errors import RocmlockError
    from ..lockfile.merge import Merged
    from ..lockfile.model import Lock


@click.command(
    "merge",
    epilog=examples(
        "rocmlock merge --install", "git merge topic", "rocmlock merge base.lock ours.lock theirs.lock"
    ),
)
@click.argument("base", required=False, type=click.Path(path_type=Path))
@click.argument("ours", required=False, type=click.Path(path_type=Path))
@click.argument("theirs", required=False, type=click.Path(path_type=Path))
@click.option("--path", "name", metavar="FILE", help="What the lock is called in messages.")
@click.option("--install", is_flag=True, help="Let git call this for the locks of this repository.")
@click.option("--uninstall", is_flag=True, help="Take that back.")
@json_option
def command(
    base: Path | None,
    ours: Path | None,
    theirs: Path | None,
    *,
    name: str | None,
    install: bool,
    uninstall: bool,
    as_json: bool,
) -> None:
    """Merge the locks OURS and THEIRS, which come from BASE, into OURS.

    Branches that changed different things merge by themselves. What cannot be had together is told by
    package; OURS then holds both sides between git's markers, and the exit code is 1.
    """
    if install or uninstall:
        if base or (install and uninstall):
            raise click.UsageError("--install and --uninstall stand alone.")
        from .merge_driver import install_driver, uninstall_driver

        (install_driver if install else uninstall_driver)(as_json=as_json)
        return
    if base is None or ours is None or theirs is None:
        raise click.UsageError("Give --install, or three locks: BASE OURS THEIRS.")
    _merge_files(base, ours, theirs, name or str(ours), as_json=as_json)


def _merge_files(base: Path, ours: Path, theirs: Path, name: str, *, as_json: bool) -> None:
    from ..errors import RocmlockError
    from ..files import write_text
    from ..lockfile.codec import read_lock_text, render_lock
    from ..lockfile.conflict_text import render_conflict
    from ..lockfile.merge import merge_locks
    from .render import answer_json, talk

    texts = [read_lock_text(path) for path in (base, ours, theirs)]
    sides = ("the common ancestor", "ours", "theirs")
    try:
        locks = [_parse(text, f"{name} ({side})") for text, side in zip(texts, sides, strict=True)]
    except RocmlockError:
        write_text(ours, render_conflict(texts[1], texts[2]))
        raise
    had, mine, other = locks
    if mine is None or other is None:
        write_text(ours, render_conflict(texts[1], texts[2]))
        raise _conflict(name, ["one side is empty"])
    merged = merge_locks(had, mine, other)
    if merged.clashes:
        write_text(ours, _conflict_text(merged, texts[1], texts[2]))
        from .merge_view import clash_lines

        raise _conflict(name, clash_lines(merged.clashes, had, mine, other))
    write_text(ours, render_lock(merged.ours))
    if as_json:
        answer_json({"lock": name, "merged": True})
    else:
        talk(f"Merged {name}. Whether it still satisfies its manifest: rocmlock check")


def _parse(text: str, name: str) -> Lock | None:
    """The lock in ``text``; None for none at all, as git gives it where a side has no such file.

    Raises as parse_lock, and LOCK_TOO_NEW for a later revision: what it has and we do not know would be lost.
    """
    from ..errors import LOCK_TOO_NEW, RocmlockError
    from ..lockfile.codec import parse_lock
    from ..lockfile.model import REVISION

    if not text.strip():
        return None
    lock = parse_lock(text, name)
    revision = re.search(r"^revision = (\d+)$", text, re.MULTILINE)
    if revision and int(revision[1]) > REVISION:
        raise RocmlockError(
            LOCK_TOO_NEW,
            f"{name} is of revision {revision[1]} of the format; this rocmlock merges up to {REVISION}.",
        )
    return lock


def _conflict_text(merged: Merged, ours: str, theirs: str) -> str:
    """Markers around what clashes alone, where taking either side of it gives a whole lock; else around all
    that differs."""
    from ..lockfile.checks import find_inconsistencies
    from ..lockfile.codec import render_lock
    from ..lockfile.conflict_text import render_conflict

    left, right = render_lock(merged.ours), render_lock(merged.theirs)
    halves = left != right and not any(clash.says for clash in merged.clashes)
    if not halves or any(find_inconsistencies(lock) for lock in (merged.ours, merged.theirs)):
        return render_conflict(ours, theirs)
    return render_conflict(left, right)


def _conflict(name: str, lines: list[str]) -> RocmlockError:
    from ..errors import MERGE_CONFLICT, Problem, RocmlockError

    return RocmlockError(
        MERGE_CONFLICT,
        f"{name}: the two sides cannot both be had.",
        problems=[Problem(line) for line in lines],
        hint=f"Take one side (git checkout --ours {name}, or --theirs), then run: rocmlock resolve",
    )
