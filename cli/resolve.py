"""``rocmlock resolve``: manifest to lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import (
    accept_option,
    examples,
    frozen_option,
    json_option,
    lock_beside,
    locked_option,
    manifest_argument,
)
from .sources import offline_option, source_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock


@click.command(
    "resolve",
    epilog=examples("rocmlock resolve", "rocmlock resolve stack.toml -o shared/stack.lock"),
)
@manifest_argument
@click.option("-o", "--output", "lock_path", type=click.Path(path_type=Path), help="The lock to write.")
@locked_option
@frozen_option
@accept_option
@source_option
@offline_option
@json_option
def command(
    manifest: Path,
    lock_path: Path | None,
    *,
    locked: bool,
    frozen: bool,
    accepted: tuple[str, ...],
    source: str,
    offline: bool,
    as_json: bool,
) -> None:
    """Resolve MANIFEST to a lock of exact commits and hashes.

    Each comes with its reason. The lock stands beside the manifest (NAME.toml -> NAME.lock); what an
    existing lock pins is kept as long as it satisfies the manifest: `rocmlock update` moves pins.
    """
    from ..files import write_text
    from ..lockfile.codec import read_lock, render_lock
    from ..resolver.kept import Kept
    from .check import read_satisfying
    from .inputs import read_demands
    from .options import require_one
    from .render import talk
    from .resolving import count_words, resolve_manifest, talk_of_resolved

    require_one(locked=locked, frozen=frozen)
    if accepted and (locked or frozen):
        switch = "--locked" if locked else "--frozen"
        raise click.UsageError(f"--accept-moved-tag changes the lock, {switch} forbids that: give one.")
    lock_path = lock_path or lock_beside(manifest)
    if locked or frozen:
        lock = read_satisfying(lock_path, manifest) if locked else read_lock(lock_path)
        _answer(lock, lock_path, as_json=as_json)
        return
    read_demands(manifest)  # faults of the manifest before those of the lock
    old = read_lock(lock_path) if lock_path.exists() else None
    kept = Kept(old, accepted=frozenset(accepted))
    resolved = resolve_manifest(manifest, lock_path, kept, source, offline=offline)
    changed = write_text(lock_path, render_lock(resolved.lock))
    _answer(resolved.lock, lock_path, as_json=as_json)
    if not as_json:
        talk_of_resolved(resolved)
        talk(f"\n{'Wrote' if changed else 'Unchanged:'} {lock_path}: {count_words(resolved.lock)}.")


def _answer(lock: Lock, lock_path: Path, *, as_json: bool) -> None:
    from .lock_view import describe_lock, package_table
    from .render import answer_json, table

    if as_json:
        answer_json({"lock": str(lock_path), **describe_lock(lock)})
    else:
        table(*package_table(lock))
