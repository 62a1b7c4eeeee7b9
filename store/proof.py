"""Proof of arch: the GPU code that a built wheel holds, compared with what the lock asks for."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ..doctor.codeobjects import diff_targets, find_elf_files, read_code_objects
from ..errors import OUTPUT_INVALID, PROOF_FAILED, RocmlockError
from ..lockfile.model import Check, Package


def read_proof(wheel: Path, scratch: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """GPU targets by file of ``wheel``, and the files whose GPU code could not be read, with the reason."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch)  # zipfile strips roots and ".."; scratch is ours alone
    except (zipfile.BadZipFile, OSError) as error:
        raise RocmlockError(OUTPUT_INVALID, f"{wheel.name} is not a whole wheel: {error}.") from None
    held: dict[str, list[str]] = {}
    opaque: dict[str, str] = {}
    for file in find_elf_files(scratch):
        name = file.relative_to(scratch).as_posix()
        found = read_code_objects(file)
        if found.unreadable:
            opaque[name] = found.unreadable
        if found.targets:
            held[name] = list(found.targets)
    return held, opaque


def find_violations(
    package: Package, held: Mapping[str, Sequence[str]], opaque: Mapping[str, str]
) -> Iterator[str]:
    """A sentence for each way in which the output is not what the package's checks ask for. Pure."""
    for check in package.checks:
        files = {name: held[name] for name in held if _matches(name, check)}
        for name, why in opaque.items():
            if _matches(name, check):
                yield f"{name}: its GPU code cannot be read ({why}), so nothing is proven"
        if check.match != "none" and not files:
            yield f"no file among {', '.join(check.paths)} holds GPU code: a build for the CPU alone"
        for name, targets in sorted(files.items()):
            missing, extra = diff_targets(targets, package.gfx, check.match)
            if missing or extra:
                faults = f"{_list(' lacks ', missing)}{_list(' must not hold ', extra)}"
                yield f"{name} holds {', '.join(targets)}{faults}"


def _matches(name: str, check: Check) -> bool:
    return any(pattern == "**" or fnmatchcase(name, pattern) for pattern in check.paths)


def _list(words: str, targets: Sequence[str]) -> str:
    return f";{words}{', '.join(targets)}" if targets else ""


def require_proof(
    package: Package, held: Mapping[str, Sequence[str]], opaque: Mapping[str, str], log: str
) -> None:
    """Raises PROOF_FAILED with which file holds what."""
    violations = list(find_violations(package, held, opaque))
    if violations:
        raise RocmlockError(
            PROOF_FAILED,
            f"{package.name} was built, but not for {', '.join(package.gfx)}.",
            context=[*violations, f"log: {log}"],
        )
