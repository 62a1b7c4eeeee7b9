"""Which file of a wheel a target takes: the one whose tags rank first on its platform. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

# Names that manylinux had before PEP 600, by the minor version of glibc that they stand for.
_LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def parse_platform(platform: str) -> tuple[int, str]:
    """(minor version of glibc 2, architecture) of ``manylinux_2_34_x86_64``."""
    _, _, minor, architecture = platform.split("_", 3)
    return int(minor), architecture


def platforms(platform: str) -> list[str]:
    """Platform tags that run on a system of ``platform``, the best first."""
    newest, architecture = parse_platform(platform)
    found: list[str] = []
    for minor in range(newest, 4, -1):
        found.append(f"manylinux_2_{minor}_{architecture}")
        if minor in _LEGACY:
            found.append(f"{_LEGACY[minor]}_{architecture}")
    return [*found, f"linux_{architecture}"]


@cache
def _ranks(python: str, platform: str) -> dict[Tag, int]:
    version = tuple(int(part) for part in python.split("."))
    names = platforms(platform)
    interpreter = f"cp{python.replace('.', '')}"
    tags = [
        *cpython_tags(version, [interpreter], names),
        *compatible_tags(version, interpreter, names),
    ]
    return {tag: rank for rank, tag in reversed(list(enumerate(tags)))}


def choose_wheel(files: Iterable[str], python: str, platform: str) -> str | None:
    """The file name that fits best; None where none fits. Ties go to the first name in the alphabet."""
    ranks = _ranks(python, platform)
    ranked = [
        (min(rank), file)
        for file in files
        if (rank := [ranks[tag] for tag in parse_wheel_filename(file)[3] if tag in ranks])
    ]
    return min(ranked)[1] if ranked else None
