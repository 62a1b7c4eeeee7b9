"""Local folders: what their pyproject.toml says of name, version and requirements. Executes nothing."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SOURCE_INVALID, Place, Problem, RocmlockError
from .sdists import parse_build_requires, parse_lines, parse_table


@dataclass(frozen=True, slots=True)
class LocalProject:
    """``version`` is empty where the project computes it."""

    distribution: str
    version: str
    build: tuple[str, ...]
    run: tuple[str, ...]


def read_local_project(folder: Path, package: str) -> LocalProject:
    """The project in ``folder``. Raises SOURCE_INVALID where it is not one that can be built."""
    file = folder / "pyproject.toml"
    try:
        text = file.read_text(encoding="utf-8")
        document: dict[str, Any] = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        raise RocmlockError(
            SOURCE_INVALID,
            f"{package}: there is no pyproject.toml in {folder}.",
            hint="Point path at the folder of a Python project (PEP 517).",
        ) from None
    except tomllib.TOMLDecodeError as error:
        problems = [Problem(str(error), Place(str(file)))]
        raise RocmlockError(SOURCE_INVALID, f"{file} is not TOML.", problems=problems) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RocmlockError(SOURCE_INVALID, f"{file} cannot be read: {error}.") from None
    project = parse_table(document, "project", str(file))
    return LocalProject(
        distribution=str(project.get("name", package)),
        version=str(project.get("version", "")),
        build=parse_build_requires(text, str(file)),
        run=parse_lines(document, "project", "dependencies", str(file)),
    )
