"""``rocmlock init``: a commented manifest."""

from __future__ import annotations

from pathlib import Path

import click

from .options import examples, json_option


@click.command("init", epilog=examples("rocmlock init --name mi300x-serving"))
@click.argument("manifest", type=click.Path(path_type=Path), default=Path("rocmlock.toml"))
@click.option("--name", help="The stack's name  [default: the folder's].")
@json_option
def command(manifest: Path, name: str | None, *, as_json: bool) -> None:
    """Write a commented MANIFEST to start from.

    An existing one is left alone.
    """
    from ..manifests.template import render_template
    from .render import answer_json, talk

    name = name or default_name(manifest)
    write_new(manifest, render_template(name), "Give another name: rocmlock init FILE")
    if as_json:
        answer_json({"manifest": str(manifest), "name": name})
    else:
        talk(f"Wrote {manifest}. Look it over, then run: rocmlock resolve")


def default_name(manifest: Path) -> str:
    """The name of a stack: that of the folder which its manifest is in."""
    import re

    return re.sub(r"[^A-Za-z0-9._-]+", "-", manifest.absolute().parent.name).strip("-._") or "stack"


def write_new(manifest: Path, text: str, hint: str) -> None:
    """Write a manifest that is not there yet. Raises FILE_UNWRITABLE, with ``hint`` where it is."""
    from ..errors import FILE_UNWRITABLE, RocmlockError

    try:
        with manifest.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise RocmlockError(FILE_UNWRITABLE, f"{manifest} is there already.", hint=hint) from None
    except OSError as error:
        raise RocmlockError(FILE_UNWRITABLE, f"{manifest} cannot be written: {error.strerror}.") from None
