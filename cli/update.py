"""``rocmlock update``: the only command that moves pins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import accept_option, examples, json_option, lock_beside
from .sources import offline_option, source_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock


@click.command(
    "update", epilog=examples("rocmlock update --dry-run", "rocmlock update vllm", "rocmlock update numpy")
)
@click.argument("packages", nargs=-1, metavar="[PACKAGE]...")
@click.option(
    *("-m", "--manifest", "manifest"),
    type=click.Path(path_type=Path),
    default=Path("rocmlock.toml"),
    show_default=True,
    help="The manifest; its lock stands beside it.",
)
@click.option("--dry-run", is_flag=True, help="Tell what would change; write nothing.")
@accept_option
@source_option
@offline_option
@json_option
def command(
    packages: tuple[str, ...],
    manifest: Path,
    *,
    dry_run: bool,
    accepted: tuple[str, ...],
    source: str,
    offline: bool,
    as_json: bool,
) -> None:
    """Move pins to the newest that MANIFEST allows: all, or those of each PACKAGE.

    The members of a tested set move together. A wheel moves by itself, with what it needs; all others stay.
    """
    import os

    from ..files import write_text
    from ..lockfile.codec import read_lock, render_lock
    from ..lockfile.diff import diff_locks
    from ..resolver.kept import Kept, moves_together
    from .diff_view import change_lines, describe_changes
    from .inputs import read_demands
    from .options import require_writable
    from .render import answer_json, signed_lines, talk
    from .resolving import count_words, resolve_manifest, talk_of_resolved

    if not dry_run:
        require_writable(os.environ, "To look only: rocmlock update --dry-run")
    lock_path = lock_beside(manifest)
    demands = read_demands(manifest)  # faults of the manifest before those of the lock
    old = read_lock(lock_path)
    moving = _names(packages, old, lock_path) if packages else None
    kept = Kept(old, moving, frozenset(accepted))
    if demands[0].strategy == "tested":
        for line in moves_together(old, moving or ()):
            talk(line)
    resolved = resolve_manifest(manifest, lock_path, kept, source, offline=offline)
    changes = diff_locks(old, resolved.lock)
    if not dry_run:
        write_text(lock_path, render_lock(resolved.lock))
    if as_json:
        told = describe_changes(changes, old, resolved.lock)
        answer_json({"lock": str(lock_path), "written": bool(changes) and not dry_run, "changes": told})
        return
    signed_lines(change_lines(changes, old, resolved.lock))
    talk_of_resolved(resolved)
    if not changes:
        talk(f"\nEverything is as new as {manifest} allows.")
    elif dry_run:
        talk(f"\nWould write {lock_path}: {count_words(resolved.lock)}.")
    else:
        talk(f"\nWrote {lock_path}: {count_words(resolved.lock)}.")


def _names(packages: Sequence[str], lock: Lock, lock_path: Path) -> frozenset[str]:
    """Names as the lock has them. Raises PACKAGE_NOT_LOCKED with all that it has not."""
    from difflib import get_close_matches

    from packaging.utils import canonicalize_name

    from ..errors import PACKAGE_NOT_LOCKED, Problem, RocmlockError

    known = {name: package.name for package in lock.packages for name in (package.name, package.distribution)}
    known |= {wheel.name: wheel.name for wheel in lock.wheels}
    wanted = {name: canonicalize_name(name) for name in packages}
    unknown = [name for name, canonical in wanted.items() if canonical not in known]
    if unknown:
        near = {name: get_close_matches(wanted[name], known, 1) for name in unknown}
        raise RocmlockError(
            PACKAGE_NOT_LOCKED,
            f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not in {lock_path}.",
            problems=[
                Problem(f"{name}: did you mean {found[0]!r}?") for name, found in near.items() if found
            ],
        )
    return frozenset(known[canonical] for canonical in wanted.values())
