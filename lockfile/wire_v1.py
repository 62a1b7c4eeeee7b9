"""Version 1 of the lock as TOML data: field names on the wire, canonical order, strict reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import attrs
from cattrs import Converter, transform_error
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from . import model, names
from .model import Lock

Problems = list[tuple[tuple[str | int, ...], str]]
"""Faults as (path into the document, sentence)."""

# Root tables are arrays of tables: their names are singular on the wire, as in [[package]].
_RENAMED = {"targets": "target", "packages": "package", "wheels": "wheel", "warnings": "warning"}
_CLASSES: tuple[type, ...] = tuple(
    value for value in vars(model).values() if isinstance(value, type) and attrs.has(value)
)


def _wire_name(owner: type, name: str) -> str:
    if owner is Lock:
        name = _RENAMED.get(name, name)
    if owner is model.Wheel and name == "files":
        return "file"
    return name.replace("_", "-")


def _checked(make: Callable[[str], str]) -> Callable[[object, object], str]:
    def structure(value: object, _: object) -> str:
        if not isinstance(value, str):
            raise TypeError(f"is {value!r}, not text")
        return make(value)

    return structure


def _text(value: object, _: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"is {value!r}, not text")
    return value


def _number(value: object, _: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"is {value!r}, not a number")
    return value


def _reader(*, strict: bool, detailed: bool) -> Converter:
    converter = Converter(detailed_validation=detailed, forbid_extra_keys=strict)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(int, _number)
    for word, make in (
        (names.Commit, names.commit),
        (names.ContentDigest, names.content_digest),
        (names.FileName, names.file_name),
    ):
        converter.register_structure_hook(word, _checked(make))
    # Leaves first: a hook made for a class looks up those of its fields. The overrides are given by name,
    # which cattrs' types cannot express.
    for cls in _CLASSES:
        read: Any = make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=strict, **_renames(cls))  # pyright: ignore[reportUnknownVariableType]
        converter.register_structure_hook(cls, read)
    return converter


def _writer() -> Converter:
    converter = Converter()
    for cls in _CLASSES:
        write: Any = make_dict_unstructure_fn(cls, converter, **_renames(cls))  # pyright: ignore[reportUnknownVariableType]
        converter.register_unstructure_hook(cls, write)
    return converter


def _renames(cls: type) -> dict[str, Any]:
    return {
        attribute.name: override(
            rename=_wire_name(cls, attribute.name), omit_if_default=attribute.name == "evidence"
        )
        for attribute in attrs.fields(cls)
    }


def render_document(lock: Lock) -> dict[str, Any]:
    """The lock as a TOML document in canonical order; ``version`` and ``revision`` come first."""
    packages = (
        attrs.evolve(
            package,
            targets=tuple(sorted(package.targets)),
            environment=dict(sorted(package.environment.items())),
        )
        for package in lock.packages
    )
    wheels = (attrs.evolve(wheel, files=_ordered_files(wheel)) for wheel in lock.wheels)
    ordered = attrs.evolve(
        lock,
        targets=tuple(sorted(lock.targets, key=lambda target: target.name)),
        packages=tuple(sorted(packages, key=lambda package: (package.name, package.targets))),
        wheels=tuple(sorted(wheels, key=lambda wheel: (wheel.name, wheel.version))),
        warnings=tuple(sorted(lock.warnings, key=lambda warning: (warning.says, warning.at))),
    )
    body = _plain(_writer().unstructure(ordered))
    body["package"] = [_nest(package) for package in body.get("package", [])]
    return {"version": model.VERSION, "revision": model.REVISION, **body}


def _ordered_files(wheel: model.Wheel) -> tuple[model.WheelFile, ...]:
    files = (attrs.evolve(file, targets=tuple(sorted(file.targets))) for file in wheel.files)
    return tuple(sorted(files, key=lambda file: file.targets))


# On the wire a package's needs stand together: [package.requires.build], [package.requires.run].
_NEEDS = ("build", "run")


def _nest(package: dict[str, Any]) -> dict[str, Any]:
    requires = {name: package[name] for name in _NEEDS if name in package}
    rest = {name: value for name, value in package.items() if name not in _NEEDS}
    return {**rest, "requires": requires} if requires else rest


def _flatten(package: Any) -> Any:
    """The reverse of _nest. What does not belong there stays where it is, to be told as unknown."""
    if not isinstance(package, dict):
        return package
    table = cast("dict[str, Any]", package)
    requires = table.get("requires")
    flat = {f"{name} outside of requires" if name in _NEEDS else name: v for name, v in table.items()}
    if isinstance(requires, dict):
        needs = cast("dict[str, Any]", requires)
        flat["requires"] = {name: value for name, value in needs.items() if name not in _NEEDS}
        flat |= {name: needs[name] for name in _NEEDS if name in needs}
        if not flat["requires"]:
            del flat["requires"]
    return flat


def _plain(value: Any) -> Any:
    """Tuples as lists; what is empty is left out."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        items = {key: _plain(item) for key, item in table.items()}
        return {key: item for key, item in items.items() if item not in ({}, [], "", 0, None)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def parse_document(document: dict[str, Any], *, strict: bool) -> tuple[Lock | None, Problems]:
    """The lock that ``document`` holds, or every fault in it.

    ``strict`` refuses unknown fields: a document of our own revision has none, of a later one it may.
    """
    body = {key: value for key, value in document.items() if key not in {"version", "revision"}}
    body.setdefault("target", [])
    body.setdefault("package", [])
    if isinstance(body["package"], list):
        body["package"] = [_flatten(package) for package in cast("list[Any]", body["package"])]
    body.setdefault("wheel", [])
    try:
        # Most locks are whole. Telling every fault needs hooks that take twice the time to make and to run.
        return _reader(strict=strict, detailed=False).structure(body, Lock), []
    except Exception:  # noqa: BLE001, S110 -- whatever it is, the next pass tells it
        pass
    try:
        return _reader(strict=strict, detailed=True).structure(body, Lock), []
    except Exception as error:  # noqa: BLE001 -- cattrs raises groups of whatever the hooks raise
        return None, [_problem(line) for line in transform_error(error, format_exception=_sentence)]


def _sentence(error: BaseException, _type: type | None) -> str:
    if isinstance(error, KeyError):
        return f"the field {error.args[0]!r} is missing"
    name = type(error).__name__
    if name == "ForbiddenExtraKeysError":
        return f"unknown field {', '.join(sorted(getattr(error, 'extra_fields', ())))}"
    return str(error)


def _problem(line: str) -> tuple[tuple[str | int, ...], str]:
    """cattrs writes ``sentence @ $.package[0].source``; the path in the document's own names."""
    sentence, _, path = line.rpartition(" @ $")
    parts: list[str | int] = []
    for dotted in path.split("."):
        name, *indexes = dotted.replace("]", "").split("[")
        if name:
            parts.append(_RENAMED.get(name, name).replace("_", "-"))
        parts.extend(int(index) if index.isdigit() else index.strip("'\"") for index in indexes)
    if parts[:1] == ["package"] and parts[2:3] in (["build"], ["run"]):
        parts.insert(2, "requires")
    return tuple(parts), sentence
