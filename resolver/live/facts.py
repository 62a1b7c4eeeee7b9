"""What a recipe says to read, read from the files of a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from packaging.specifiers import SpecifierSet

from ..catalog import Fact, Origin, PythonRequirement
from ..readers.cmake import parse_cmake
from ..readers.pin_files import parse_commit_file, parse_version_file
from ..readers.pyproject import parse_pyproject
from ..readers.python_source import parse_assignment
from ..readers.requirements import parse_requirements
from ..recipe import Read, Recipe
from .checkout import Checkout


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by name, in the order of the recipe and of the files. ``missing`` names files that must be there
    and are not: a layout that no recipe knows."""

    by_name: dict[str, list[Fact]]
    missing: tuple[str, ...]

    def all(self, name: str) -> list[Fact]:
        return self.by_name.get(name, [])

    def one(self, name: str) -> Fact | None:
        """The last one: what stands later overrides."""
        found = self.all(name)
        return found[-1] if found else None

    def values(self, name: str) -> tuple[str, ...]:
        return tuple(fact.value for fact in self.all(name))

    def origin(self, name: str) -> Origin | None:
        found = self.all(name)
        return found[0].origin if found else None

    def requirements(self, name: str) -> tuple[PythonRequirement, ...]:
        return tuple(PythonRequirement(fact.value, fact.origin) for fact in self.all(name))


def applies(versions: str, version: str) -> bool:
    """Whether a layout is that of a release; a commit without a version may have any."""
    return not version or SpecifierSet(versions).contains(version, prereleases=True)


def read_facts(recipe: Recipe, checkout: Checkout, version: str = "", only: Iterable[str] = ()) -> Facts:
    """All facts that ``recipe`` names (or ``only`` some) at a commit of ``version``.

    Raises PIN_UNREADABLE for a file that is there and cannot be read.
    """
    wanted = set(only)
    by_name: dict[str, list[Fact]] = {}
    missing: list[str] = []
    for read in recipe.reads:
        if not applies(read.versions, version) or (wanted and read.fact not in wanted):
            continue
        found = checkout.first(read.paths)
        if found is None:
            missing += [read.paths[0]] if read.required else []
            continue
        facts = _read_file(read, checkout, *found)
        by_name.setdefault(read.fact, []).extend(facts)
    return Facts(by_name, tuple(missing))


def _read_file(read: Read, checkout: Checkout, path: str, text: str) -> Iterator[Fact]:
    if read.reader == "requirements":
        yield from _requirements(checkout, path, text, follow=read.fact == "requires-run", seen=set())
        return
    for value, line in _values(read, text, checkout.name_file(path)):
        yield Fact(value, Origin(checkout.where, path, line))


def _values(read: Read, text: str, file: str) -> Iterator[tuple[str, int]]:
    """(value, line from 1); ``file`` is how errors name it."""
    match read.reader:
        case "cmake":
            found = parse_cmake(text, file).set_once(read.name)
            if found:
                yield from zip(found.values, found.lines, strict=True)
        case "assignment":
            yield from ((found.value, found.line) for found in parse_assignment(text, file, read.name))
        case "pyproject-build":
            required = parse_pyproject(text, file).build or ()
            yield from ((str(each.requirement), each.line) for each in required)
        case "commit":
            reference = parse_commit_file(text, file)
            yield reference.value, reference.line
        case "version":
            stated = parse_version_file(text, file)
            yield stated.value, stated.line
        case "requirements":
            raise AssertionError(read.reader)  # they read further files: _requirements


def _requirements(
    checkout: Checkout, path: str, text: str, *, follow: bool, seen: set[str]
) -> Iterator[Fact]:
    """Included files first: where upstream includes, it does so at the top."""
    seen.add(path)
    parsed = parse_requirements(text, checkout.name_file(path))
    for include in parsed.includes if follow else ():
        inner = _normal(str(PurePosixPath(path).parent / include.path))
        inner_text = checkout.text(inner)
        if inner not in seen and inner_text is not None:
            yield from _requirements(checkout, inner, inner_text, follow=True, seen=seen)
    for line in parsed.lines:
        if line.requirement is not None:
            yield Fact(str(line.requirement), Origin(checkout.where, path, line.line))


def _normal(path: str) -> str:
    """``requirements/build/../common.txt`` without its dots; they never lead out of the tree."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/".join(parts)
