"""Options that several commands share, and where things are by default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

DEFAULT_LOCK = Path("rocmlock.lock")

json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
manifest_argument = click.argument(
    "manifest", type=click.Path(path_type=Path), default=Path("rocmlock.toml"), required=False
)
lock_argument = click.argument("lock", type=click.Path(path_type=Path), default=DEFAULT_LOCK, required=False)
lock_option = click.option(
    *("-l", "--lock", "lock"),
    type=click.Path(path_type=Path),
    default=DEFAULT_LOCK,
    show_default=True,
    help="The lock to read.",
)
target_option = click.option(
    "--target",
    metavar="NAME",
    envvar="ROCMLOCK_TARGET",
    help="The target that is meant  [default: the only one].",
)
shown_target_option = click.option("--target", metavar="NAME", help="Show this target alone.")
store_option = click.option(
    *("--store", "store_root"),
    type=click.Path(path_type=Path, file_okay=False),
    envvar="ROCMLOCK_STORE",
    help="The store's folder  [default: $XDG_DATA_HOME/rocmlock].",
)
locked_option = click.option(
    "--locked",
    is_flag=True,
    envvar="ROCMLOCK_LOCKED",
    help="Fail where the lock that is there does not satisfy the manifest; write none.",
)
frozen_option = click.option(
    "--frozen",
    is_flag=True,
    envvar="ROCMLOCK_FROZEN",
    help="Use the lock that is there as it is; the manifest is not read.",
)


accept_option = click.option(
    "--accept-moved-tag",
    "accepted",
    metavar="PACKAGE",
    multiple=True,
    help="Take the commit that a moved tag of PACKAGE names now.",
)


def require_one(*, locked: bool, frozen: bool) -> None:
    """Raises click's UsageError for both."""
    if locked and frozen:
        raise click.UsageError("--locked compares the lock with the manifest, --frozen does not: give one.")


def require_writable(environ: Mapping[str, str], instead: str) -> None:
    """Raises click's UsageError where the environment forbids what the command is for: to write a lock."""
    names = [name for name in ("ROCMLOCK_LOCKED", "ROCMLOCK_FROZEN") if _is_set(environ.get(name))]
    if names:
        raise click.UsageError(f"{' and '.join(names)} in the environment: no lock is written. {instead}")


def _is_set(text: str | None) -> bool:
    """As click takes an option's variable: empty is unset."""
    return bool(text) and click.BOOL.convert(text, None, None)


def examples(*commands: str) -> str:
    """Examples for the end of a help page, one a line. (A lone backspace keeps click from filling them.)"""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def lock_beside(manifest: Path) -> Path:
    """NAME.toml -> NAME.lock."""
    return manifest.with_suffix(".lock")


def store_folder(root: Path | None) -> Path:
    """The store to use, as an absolute path."""
    if root is not None:
        return root.absolute()
    from platformdirs import user_data_path

    return user_data_path("rocmlock", appauthor=False)
