"""``rocmlock diff``: what differs between two locks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock


@click.command(
    "diff",
    epilog=examples(
        "rocmlock diff old.lock rocmlock.lock",
        "rocmlock diff HEAD~3:rocmlock.lock",
        "rocmlock diff main HEAD --exit-code",
    ),
)
@click.argument("old")
@click.argument("new", default="rocmlock.lock")
@click.option("--reasons", is_flag=True, help="Tell changed reasons and warnings, too.")
@click.option("--exit-code", is_flag=True, help="Leave exit code 1 where they differ.")
@json_option
def command(old: str, new: str, *, reasons: bool, exit_code: bool, as_json: bool) -> None:
    """Tell what differs between the locks OLD and NEW.

    Each is a file, or REV:FILE of the git repository that the folder is in, or a REV alone: the rocmlock.lock
    of this folder as it was then.
    """
    from ..lockfile.diff import diff_locks
    from .diff_view import change_lines, describe_changes
    from .render import answer_json, signed_lines, talk

    before, after = _read(old), _read(new)
    changes = diff_locks(before, after, reasons=reasons)
    if as_json:
        answer_json({"old": old, "new": new, "changes": describe_changes(changes, before, after)})
    else:
        signed_lines(change_lines(changes, before, after))
        if not changes:
            talk("The locks are equal." if reasons else "The locks pin the same.")
    if exit_code and changes:
        sys.exit(1)


def _read(name: str) -> Lock:
    """The lock in a file or a git revision. Raises as read_lock and parse_lock do, and FILE_UNREADABLE."""
    from ..lockfile.codec import parse_lock, read_lock
    from .git_files import read_at_revision

    if Path(name).is_file():
        return read_lock(Path(name))
    revision, colon, file = name.partition(":")
    if not colon and Path(name).suffix == ".lock":
        return read_lock(Path(name))  # tells that it is missing
    return parse_lock(read_at_revision(revision, file or "rocmlock.lock"), name)
