"""``rocmlock export``: a lock in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import DEFAULT_LOCK, examples, json_option, lock_argument, target_option

if TYPE_CHECKING:
    from ..lockfile.exports.exported import Exported
    from ..lockfile.model import Lock

_FORMATS = ("pylock", "constraints", "dockerfile", "therock", "cyclonedx")


@click.command(
    "export",
    epilog=examples(
        "rocmlock export --format pylock -o pylock.toml",
        "rocmlock export --format constraints | uv pip install -c - ray",
        "rocmlock export --format cyclonedx -o sbom.json",
    ),
)
@lock_argument
@click.option("-f", "--format", "form", type=click.Choice(_FORMATS), required=True, help="What to write.")
@target_option
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file to write  [default: stdout].")
@click.option(
    "--wheels",
    metavar="DIR",
    default="wheels",
    show_default=True,
    help="Where a pylock finds the files, relative to itself.",
)
@json_option
def command(
    lock: Path, *, form: str, target: str | None, output: Path | None, wheels: str, as_json: bool
) -> None:
    """Write LOCK as a pylock.toml (PEP 751), as pip's constraints, as a Dockerfile's ARGs in vLLM's names, as
    TheRock's manifest of PyTorch sources, or as a CycloneDX bill of materials.

    An export is of one target. What the format cannot say is told beside it.
    """
    from ..files import write_text
    from ..lockfile.codec import read_lock
    from ..lockfile.targets import lock_of, pick_target
    from .render import answer_json, talk

    whole = read_lock(lock)
    named = "" if lock == DEFAULT_LOCK else f" {lock}"
    chosen = pick_target(whole, target, f"rocmlock export{named} --format {form} {{target}}")
    exported = _render(lock_of(whole, chosen.name), form, wheels)
    if output:
        write_text(output, exported.text)
    if as_json:
        answer = {"file": str(output)} if output else {"text": exported.text}
        answer_json({"format": form, "target": chosen.name, **answer, "notes": list(exported.notes)})
        return
    if not output:
        click.echo(exported.text, nl=False)
    for note in exported.notes:
        talk(f"note: {note}")
    if output:
        talk(f"Wrote {output}.")


def _render(lock: Lock, form: str, wheels: str) -> Exported:
    match form:
        case "pylock":
            from ..lockfile.exports.pylock import render_pylock

            return render_pylock(lock, wheels)
        case "constraints":
            from ..lockfile.exports.constraints import render_constraints

            return render_constraints(lock)
        case "dockerfile":
            from ..lockfile.exports.dockerfile import render_dockerfile

            return render_dockerfile(lock)
        case "therock":
            from ..lockfile.exports.therock import render_therock

            return render_therock(lock)
        case _:
            from ..lockfile.exports.cyclonedx import render_cyclonedx

            return render_cyclonedx(lock)
