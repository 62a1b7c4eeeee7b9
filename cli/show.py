"""``rocmlock show``: what a lock holds."""

from __future__ import annotations

from pathlib import Path

import click

from .options import DEFAULT_LOCK, examples, json_option, lock_argument, shown_target_option


@click.command("show", epilog=examples("rocmlock show --json | jq .packages"))
@lock_argument
@shown_target_option
@json_option
def command(lock: Path, target: str | None, *, as_json: bool) -> None:
    """Show the targets, packages and wheels of LOCK."""
    from ..lockfile.codec import read_lock
    from ..lockfile.targets import describe_target
    from .lock_view import describe_lock, package_table, show_alone
    from .render import answer_json, table
    from .words import place_words

    named = "" if lock == DEFAULT_LOCK else f" {lock}"
    whole = read_lock(lock)
    held = show_alone(whole, target, f"rocmlock show{named} {{target}}")
    if as_json:
        answer_json(describe_lock(held))
        return
    for each in held.targets:
        host, device = each.toolchain.host, each.toolchain.device
        name = f"{held.name} {each.name}" if len(whole.targets) > 1 else held.name
        click.echo(
            f"{name}: {describe_target(each)}, "
            f"{host.kind} {host.version} (host), {f'{device.kind} {device.version}'.strip()} (device)"
        )
    click.echo()
    table(*package_table(held))
    click.echo(f"\n{len(held.wheels)} wheels by hash")
    for warning in held.warnings:
        places = " against ".join(place_words(at, held) for at in warning.at)
        click.echo(f"warning: {warning.says}  [{places}]")
