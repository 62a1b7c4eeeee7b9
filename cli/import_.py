"""``rocmlock import``: a file of another tool becomes a manifest and its lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option, lock_beside
from .sources import offline_option, source_option

if TYPE_CHECKING:
    from ..resolver.importing import Draft, Note
    from ..resolver.readers.requirements import Requirements
    from ..resolver.recipe import Recipe

_KINDS = ("dockerfile", "therock", "requirements")
_OPTIONS = {
    "gfx": "--gfx gfx942",
    "rocm": "--rocm '>=7.0,<7.3'",
    "python": "--python 3.12",
    "gcc": "--gcc 11",
}
_MAX_BYTES = 4 << 20
_MAX_FILES = 64


@click.command(
    "import",
    epilog=examples(
        "rocmlock import docker/Dockerfile.rocm_base",
        "rocmlock import requirements.txt --gfx gfx942 --rocm '>=7.0,<7.3' --python 3.12 --gcc 11",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    *("-o", "--output", "manifest"),
    type=click.Path(path_type=Path),
    default=Path("rocmlock.toml"),
    show_default=True,
    help="The manifest to write; its lock stands beside it.",
)
@click.option("--kind", type=click.Choice(_KINDS), help="What FILE is  [default: told by what is in it].")
@click.option("--name", help="The stack's name  [default: that of the manifest's folder].")
@click.option("--gfx", multiple=True, help="A GPU arch; goes before what FILE says.")
@click.option("--rocm", default="", help="The range of ROCm releases; goes before what FILE says.")
@click.option("--python", default="", help="The Python version; goes before what FILE says.")
@click.option("--gcc", default="", help="The major of GCC for host code; goes before what FILE says.")
@click.option("--no-lock", is_flag=True, help="Write the manifest alone.")
@source_option
@offline_option
@json_option
def command(
    file: Path,
    *,
    manifest: Path,
    kind: str | None,
    name: str | None,
    gfx: tuple[str, ...],
    rocm: str,
    python: str,
    gcc: str,
    no_lock: bool,
    source: str,
    offline: bool,
    as_json: bool,
) -> None:
    """Make a manifest and a lock from FILE: a Dockerfile, TheRock's manifest, or a requirements file.

    Every commit is written whole, with the place that names it. What FILE says and a manifest cannot say, and
    what cannot be expanded, is told and left out. What a manifest needs and FILE does not say is to be given.
    """
    import os
    from dataclasses import replace

    from ..files import write_text
    from ..lockfile.codec import render_lock
    from ..manifests.loader import parse_manifest
    from ..resolver.import_manifest import render_manifest
    from ..resolver.importing import complete
    from ..resolver.kept import Kept
    from ..resolver.recipe import read_recipes
    from .init import default_name, write_new
    from .options import require_writable
    from .render import answer_json, talk
    from .resolving import count_words, resolve_manifest, talk_of_resolved
    from .sources import ask

    if not no_lock:
        require_writable(os.environ, "To write the manifest alone: rocmlock import --no-lock")
    recipes = read_recipes()
    given = {"gfx": _targets(gfx), "rocm": rocm, "python": python, "gcc": gcc}
    draft = _read(file, kind, recipes, python)
    draft = replace(draft, **{key: value for key, value in given.items() if value})
    _require_whole(draft, file)
    draft = ask(source, recipes, lambda catalog: complete(draft, catalog, recipes), offline=offline)
    _require_packages(draft, file)
    text = render_manifest(draft, name or default_name(manifest))
    parse_manifest(text, str(manifest), recipes)  # what is wrong is told before anything is written
    write_new(manifest, text, "Give another: -o FILE")
    resolved = None
    if not no_lock:
        resolved = resolve_manifest(manifest, lock_beside(manifest), Kept(), source, offline=offline)
        write_text(lock_beside(manifest), render_lock(resolved.lock))
    if as_json:
        answer_json(
            {
                "manifest": str(manifest),
                "lock": str(lock_beside(manifest)) if resolved else None,
                "packages": {each.name: each.commit or each.specifier or "*" for each in draft.packages},
                "notes": [{"at": str(note.at), "says": note.says} for note in draft.notes],
            }
        )
        return
    for note in draft.notes:
        talk(f"note: {note.says}  [{note.at}]")
    if resolved:
        talk_of_resolved(resolved)
    wrote = f"{manifest} and {lock_beside(manifest)}: {count_words(resolved.lock)}" if resolved else manifest
    talk(f"Wrote {wrote}.")


def _targets(texts: Sequence[str]) -> tuple[str, ...]:
    """Raises click's UsageError for what is no GPU arch."""
    from ..gfx import normalise

    try:
        return tuple(normalise(word) for text in texts for word in text.replace(",", " ").split())
    except ValueError as error:
        raise click.UsageError(f"--gfx: {error}") from None


def _read(file: Path, kind: str | None, recipes: Mapping[str, Recipe], python: str) -> Draft:
    from ..resolver.import_dockerfile import draft_dockerfile
    from ..resolver.import_lists import draft_requirements, draft_therock, kind_of

    text = _read_text(file)
    kind = kind or kind_of(file.name, text)
    if kind == "dockerfile":
        return draft_dockerfile(text, str(file), recipes)
    if kind == "therock":
        return draft_therock(text, str(file), recipes)
    if not python:
        raise click.UsageError("A requirements file does not say for which Python: give --python 3.12")
    return draft_requirements(_read_requirements(file), recipes, python)


def _read_requirements(first: Path) -> list[tuple[str, Requirements]]:
    """A requirements file and all that it includes, each once."""
    from ..errors import FILE_UNREADABLE, RocmlockError
    from ..resolver.readers.requirements import parse_requirements

    pending, found = [first], dict[Path, tuple[str, "Requirements"]]()
    while pending:
        file = pending.pop(0)
        if file.resolve() in found:
            continue
        if len(found) == _MAX_FILES:
            raise RocmlockError(FILE_UNREADABLE, f"{first} includes more than {_MAX_FILES} files.")
        read = parse_requirements(_read_text(file), str(file))
        found[file.resolve()] = (str(file), read)
        pending += [file.parent / each.path for each in read.includes if not each.constraint]
    return list(found.values())


def _read_text(file: Path) -> str:
    """Raises FILE_UNREADABLE."""
    from ..errors import FILE_UNREADABLE, RocmlockError

    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise RocmlockError(FILE_UNREADABLE, f"{file} is larger than {_MAX_BYTES >> 20} MiB.")
        return data.decode("utf-8")
    except OSError as error:
        raise RocmlockError(FILE_UNREADABLE, f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise RocmlockError(FILE_UNREADABLE, f"{file} is no text.") from None


def _require_whole(draft: Draft, file: Path) -> None:
    """Raises click's UsageError with every option that has to be given."""
    from ..resolver.import_manifest import find_gaps

    gaps = find_gaps(draft)
    if gaps:
        options = " ".join(_OPTIONS[gap] for gap in gaps)
        raise click.UsageError(f"{file} does not say the {' and the '.join(gaps)}: give {options}")


def _require_packages(draft: Draft, file: Path) -> None:
    """Raises SOURCE_INVALID where nothing is left to build, with what was left out and why."""
    from ..errors import SOURCE_INVALID, Problem, RocmlockError

    def problem(note: Note) -> Problem:
        return Problem(note.says, note.at)

    if not draft.packages:
        raise RocmlockError(
            SOURCE_INVALID,
            f"{file} names no package that can be built from source here.",
            problems=[problem(note) for note in draft.notes],
            hint="Start from a manifest of your own: rocmlock init",
        )
