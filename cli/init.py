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
    import re

    from ..errors import FILE_UNWRITABLE, RocmlockError
    from ..manifests.template import render_template
    from .render import answer_json, talk

    if name is None:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", manifest.absolute().parent.name).strip("-.") or "stack"
    text = render_template(name)
    try:
        with manifest.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise RocmlockError(
            FILE_UNWRITABLE, f"{manifest} is there already.", hint="Give another name: rocmlock init FILE"
        ) from None
    except OSError as error:
        raise RocmlockError(FILE_UNWRITABLE, f"{manifest} cannot be written: {error.strerror}.") from None
    if as_json:
        answer_json({"manifest": str(manifest), "name": name})
    else:
        talk(f"Wrote {manifest}. Look it over, then run: rocmlock resolve")
