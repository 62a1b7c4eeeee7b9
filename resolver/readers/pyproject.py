"""``pyproject.toml``: what a build requires, and what the project says of itself."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard, cast

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from ...toml_places import Path, find_place, syntax_place
from .source_text import Stated, check_text, refuse

Table = dict[str, object]


@dataclass(frozen=True, slots=True)
class Required:
    """One requirement with its line."""

    requirement: Requirement
    line: int


@dataclass(frozen=True, slots=True)
class Pyproject:
    """``build`` is None where the file has no ``[build-system]``; then PEP 518's default holds.

    ``dynamic`` are the fields that only a build tells: an empty ``dependencies`` is no statement then.
    """

    build: tuple[Required, ...] | None
    backend: str
    name: str
    version: Stated | None
    requires_python: Stated | None
    dependencies: tuple[Required, ...]
    extras: Mapping[str, tuple[Required, ...]]
    dynamic: tuple[str, ...]


def parse_pyproject(text: str, path: str) -> Pyproject:
    """Read a ``pyproject.toml``. Raises PIN_UNREADABLE with file, line and column."""
    text = check_text(text, path)
    try:
        held = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, column = syntax_place(error, text)
        raise refuse(path, line, f"This is no TOML: {error}.", column=column) from None
    except RecursionError:
        raise refuse(path, 1, "The TOML is nested too deep.") from None
    return _Reader(held, text, path).read()


def _is_table(value: object) -> TypeGuard[Table]:
    return isinstance(value, dict)


class _Reader:
    def __init__(self, held: Table, text: str, path: str) -> None:
        self.held, self.text, self.path = held, text, path

    def read(self) -> Pyproject:
        system, project = self._table(("build-system",)), self._table(("project",))
        extras = self._table(("project", "optional-dependencies"))
        if system is not None and "requires" not in system:
            raise refuse(self.path, self._line(("build-system",)), "[build-system] has no requires.")
        return Pyproject(
            None if system is None else self._required(("build-system", "requires")),
            self._text(("build-system", "build-backend")),
            self._text(("project", "name")),
            self._stated(("project", "version")),
            self._python(),
            self._required(("project", "dependencies")),
            {name: self._required(("project", "optional-dependencies", name)) for name in extras or ()},
            tuple(self._texts(("project", "dynamic"))) if project else (),
        )

    def _at(self, place: Path) -> object:
        found: object = self.held
        for key in place:
            found = found.get(str(key)) if _is_table(found) else None
        return found

    def _line(self, place: Path) -> int:
        return find_place(self.text, place)[0]

    def _table(self, place: Path) -> Table | None:
        found = self._at(place)
        if found is not None and not isinstance(found, dict):
            raise refuse(self.path, self._line(place), f"{'.'.join(map(str, place))} is no table.")
        return cast("Table | None", found)

    def _text(self, place: Path) -> str:
        found = self._at(place)
        if found is not None and not isinstance(found, str):
            raise refuse(self.path, self._line(place), f"{'.'.join(map(str, place))} is no text.")
        return found or ""

    def _texts(self, place: Path) -> list[str]:
        found = self._at(place)
        if found is None:
            return []
        items = cast("list[object]", found)
        if not isinstance(found, list) or not all(isinstance(item, str) for item in items):
            raise refuse(self.path, self._line(place), f"{'.'.join(map(str, place))} is no list of texts.")
        return cast("list[str]", found)

    def _stated(self, place: Path) -> Stated | None:
        found = self._text(place)
        return Stated(found, self._line(place)) if found else None

    def _python(self) -> Stated | None:
        stated = self._stated(("project", "requires-python"))
        if stated:
            try:
                SpecifierSet(stated.value)
            except InvalidSpecifier:
                raise refuse(self.path, stated.line, f"{stated.value!r} is no range of versions.") from None
        return stated

    def _required(self, place: Path) -> tuple[Required, ...]:
        made = list[Required]()
        for index, item in enumerate(self._texts(place)):
            line = self._line((*place, index))
            try:
                made.append(Required(Requirement(item), line))
            except InvalidRequirement as error:
                reason = str(error).partition("\n")[0]
                raise refuse(self.path, line, f"{item[:80]!r} is no requirement: {reason}.") from None
        return tuple(made)
