"""ROCm's compatibility matrix (``compatibility-matrix-historical-6.0.csv``): a column for each release."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .source_text import Stated, check_text, refuse

_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_FOOTNOTE = re.compile(r"\[#[^\]]*\]_?")
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")
_FRAMEWORK = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class MatrixRelease:
    """One release. Values keep their order in the file; ``systems`` are as printed (``Ubuntu 24.04.3``)."""

    version: str
    gfx: tuple[Stated, ...]
    pytorch: tuple[Stated, ...]
    systems: tuple[Stated, ...]
    hip: Stated | None
    llvm: Stated | None


_Column = dict[str, list[Stated]]


def parse_matrix(text: str, path: str) -> tuple[MatrixRelease, ...]:
    """The releases from left to right; a column of two (``7.0.1/7.0.0``) becomes two.

    Raises PIN_UNREADABLE for another layout: a missing header, GPU or PyTorch row, a row with too few
    columns.
    """
    rows = list(_rows(check_text(text, path), path))
    if not rows or _plain(rows[0][1][0]) != "ROCm Version":
        raise refuse(path, 1, "The first row is not that of the ROCm versions.")
    versions = [_releases(cell, path) for cell in rows[0][1][1:]]
    columns: list[_Column] = [{} for _ in versions]
    section = ""
    for line, cells in rows[1:]:
        if len(cells) != len(rows[0][1]):
            raise refuse(
                path, line, f"There are {len(cells)} columns where the first row has {len(rows[0][1])}."
            )
        section = _title(cells[0]) or section
        # A heading has a link target where the values stand, and nothing else.
        if cells[1].strip().startswith(".. _"):
            continue
        for column, cell in zip(columns, cells[1:], strict=True):
            _take(column, section, Stated(_FOOTNOTE.sub("", cell).strip(), line), path)
    for name, what in (("gfx", "GPU targets"), ("pytorch", "PyTorch versions")):
        if not any(name in column for column in columns):
            raise refuse(path, 0, f"There is no row of {what}.")
    return tuple(
        _release(version, column) for held, column in zip(versions, columns, strict=True) for version in held
    )


def _release(version: str, column: _Column) -> MatrixRelease:
    gfx, pytorch, systems = (tuple(column.get(name, ())) for name in ("gfx", "pytorch", "systems"))
    hip, llvm = (next(iter(column.get(name, ())), None) for name in ("hip", "llvm"))
    return MatrixRelease(version, gfx, pytorch, systems, hip, llvm)


def _rows(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells); a quoted cell may go over several lines, the row counts by its first."""
    reader, line = csv.reader(text.split("\n"), strict=True), 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise refuse(path, line, f"This is no CSV: {error}.") from None


def _releases(cell: str, path: str) -> list[str]:
    versions = [part.strip() for part in cell.split("/")]
    if not all(_RELEASE.fullmatch(version) for version in versions):
        raise refuse(path, 1, f"{cell!r} is no ROCm version.")
    return versions


def _plain(cell: str) -> str:
    return re.sub(
        r"`([^`<]*?)\s*(?:<[^>]*>)?`_?", r"\1", re.sub(r":\w+:", "", _FOOTNOTE.sub("", cell))
    ).strip()


def _title(cell: str) -> str:
    plain = _plain(cell)
    names = {"GPU / LLVM target": "gfx", "PyTorch": "pytorch", "HIP": "hip", "llvm-project": "llvm"}
    return names.get(plain, "systems" if plain.startswith("Operating systems") else plain)


def _take(column: _Column, section: str, cell: Stated, path: str) -> None:
    if not cell.value or cell.value == "N/A":
        return
    values = [part.strip() for part in cell.value.split(",")] if section == "pytorch" else [cell.value]
    pattern = {"gfx": _GFX, "pytorch": _FRAMEWORK}.get(section)
    for value in values:
        if pattern and not pattern.fullmatch(value):
            what = "GPU target" if section == "gfx" else "version of PyTorch"
            raise refuse(path, cell.line, f"{value!r} is no {what}.")
        column.setdefault(section, []).append(Stated(value, cell.line))
