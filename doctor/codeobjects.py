"""GPU code in files: which targets a binary holds, read from its structure. A text "gfx942" is no code."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from ..errors import FILE_UNREADABLE, RocmlockError
from ..gfx import normalise, normalise_held, sort_targets
from .bundles import COMPRESSED, EM_AMDGPU, HEADER_SIZE, MAGIC, BundleError, parse_bundles, target_of_code

_ELF = b"\x7fELF"
_FATBIN = ".hip_fatbin"
# Where objects keep device code that is linked later (-fgpu-rdc, by either driver of clang): bitcode mostly.
_UNLINKED = (MAGIC.decode() + "hip", ".llvm.offloading")
_MAX_SECTIONS = 1 << 17  # more than any object with a section a function; a count beyond it is damage


@dataclass(frozen=True, slots=True)
class CodeObjects:
    """``targets`` are sorted target IDs, each once. ``unreadable`` says why a part could not be read: then
    what the file holds is not known, whatever ``targets`` says."""

    targets: tuple[str, ...]
    unreadable: str = ""


def find_elf_files(root: Path) -> list[Path]:
    """Files below ``root`` that may hold GPU code, by their first bytes, sorted. Follows no links.

    Raises FILE_UNREADABLE for a folder or file that cannot be looked at.
    """
    found: list[Path] = []
    for folder, _, names in os.walk(root, onerror=_refuse_folder):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink() and path.is_file() and _may_hold_code(path):
                found.append(path)
    return sorted(found)


def _may_hold_code(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except OSError as error:
        _refuse(path, error)
    return head.startswith((_ELF, MAGIC, COMPRESSED))


def _refuse(path: Path, error: OSError) -> NoReturn:
    raise RocmlockError(FILE_UNREADABLE, f"{path} cannot be read: {error.strerror}.") from None


def _refuse_folder(error: OSError) -> NoReturn:
    _refuse(Path(error.filename), error)


def read_code_objects(path: Path) -> CodeObjects:
    """What ``path`` holds: an ELF file with fat binaries, a loose bundle, or a loose code object.

    Raises FILE_UNREADABLE. The file is mapped, not read: of code objects only headers are looked at.
    """
    try:
        if path.stat().st_size == 0:
            return CodeObjects(())
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return CodeObjects(sort_targets(set(_targets(path, data))))
            except BundleError as error:
                return CodeObjects((), str(error))
    except OSError as error:
        _refuse(path, error)


def _targets(path: Path, data: mmap.mmap) -> list[str]:
    if data[:4] != _ELF:
        with memoryview(data) as view:
            return [entry.target for entry in parse_bundles(view)]
    if int.from_bytes(data[18:20], "little") == EM_AMDGPU:
        return [target_of_code(data[:HEADER_SIZE])]
    found: list[str] = []
    for offset, size in _fatbin_sections(path):
        if offset + size > len(data):
            raise BundleError(f"section {_FATBIN} reaches beyond the end of the file")
        with memoryview(data) as view, view[offset : offset + size] as section:
            found += [entry.target for entry in parse_bundles(section)]
    return found


def _fatbin_sections(path: Path) -> list[tuple[int, int]]:
    """(offset, size) of the sections that hold fat binaries."""
    sections = _read_sections(path)
    if not sections:
        raise BundleError("it has no section table, so its parts cannot be told apart")
    if len(sections) > _MAX_SECTIONS:
        raise BundleError(f"it has more than {_MAX_SECTIONS} sections")
    for section in sections:
        if section.name.startswith(_UNLINKED):
            raise BundleError(f"section {section.name!r} holds GPU code that is not linked yet")
    # Debug information split off (objcopy --only-keep-debug) keeps a section's name without its bytes.
    return [(s.offset, s.size) for s in sections if s.name == _FATBIN and s.kind != "SHT_NOBITS"]


class _Section(NamedTuple):
    name: str
    kind: str | int  # a number where pyelftools knows no name
    offset: int
    size: int


def _read_sections(path: Path) -> list[_Section]:
    """The section table, up to one more than _MAX_SECTIONS. Raises BundleError."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        try:
            return [
                _Section(section.name, section["sh_type"], section["sh_offset"], section["sh_size"])
                for section in islice(ELFFile(file).iter_sections(), _MAX_SECTIONS + 1)
            ]
        # OSError: a header that sends the reader to a place that no file can have.
        except (ELFError, OSError, UnicodeDecodeError, ValueError, KeyError, OverflowError) as error:
            raise BundleError(f"its ELF structure cannot be read: {error}") from None


def diff_targets(
    held: Sequence[str], wanted: Sequence[str], match: Literal["equal", "contains", "none"]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(missing, extra) of ``held`` against ``wanted``. Pure.

    ``equal``: exactly the wanted targets; ``contains``: at least them; ``none``: no GPU code at all.
    """
    have, want = {normalise_held(target) for target in held}, {normalise(target) for target in wanted}
    if match == "none":
        return (), sort_targets(have)
    missing = sort_targets(want - have)
    return missing, sort_targets(have - want) if match == "equal" else ()
