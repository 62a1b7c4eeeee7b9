"""Clang's offload bundles: the container of GPU code in a host binary. Pure; trusts nothing it reads.

Layout of a plain bundle (little endian): the magic, a 64-bit count, then for each entry a 64-bit offset from
the bundle's start, a 64-bit size and a 64-bit length of the entry's ID, and the ID
(``hipv4-amdgcn-amd-amdhsa--gfx942:xnack-``). Several bundles may follow each other in a section.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..gfx import normalise_held, target_of_elf_flags

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
EM_AMDGPU = 224
HEADER_SIZE = 64  # of a 64-bit ELF file: all that is read of a code object
_MAX_ENTRIES = 4096  # far more than there are targets; a count beyond it is damage
_MAX_ID = 1024
# EI_ABIVERSION of code object v4. Earlier ones lay out the feature bits of e_flags in another way.
_ABI_V4 = 2


class BundleError(ValueError):
    """The bytes are no whole bundle, or one that cannot be read yet: what it holds is unknown, not empty."""


@dataclass(frozen=True, slots=True)
class CodeObject:
    """GPU code for one target ID, ``size`` bytes long."""

    target: str
    size: int


def parse_bundles(data: bytes | memoryview) -> list[CodeObject]:
    """The device entries of all bundles in a section's bytes.

    Raises BundleError for anything between or in the bundles that cannot be read.
    """
    found: list[CodeObject] = []
    position = _skip_padding(data, 0)
    while position < len(data):
        if data[position : position + len(COMPRESSED)] == COMPRESSED:
            raise BundleError("a compressed bundle, which cannot be read yet")
        if data[position : position + len(MAGIC)] != MAGIC:
            raise BundleError(f"no bundle at offset {position}")
        entries, end = _parse_bundle(data, position)
        found += entries
        position = _skip_padding(data, end)
    return found


def _skip_padding(data: bytes | memoryview, position: int) -> int:
    """Bundles are aligned to pages; between them are zeros."""
    while position < len(data):
        block = bytes(data[position : position + 4096])
        rest = block.lstrip(b"\0")
        if rest:
            return position + len(block) - len(rest)
        position += len(block)
    return position


def _parse_bundle(data: bytes | memoryview, start: int) -> tuple[list[CodeObject], int]:
    """The device entries of the bundle at ``start``, and where it ends."""
    found: list[CodeObject] = []
    spans: list[tuple[int, int]] = []
    table, head = _parse_table(data, start)
    for name, first, size in table:
        if first + size > len(data):
            raise BundleError(f"{name} reaches beyond the end of its section")
        target = parse_entry_id(name)
        if size:
            spans.append((first, first + size))
            if target is not None:
                found.append(CodeObject(check_target(data[first : first + size], target), size))
    end = head
    for first, last in sorted(spans):
        if first < end:
            raise BundleError(f"entries of a bundle overlap at offset {first}")
        end = last
    return found, end


def _parse_table(data: bytes | memoryview, start: int) -> tuple[list[tuple[str, int, int]], int]:
    """(ID, position, size) of each entry of the bundle at ``start``, and where its table ends."""
    position = start + len(MAGIC)
    (count,) = _unpack("<Q", data, position)
    if count > _MAX_ENTRIES:
        raise BundleError(f"a bundle says that it has {count} entries")
    position += 8
    table: list[tuple[str, int, int]] = []
    for _ in range(count):
        offset, size, length = _unpack("<QQQ", data, position)
        position += 24
        if length > _MAX_ID or position + length > len(data):
            raise BundleError("a bundle's entry names itself beyond the end")
        name = bytes(data[position : position + length])
        if not name.isascii() or not name.decode().isprintable():  # it is going to stand in messages
            raise BundleError(f"a bundle's entry has the ID {name[:64]!r}")
        table.append((name.decode(), start + offset, size))
        position += length
    return table, position


def _unpack(layout: str, data: bytes | memoryview, position: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(layout, data, position)
    except struct.error:
        raise BundleError("a bundle ends in its header") from None


def parse_entry_id(name: str) -> str | None:
    """The target ID of a device entry (``hipv4-amdgcn-amd-amdhsa--gfx942``); None for the host's entry."""
    kind, _, triple = name.partition("-")
    if kind == "host":
        return None
    if kind not in {"hip", "hipv4"}:
        raise BundleError(f"an entry of unknown kind {name!r}")
    # The target ID follows the triple's four parts; the fourth (environment) is empty and leaves "--".
    target = triple.split("--", 1)[1] if "--" in triple else triple.split("-", 4)[-1]
    try:
        return normalise_held(target)
    except ValueError as error:
        raise BundleError(f"{name}: {error}") from None


def check_target(code: bytes | memoryview, target: str) -> str:
    """``target``, when the ELF flags of ``code`` say the same, features included. BundleError when not."""
    held = target_of_code(code)
    if held != target:
        raise BundleError(f"code that is called {target} is {held} by its ELF flags")
    return target


def target_of_code(code: bytes | memoryview) -> str:
    """The target ID that a code object's own ELF header (its first HEADER_SIZE bytes) names."""
    if bytes(code[:5]) != b"\x7fELF\x02" or len(code) < HEADER_SIZE:
        raise BundleError("a code object is no 64-bit ELF file")
    machine, flags = struct.unpack_from("<H", code, 18)[0], struct.unpack_from("<I", code, 48)[0]
    if machine != EM_AMDGPU:
        raise BundleError(f"a code object is for ELF machine {machine}, not for an AMD GPU")
    if code[8] < _ABI_V4:
        raise BundleError("a code object is older than version 4: its features are not told")
    target = target_of_elf_flags(flags)
    if target is None:
        raise BundleError(f"a code object has ELF flags {flags:#x}, whose target is not known")
    return target
