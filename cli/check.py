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
    from .render import answer_json

    lock_path = lock_path or lock_beside(manifest)
    read_satisfying(lock_path, manifest)
    if as_json:
        answer_json({"lock": str(lock_path), "manifest": str(manifest), "satisfied": True})
    else:
        click.echo(f"{lock_path} satisfies {manifest}")


def require_locked(lock_path: Path) -> None:
    """What ``--locked`` means where a lock is named: it satisfies the manifest beside it (NAME.toml).

    Raises as read_satisfying does.
    """
    read_satisfying(lock_path, lock_path.with_suffix(".toml"))


def read_satisfying(lock_path: Path, manifest: Path) -> Lock:
    """The lock at ``lock_path``, which satisfies ``manifest`` and fits the folders that both name.

    Raises LOCK_STALE with every demand that is not met, of any target; and as reading either file does.
    """
    from ..errors import LOCK_STALE, RocmlockError
    from ..lockfile.codec import read_lock
    from ..lockfile.satisfy import find_unmet
    from .inputs import read_demands

    demands = read_demands(manifest)  # faults of the manifest before those of the lock
    lock = read_lock(lock_path)
    unmet = find_unmet(lock, demands) or _changed_folders(lock, demands, lock_path, manifest)
    if unmet:
        raise RocmlockError(
            LOCK_STALE,
            f"{lock_path} does not satisfy {manifest}.",
            context=unmet,
            hint=f"rocmlock resolve {manifest}",
        )
    return lock


def _changed_folders(lock: Lock, demands: Sequence[Demands], lock_path: Path, manifest: Path) -> list[str]:
    """A sentence for each local folder that is not the one that was locked."""
    from ..errors import RocmlockError
    from ..lockfile.demands import FromPath
    from ..lockfile.model import PathSource

    asked = {
        demand.name: demand.origin.path
        for each in demands
        for demand in each.packages
        if isinstance(demand.origin, FromPath)
    }
    said: list[str] = []
    for package in lock.packages:
        if not isinstance(package.source, PathSource) or package.name not in asked:
            continue
        folder = lock_path.absolute().parent / package.source.path
        wanted = manifest.absolute().parent / asked[package.name]
        if folder.resolve() != wanted.resolve():
            said.append(
                f"{package.name} is {package.source.path} in the lock, {asked[package.name]} in the manifest"
            )
            continue
        from ..store.trees import tree_digest

        try:
            digest = str(tree_digest(folder))
        except RocmlockError as error:
            said.append(f"{package.name}: {error.message}")
            continue
        if digest != package.source.digest:
            said.append(f"{package.name}: {asked[package.name]} has changed since it was locked")
    return list(dict.fromkeys(said))
