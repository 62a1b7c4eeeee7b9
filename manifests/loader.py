"""Reading a manifest: every fault at once, each with its place and what to write instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError

from .. import gfx
from ..errors import (
    FILE_UNREADABLE,
    MANIFEST_INVALID,
    MANIFEST_MISSING,
    MANIFEST_SYNTAX,
    MANIFEST_UNSUPPORTED,
    Place,
    Problem,
    RocmlockError,
)
from .schema import (
    SCHEMA,
    Flags,
    Manifest,
    PackageTable,
    Target,
    canonical_packages,
    canonicalize_name,
    find_rocm_faults,
    is_named_target,
    split_flags,
    split_targets,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KINDS = {
    "string_type": "text in quotes",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "int_type": "a number",
    "date_type": "a date such as 2026-11-01 (without quotes)",
}
Loc = tuple[str | int, ...]
Fault = tuple[Loc, str, str]
"""Where, what is wrong, what to write instead."""


def read_manifest(path: Path, known_packages: Collection[str]) -> Manifest:
    """The manifest at ``path``. ``known_packages`` are the names that a range alone is enough for.

    Raises MANIFEST_MISSING, FILE_UNREADABLE, and as parse_manifest.
    """
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        hint = "rocmlock init" if path.name == "rocmlock.toml" else f"rocmlock init {path}"
        raise RocmlockError(MANIFEST_MISSING, f"There is no manifest at {path}.", hint=hint) from None
    except IsADirectoryError:
        raise RocmlockError(
            MANIFEST_MISSING, f"{path} is a folder.", hint=f"rocmlock resolve {path / 'rocmlock.toml'}"
        ) from None
    except UnicodeDecodeError:
        raise RocmlockError(MANIFEST_SYNTAX, f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise RocmlockError(FILE_UNREADABLE, f"{path} cannot be read: {error.strerror}.") from None
    return parse_manifest(text, str(path), known_packages)


def read_recipe_folders(path: Path) -> tuple[Path, ...]:
    """Folders of the user's own recipes that the manifest at ``path`` names.

    None where it cannot be read or is at fault: read_manifest tells that. The folders are needed first, since
    they say which packages a range is enough for.
    """
    try:
        folders: object = tomllib.loads(path.read_bytes().decode()).get("recipes")
    except (OSError, ValueError):
        return ()
    named = cast("list[object]", folders) if isinstance(folders, list) else []
    return tuple(path.parent / folder for folder in named if isinstance(folder, str))


def parse_manifest(text: str, file: str, known_packages: Collection[str]) -> Manifest:
    """The manifest in ``text``; ``file`` is its name in errors.

    Raises MANIFEST_SYNTAX, MANIFEST_UNSUPPORTED (a later schema) or MANIFEST_INVALID with every fault.
    """
    document = _parse_toml(text, file)
    schema = document.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise RocmlockError(
            MANIFEST_UNSUPPORTED, f"{file} has schema {schema}; this rocmlock reads up to {SCHEMA}."
        )
    if "version" in document and "package" in document:
        raise RocmlockError(MANIFEST_INVALID, f"{file} is a lock, not a manifest.")
    shaped, doubles = canonical_packages(split_flags(split_targets(document)))
    faults: list[Fault] = [
        (("packages", name), f"{name} stands twice under different spellings", "") for name in doubles
    ]
    manifest = None
    try:
        manifest = Manifest.model_validate(shaped)
    except ValidationError as error:
        faults += [_fault(detail, document) for detail in error.errors()]
    if manifest is not None:
        faults += [
            (_of_target((name, key) if key else (name,), document), sentence, hint)
            for name, key, sentence, hint in find_rocm_faults(manifest)
        ]
    faults += _unknown_names(shaped, known_packages)
    if manifest is None or faults:
        # What targets share is found at fault once for each of them.
        raise _invalid(text, file, document, list(dict.fromkeys(faults)))
    return manifest


def _parse_toml(text: str, file: str) -> dict[str, Any]:
    conflict = re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.MULTILINE)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        problem = Problem(
            "a merge-conflict marker", Place(file, line, 1), "keep one side and remove the markers"
        )
        raise RocmlockError(MANIFEST_SYNTAX, f"{file} holds merge-conflict markers.", problems=[problem])
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        from ..toml_places import syntax_place

        words = re.sub(r" \(at .*\)$", "", str(error))
        problem = Problem(words, Place(file, *syntax_place(error, text)))
        raise RocmlockError(MANIFEST_SYNTAX, f"{file} is not TOML.", problems=[problem]) from None


def _fault(detail: ErrorDetails, document: dict[str, Any]) -> Fault:
    """(place, sentence, hint) for one of pydantic's errors, in our words."""
    location = _written(detail["loc"], document)
    kind, given = detail["type"], detail.get("input")
    last = location[-1] if location else ""
    key = f"item {last + 1}" if isinstance(last, int) else last
    if kind == "missing":
        return location[:-1], f"{key!r} is missing", _example(location)
    if kind == "extra_forbidden":
        near = get_close_matches(key, _keys_at(location[:-1]), 1, 0.5)
        known = f"known: {', '.join(_keys_at(location[:-1]))}"
        if location[:-1] == ("target",):
            known += f"; a target is a table, [target.{key}]"
        return location, f"unknown key {key!r}", f"did you mean {near[0]!r}?" if near else known
    if kind == "value_error":
        in_gfx = location[:1] == ("target",) and "gfx" in location[1:3]
        near = gfx.nearest(given) if in_gfx and isinstance(given, str) else None
        hint = f"did you mean {near!r}?" if near and "known" in detail["msg"] else ""
        return location, detail["msg"].removeprefix("Value error, "), hint
    if kind == "literal_error":
        return location, f"{key} is {given!r}", f"write one of {detail.get('ctx', {}).get('expected', '')}"
    if kind == "too_short":
        return location, f"{key} is empty", "name at least one"
    wanted = _KINDS.get(kind, "another type")
    return location, f"{key} is {_shown(given)}, not {wanted}", _example(location)


