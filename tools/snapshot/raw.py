"""Line numbers of facts in upstream files: the extracts that are read keep true line numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement

from rocmlock.resolver.readers.actions import find_actions
from rocmlock.resolver.readers.cmake import parse_cmake
from rocmlock.resolver.readers.dockerfile import Dockerfile, parse_dockerfile
from rocmlock.resolver.readers.pin_files import parse_reference
from rocmlock.resolver.readers.pyproject import parse_pyproject
from rocmlock.resolver.readers.requirements import parse_requirements


@cache
def _read_dockerfile(file: Path) -> Dockerfile:
    """Kept, as a line is asked for each ARG."""
    return parse_dockerfile(file.read_text(encoding="utf-8"), str(file), extract=True)


@dataclass(frozen=True, slots=True)
class RawFiles:
    """The stored files of one release; ``folder`` may not exist, then nothing is known of any line.

    Each line counts from 1, and is 0 where the file is not stored or does not say the fact.
    """

    folder: Path

    def has(self, path: str) -> bool:
        return (self.folder / path).is_file()

    def _text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def _dockerfile(self, path: str) -> Dockerfile | None:
        return _read_dockerfile(self.folder / path) if self.has(path) else None

    def find_arg(self, path: str, name: str, value: str) -> int:
        """The line of the ARG that gives ``name`` its ``value``: the last one with any, as it overrides."""
        dockerfile = self._dockerfile(path)
        found = dockerfile.args().get(name) if dockerfile else None
        if found is None:
            return 0
        if found.raw != value:
            raise SystemExit(f"{self.folder}/{path}:{found.line}: {name} is not {value}, as the data says")
        return found.line

    def find_set(self, name: str) -> int:
        """The line of the first ``set`` of a variable in CMakeLists.txt."""
        if not self.has("CMakeLists.txt"):
            return 0
        file = parse_cmake(self._text("CMakeLists.txt"), f"{self.folder}/CMakeLists.txt", extract=True)
        return next((found.line for found in file.sets(name)), 0)

    def find_requirement(self, path: str, name: str) -> int:
        """The first line of a requirement file that names a package."""
        if not self.has(path):
            return 0
        found = parse_requirements(self._text(path), f"{self.folder}/{path}").named(name)
        return found[0].line if found else 0

    def find_build_requirement(self, text: str) -> int:
        """The line of a build requirement in pyproject.toml."""
        if not self.has("pyproject.toml"):
            return 0
        project = parse_pyproject(self._text("pyproject.toml"), f"{self.folder}/pyproject.toml")
        lines = (one.line for one in project.build or () if one.requirement == Requirement(text))
        return next(lines, 0)

    def requirements(self, path: str, *, follow: bool) -> dict[str, list[str]]:
        """By file "line text" of each requirement, normalised; ``follow`` reads what ``-r`` includes, too."""
        if not self.has(path):
            return {}
        read = parse_requirements(self._text(path), f"{self.folder}/{path}")
        found: dict[str, list[str]] = {}
        for include in read.includes if follow else ():
            found |= self.requirements((Path(path).parent / include.path).as_posix(), follow=True)
        if read.lines:
            found[path] = [f"{one.line} {one.text}" for one in read.lines]
        return found

    def picks(self, path: str) -> list[tuple[str, str, int]]:
        """(stage, short commit, line) of each ``git cherry-pick`` in a Dockerfile's RUN lines."""
        return self._commits(path, "cherry-pick")

    def checkouts(self, path: str) -> list[tuple[str, str, int]]:
        """(stage, commit, line) of each ``git checkout`` of a commit that is written there and no ARG."""
        return self._commits(path, "checkout")

    def _commits(self, path: str, kind: str) -> list[tuple[str, str, int]]:
        dockerfile = self._dockerfile(path)
        return [
            (action.stage, ref.text, action.line)
            for action in (find_actions(dockerfile, extract=True) if dockerfile else ())
            for ref in action.refs
            if action.kind == kind
            and not ref.variables
            and parse_reference(ref.text, path, action.line).kind != "name"
        ]
