"""A lock laid out for tables and JSON. Pure."""

from __future__ import annotations

from typing import Any

from attrs import asdict

from ..lockfile.model import Lock
from .words import source_words, why_words


def package_rows(lock: Lock) -> list[tuple[str, str, str, str]]:
    """(package, version, source, why) of each package."""
    return [
        (package.name, package.version or "?", source_words(package), why_words(package, lock))
        for package in lock.packages
    ]


def describe_lock(lock: Lock) -> dict[str, Any]:
    """The lock for ``--json``: targets, packages with their reasons, wheels, warnings."""
    packages = [
        {
            "name": package.name,
            "version": package.version,
            "source": asdict(package.source),
            "picks": list(package.picks),
            "gfx": list(package.gfx),
            "reasons": [asdict(reason) for reason in package.reasons],
        }
        for package in lock.packages
    ]
    return {
        "name": lock.name,
        "targets": [asdict(target) for target in lock.targets],
        "packages": packages,
        "wheels": [wheel.id for wheel in lock.wheels],
        "warnings": [asdict(warning) for warning in lock.warnings],
    }