def _written(loc: Loc, document: dict[str, Any]) -> Loc:
    """A place in the model as it is in the file: without union branches and our own grouping."""
    parts = [
        part for part in loc if not (isinstance(part, str) and (part.startswith(("literal[", "ClangDevice"))))
    ]
    if parts[:2] == ["flags", "packages"]:
        parts = ["flags", *parts[2:]]
    if len(parts) > 2 and parts[0] == "packages" and parts[-1] == "version":
        parts.pop()
    if parts[:2] == ["target", "shared"]:
        parts = ["target", *parts[2:]]
    if parts[:2] == ["target", "named"]:
        return _of_target(tuple(part for part in parts[2:] if part != "[key]"), document)
    return tuple(part for part in parts if part != "[key]")


def _of_target(loc: Loc, document: dict[str, Any]) -> Loc:
    """The place of (target, key, …): in the target's own table, else in ``[target]`` where the key stands."""
    name, *rest = loc
    keys = _table(document.get("target"))
    own = keys.get(str(name))
    if is_named_target(str(name), own) and not (rest and rest[0] not in _table(own) and rest[0] in keys):
        return ("target", *loc)
    return ("target", *rest)


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            return repr(value)


_EXAMPLES: dict[Loc, str] = {
    ("schema",): "schema = 1",
    ("name",): 'name = "mi300x-serving"',
    ("target",): '[target]\ngfx = ["gfx942"]',
    ("target", "gfx"): 'gfx = ["gfx942"]',
    ("target", "rocm"): 'rocm = ">=7.0,<7.3"',
    ("target", "python"): 'python = "3.12"',
    ("toolchain",): '[toolchain]\nhost = { gcc = "11" }',
    ("toolchain", "host"): 'host = { gcc = "11" }',
    ("packages",): '[packages]\nvllm = ">=0.20"',
}


def _example(location: Loc) -> str:
    names = tuple(part for part in location if isinstance(part, str))
    if names[:1] == ("packages",) and len(names) > 1:
        return f'write {names[1]} = ">=1.0"'
    if names[:1] == ("target",):
        names = ("target", *names[-1:]) if len(names) > 1 else names
    found = _EXAMPLES.get(names)
    return "write " + found.replace("\n", ", then ") if found else ""


def _keys_at(location: Loc) -> list[str]:
    """The keys that a table of the manifest may have."""
    model: type[BaseModel] = Manifest
    for part in location:
        if part == "packages":
            return sorted(PackageTable.model_fields)
        if part == "target":
            return list(Target.model_fields)
        field = model.model_fields.get(str(part).replace("-", "_"))
        kind = field.annotation if field else None
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            model = kind
        elif part == "device":
            return ["clang"]
        elif model is Flags:
            return ["env"]
    return [(field.alias or name).replace("_", "-") for name, field in model.model_fields.items()]


def _unknown_names(document: dict[str, Any], known: Collection[str]) -> list[Fault]:
    """Packages that only a recipe could explain, and flags of packages that nobody asks for."""
    names = _table(document.get("packages"))
    faults: list[Fault] = []
    for name, value in names.items():
        ranged = isinstance(value, str) or "version" in _table(value)
        if ranged and name not in known:
            near = get_close_matches(name, known, 1, 0.6)
            where = '{ git = "…", rev = "…" }, { path = "…" } or { sdist = "…" } say where others come from'
            hint = f"did you mean {near[0]!r}? " if near else ""
            faults.append((("packages", name), f"there is no recipe for {name!r}", hint + where))
    for name in _table(_table(document.get("flags")).get("packages")):
        if name not in names:
            near = get_close_matches(name, names, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else "ask for it in [packages]"
            words = f"[flags.{name}] is for a package that is not asked for"
            faults.append((("flags", name), words, hint))
    return faults


def _table(value: object) -> dict[str, Any]:
    """``value`` where it is a TOML table, else an empty one: the model tells what is wrong with it."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _invalid(text: str, file: str, document: dict[str, Any], faults: list[Fault]) -> RocmlockError:
    from ..toml_places import find_place

    packages: dict[str, object] = document.get("packages", {})
    written: dict[str, str] = {canonicalize_name(name): name for name in packages}

    def place(location: Loc) -> Place:
        if location[:1] == ("packages",) and len(location) > 1 and location[1] not in packages:
            location = ("packages", written.get(str(location[1]), location[1]), *location[2:])
        return Place(file, *find_place(text, location))

    problems = [Problem(sentence, place(location), hint) for location, sentence, hint in faults]
    problems.sort(key=lambda problem: (problem.place.line, problem.place.column) if problem.place else (0, 0))
    count = "1 fault" if len(problems) == 1 else f"{len(problems)} faults"
    return RocmlockError(MANIFEST_INVALID, f"{file} has {count}.", problems=problems)
