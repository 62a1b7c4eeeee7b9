"""``rocmlock show``: what a lock holds."""

from __future__ import annotations

from pathlib import Path

import click

from .options import examples, json_option, lock_argument


@click.command("show", epilog=examples("rocmlock show --json | jq .packages"))
@lock_argument
@json_option
def command(lock: Path, *, as_json: bool) -> None:
    """Show the target, packages and wheels of LOCK."""
    from ..lockfile.codec import read_lock
    from .lock_view import describe_lock, package_rows
    from .render import answer_json, table
    from .words import place_words

    held = read_lock(lock)
    if as_json:
        answer_json(describe_lock(held))
        return
    for target in held.targets:
        host, device = target.toolchain.host, target.toolchain.device
        click.echo(
            f"{held.name}: {', '.join(target.gfx)}"
            f"{f', ROCm {target.rocm.version}' if target.rocm else ''}, Python {target.python.version}, "
            f"{host.kind} {host.version} (host), {f'{device.kind} {device.version}'.strip()} (device)\n"
        )
    table(("package", "version", "source", "why"), package_rows(held))
    click.echo(f"\n{len(held.wheels)} wheels by hash")
    for warning in held.warnings:
        places = " against ".join(place_words(at, held) for at in warning.at)
        click.echo(f"warning: {warning.says}  [{places}]")
