"""``rocmlock check``: does the lock satisfy the manifest? Offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option, lock_beside, manifest_argument

if TYPE_CHECKING:
    from ..lockfile.demands import Demands
    from ..lockfile.model import Lock


@click.command("check", epilog=examples("rocmlock check", "rocmlock resolve"))
@manifest_argument
@click.option("-l", "--lock", "lock_path", type=click.Path(path_type=Path), help="The lock to check.")
@json_option
def command(manifest: Path, lock_path: Path | None, *, as_json: bool) -> None:
    """Check offline that the lock satisfies MANIFEST.

    Every target is checked. The exit code is 4 where the lock does not satisfy one, with every demand that is
    not met.
    """
    from ..lockfile.codec import read_lock
    from .inputs import read_demands
    from .render import answer_json

    lock_path = lock_path or lock_beside(manifest)
    demands = read_demands(manifest)
    require_satisfied(read_lock(lock_path), demands, lock_path, manifest)
    if as_json:
        answer_json({"lock": str(lock_path), "manifest": str(manifest), "satisfied": True})
    else:
        click.echo(f"{lock_path} satisfies {manifest}")


def require_satisfied(lock: Lock, demands: Sequence[Demands], lock_path: Path, manifest: Path) -> None:
    """Raises LOCK_STALE with every demand that is not met, of any target."""
    from ..errors import LOCK_STALE, RocmlockError
    from ..lockfile.satisfy import find_unmet

    unmet = find_unmet(lock, demands)
    if unmet:
        raise RocmlockError(
            LOCK_STALE,
            f"{lock_path} does not satisfy {manifest}.",
            context=unmet,
            hint=f"rocmlock resolve {manifest}",
        )
