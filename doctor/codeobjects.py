"""GPU code in files: which targets a binary holds, read from its structure. A text "gfx942" is no code."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..gfx import normalise, sort_targets
from .bundles import COMPRESSED, MAGIC, BundleError, parse_bundles, target_of_code

_ELF = b"\x7fELF"
_FATBIN = ".hip_fatbin"


@dataclass(frozen=True, slots=True)
class CodeObjects:
    """``targets`` are sorted target IDs, each once. ``unreadable`` says why a part could not be read: then
    what the file holds is not known, whatever ``targets`` says."""

    targets: tuple[str, ...]
    unreadable: str = ""


def find_elf_files(root: Path) -> list[Path]:
    """Files below ``root`` that may hold GPU code, by their first bytes, sorted. Follows no links."""
    found: list[Path] = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink() and path.is_file() and _may_hold_code(path):
                found.append(path)
    return sorted(found)


def _may_hold_code(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    return head.startswith((_ELF, MAGIC, COMPRESSED))


def read_code_objects(path: Path) -> CodeObjects:
    """What ``path`` holds: an ELF file with fat binaries, a loose bundle, or a loose code object."""
    if path.stat().st_size == 0:
        return CodeObjects(())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return CodeObjects(sort_targets(set(_targets(path, data))))
        except BundleError as error:
            return CodeObjects((), str(error))


def _targets(path: Path, data: mmap.mmap) -> list[str]:
    if data[:4] != _ELF:
        with memoryview(data) as view:
            return [entry.target for entry in parse_bundles(view)]
    if int.from_bytes(data[18:20], "little") == 224:
        return [target_of_code(data[:64])]
    found: list[str] = []
    for offset, size in _fatbin_sections(path):
        if offset + size > len(data):
            raise BundleError(f"section {_FATBIN} reaches beyond the end of the file")
        with memoryview(data) as view, view[offset : offset + size] as section:
            found += [entry.target for entry in parse_bundles(section)]
    return found


def _fatbin_sections(path: Path) -> list[tuple[int, int]]:
    """(offset, size) of the sections that hold fat binaries."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        try:
            sections = [section for section in ELFFile(file).iter_sections() if section.name == _FATBIN]
            return [(section["sh_offset"], section["sh_size"]) for section in sections]
        except (ELFError, UnicodeDecodeError, ValueError, KeyError, OverflowError) as error:
            raise BundleError(f"its ELF structure cannot be read: {error}") from None


def diff_targets(
    held: Sequence[str], wanted: Sequence[str], match: Literal["equal", "contains", "none"]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(missing, extra) of ``held`` against ``wanted``. Pure.

    ``equal``: exactly the wanted targets; ``contains``: at least them; ``none``: no GPU code at all.
    """
    have, want = {normalise(target) for target in held}, {normalise(target) for target in wanted}
    if match == "none":
        return (), sort_targets(have)
    missing = sort_targets(want - have)
    return missing, sort_targets(have - want) if match == "equal" else ()
