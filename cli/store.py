"""``rocmlock store``: what is in the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import (
    DEFAULT_LOCK,
    examples,
    json_option,
    lock_option,
    store_folder,
    store_option,
    target_option,
)

if TYPE_CHECKING:
    from ..store.layout import StoreLayout
    from ..store.realisation import Realisation


@click.group("store", epilog=examples("rocmlock store ls", "rocmlock store log gfx-probe"))
def command() -> None:
    """Look into the store. KEY is a package of the lock, or the start of a derivation key."""


@command.command("ls")
@store_option
@json_option
def list_store(store_root: Path | None, *, as_json: bool) -> None:
    """List what has been realized."""
    from ..store.layout import find_store
    from .render import answer_json, table

    layout = find_store(store_folder(store_root))
    made = sorted(_realisations(layout), key=lambda each: (each.wheel, each.derivation))
    if as_json:
        rows = [
            {"key": each.derivation, "wheel": each.wheel, "output": each.output, "seconds": each.seconds}
            for each in made
        ]
        answer_json({"store": str(layout.root), "realisations": rows})
        return
    table(("key", "wheel", "bytes"), [(m.derivation[:12], m.wheel, str(m.wheel_size)) for m in made])


def _realisations(layout: StoreLayout) -> Iterator[Realisation]:
    from ..store.plan import read_realisation

    for path in (layout.root / "realisations").glob("*.json"):
        made = read_realisation(path)
        if made is not None:
            yield made


@command.command("path")
@click.argument("key")
@lock_option
@target_option
@store_option
@json_option
def show_path(key: str, lock: Path, target: str | None, store_root: Path | None, *, as_json: bool) -> None:
    """Print a folder with the output of KEY."""
    from ..store.blobs import BlobStore
    from ..store.outputs import materialise_output
    from .render import answer_json

    layout, made = _find(key, lock, target, store_root)
    place = materialise_output(BlobStore(layout), made)
    if as_json:
        answer_json({"key": made.derivation, "path": str(place), "wheel": str(place / made.wheel)})
    else:
        click.echo(place)


@command.command("info")
@click.argument("key")
@lock_option
@target_option
@store_option
@json_option
def show_info(key: str, lock: Path, target: str | None, store_root: Path | None, *, as_json: bool) -> None:
    """Print what went into KEY and what came out."""
    import json

    from attrs import asdict

    from .render import answer_json

    layout, made = _find(key, lock, target, store_root)
    derivation = json.loads(layout.derivation(made.derivation).read_bytes().split(b"\n", 1)[1])
    if as_json:
        answer_json({"derivation": derivation, "realisation": asdict(made)})
        return
    click.echo(f"derivation {made.derivation}")
    for name, value in derivation.items():
        for line in _lines(name, value):
            click.echo(f"  {line}")
    click.echo(f"action     {made.action}\noutput     {made.output}\nwheel      {made.wheel}")
    for file, targets in made.code_objects.items():
        click.echo(f"GPU code   {file}: {', '.join(targets)}")


def _lines(name: str, value: object) -> Iterator[str]:
    """A field of a derivation, a fact a line."""
    match value:
        case dict():
            for key, item in value.items():  # pyright: ignore[reportUnknownVariableType] -- JSON
                yield f"{name}.{key} = {item}"
        case list():
            yield f"{name} = {value}"
        case _:
            if value:
                yield f"{name} = {value}"


@command.command("log")
@click.argument("key")
@lock_option
@target_option
@store_option
@json_option
def show_log(key: str, lock: Path, target: str | None, store_root: Path | None, *, as_json: bool) -> None:
    """Print the build log of KEY, failed or not."""
    from ..errors import NOT_REALIZED, RocmlockError
    from ..store.layout import find_store
    from .render import answer_json

    layout = find_store(store_folder(store_root))
    path = layout.log(_full_key(key, lock, target, layout, logs=True))
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise RocmlockError(NOT_REALIZED, f"There is no log of {key}.") from None
    if as_json:
        answer_json({"key": path.stem, "path": str(path), "log": text})
    else:
        click.echo(text, nl=False)


def _find(
    key: str, lock: Path, target: str | None, store_root: Path | None
) -> tuple[StoreLayout, Realisation]:
    from ..errors import NOT_REALIZED, RocmlockError
    from ..store.layout import find_store
    from ..store.plan import read_realisation

    layout = find_store(store_folder(store_root))
    full = _full_key(key, lock, target, layout)
    made = read_realisation(layout.realisation(full))
    if made is None:
        raise RocmlockError(NOT_REALIZED, f"{key} has not been realized on this machine.")
    return layout, made


def _full_key(key: str, lock: Path, target: str | None, layout: StoreLayout, *, logs: bool = False) -> str:
    """The derivation key that ``key`` means: the start of one that the store has a realisation of (with
    ``logs``: a log), or a package of the lock."""
    import re

    from ..errors import NOT_REALIZED, USAGE, RocmlockError

    if re.fullmatch(r"[0-9a-f]{6,64}", key):
        folder, ending = ("logs", ".log") if logs else ("realisations", ".json")
        found = sorted(path.name.removesuffix(ending) for path in (layout.root / folder).glob(f"{key}*"))
        if len(found) > 1:
            raise RocmlockError(USAGE, f"{key} is the start of {len(found)} keys.", hint="Give more digits.")
        if not found:
            raise RocmlockError(NOT_REALIZED, f"No key starts with {key}.", hint="rocmlock store ls")
        return found[0]
    return _key_of_package(key, lock, target, layout)


def _key_of_package(name: str, lock: Path, target: str | None, layout: StoreLayout) -> str:
    from ..errors import NOT_REALIZED, PACKAGE_NOT_LOCKED, RocmlockError
    from ..lockfile.codec import read_lock
    from ..lockfile.targets import pick_target
    from ..store.realize import plan_realization

    held = read_lock(lock)
    option = "" if lock == DEFAULT_LOCK else f" -l {lock}"
    command_line = f"{click.get_current_context().command_path} {name}{option} {{target}}"
    chosen = pick_target(held, target, command_line)
    plan, _, _ = plan_realization(held, chosen, layout.root)
    planned = next((each for each in plan.packages if each.package.name == name), None)
    if planned is None:
        raise RocmlockError(PACKAGE_NOT_LOCKED, f"{name} is not in {lock}.")
    if planned.key is None:
        raise RocmlockError(NOT_REALIZED, f"{name} cannot be realized on this machine.")
    return planned.key
