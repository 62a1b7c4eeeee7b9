"""``rocmlock run``: a command in the realized environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import (
    DEFAULT_LOCK,
    examples,
    frozen_option,
    lock_option,
    locked_option,
    require_one,
    store_folder,
    store_option,
    target_option,
)

if TYPE_CHECKING:
    from ..store.layout import StoreLayout


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples(
        "rocmlock run -- python -m gfx_probe", "rocmlock run -l stack.lock --target mi250 -- vllm --version"
    ),
)
@lock_option
@locked_option
@frozen_option
@target_option
@store_option
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def command(
    lock: Path,
    target: str | None,
    store_root: Path | None,
    arguments: tuple[str, ...],
    *,
    locked: bool,
    frozen: bool,
) -> None:
    """Run a command in the realized environment.

    The lock must have been realized on this machine. The exit code is the command's own. The manifest is not
    read, as with --frozen; with --locked the lock must satisfy the one beside it.
    """
    import os
    import sys

    from ..errors import COMMAND_NOT_FOUND, RocmlockError
    from ..store.environment import find_command, read_record, run_variables
    from ..store.layout import find_store

    require_one(locked=locked, frozen=frozen)
    if locked:
        from .check import require_locked

        require_locked(lock)
    layout = find_store(store_folder(store_root))
    record = _find_record(layout, lock, target)
    named = ("" if lock == DEFAULT_LOCK else f" {lock}") + (f" --target {target}" if target else "")
    place = read_record(record, layout.environments, f"rocmlock realize{named}")
    variables = run_variables(place, os.environ)
    program = find_command(arguments[0], variables)
    if program is None:
        raise RocmlockError(COMMAND_NOT_FOUND, f"There is no command {arguments[0]!r} in the environment.")
    sys.stdout.flush()
    os.execve(program, list(arguments), variables)  # noqa: S606 -- running the user's command is the point


def _find_record(layout: StoreLayout, lock: Path, target: str | None) -> Path:
    """The record of a realized lock. The lock is parsed only where no record says which target it is."""
    from ..lockfile.codec import parse_lock, read_lock_text
    from ..lockfile.targets import pick_target
    from ..store.environment import record_name

    text = read_lock_text(lock)
    record = layout.realized_lock(record_name(text, target or ""))
    if record.exists():
        return record
    held = parse_lock(text, str(lock))
    option = "" if lock == DEFAULT_LOCK else f" -l {lock}"
    chosen = pick_target(held, target, f"rocmlock run{option} {{target}} -- CMD")
    return layout.realized_lock(record_name(text, chosen.name if len(held.targets) > 1 else ""))
