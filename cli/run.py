"""``rocmlock run``: a command in the realized environment."""

from __future__ import annotations

from pathlib import Path

import click

from .options import examples, lock_option, store_folder, store_option


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples("rocmlock run -- python -m gfx_probe", "rocmlock run -l stack.lock -- vllm --version"),
)
@lock_option
@store_option
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def command(lock: Path, store_root: Path | None, arguments: tuple[str, ...]) -> None:
    """Run a command in the realized environment.

    The lock must have been realized on this machine. The exit code is the command's own.
    """
    import hashlib
    import os
    import sys

    from ..errors import COMMAND_NOT_FOUND, RocmlockError
    from ..lockfile.codec import read_lock_text
    from ..store.environment import find_command, read_record, run_variables
    from ..store.layout import find_store

    layout = find_store(store_folder(store_root))
    record = layout.realized_lock(hashlib.sha256(read_lock_text(lock).encode()).hexdigest())
    place = read_record(record, layout.environments)
    variables = run_variables(place, os.environ)
    program = find_command(arguments[0], variables)
    if program is None:
        raise RocmlockError(COMMAND_NOT_FOUND, f"There is no command {arguments[0]!r} in the environment.")
    sys.stdout.flush()
    os.execve(program, list(arguments), variables)  # noqa: S606 -- running the user's command is the point
