"""What every reader does first: refuse text that is no upstream file, and say why with file and line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import PIN_UNREADABLE, Place, Problem, RocmlockError

MAX_TEXT = 2 << 20
"""Characters. The largest pin file known (a compatibility matrix) has 30 thousand."""

# A line of seven equals signs is left out: it also underlines a heading.
_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)
_HTML = re.compile(r"\s*(?:<!doctype\s+html|<html\b|<\?xml\b|<head\b)", re.IGNORECASE)
_LFS = "version https://git-lfs.github.com/spec/"
_HEX = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Stated:
    """A value with the line (from 1) on which the file states it, and the comment behind it, if any."""

    value: str
    line: int
    comment: str = ""


def refuse(path: str, line: int, sentence: str, *, column: int = 0, hint: str = "") -> RocmlockError:
    """The error for a file that cannot be read; ``sentence`` says what is wrong at that place."""
    problem = Problem(sentence, Place(path, line, column), hint)
    return RocmlockError(PIN_UNREADABLE, f"{path} cannot be read for its pins.", problems=[problem])


def check_text(text: str, path: str) -> str:
    """The text with ``\\n`` line ends and no byte order mark.

    Refused: NUL bytes, a web page, a Git LFS pointer, conflict markers, nothing at all, too much.
    """
    if len(text) > MAX_TEXT:
        raise refuse(path, 0, f"The file has {len(text)} characters; no pin file is that large.")
    if (at := text.find("\0")) >= 0:
        raise refuse(path, line_of(text, at), "There is a NUL byte: this is no text file.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.strip():
        raise refuse(path, 0, "The file is empty.")
    if _HTML.match(text):
        raise refuse(path, 1, "This is a web page, not the file.")
    if text.startswith(_LFS):
        raise refuse(path, 1, "This is a Git LFS pointer, not the file.")
    if mark := _CONFLICT.search(text):
        raise refuse(path, line_of(text, mark.start()), "There is a merge-conflict marker.")
    return text


def line_of(text: str, offset: int) -> int:
    """The line, from 1, of a character offset."""
    return text.count("\n", 0, offset) + 1


def line_finder(text: str) -> Callable[[int], int]:
    """As :func:`line_of`, for many offsets of one text."""
    ends = [found.start() for found in re.finditer("\n", text)]
    return lambda offset: bisect_left(ends, offset) + 1


def is_placeholder(digest: str) -> bool:
    """Whether a hexadecimal digest is one that nobody computed: one digit over and over, or ``deadbeef``…

    Upstream writes such hashes for files that are not published yet.
    """
    digest = digest.lower()
    if len(digest) < 8 or not _HEX.fullmatch(digest):
        return False
    words = ("deadbeef", "0123456789abcdef", "cafebabe")
    return len(set(digest)) == 1 or any((word * 8).startswith(digest) for word in words)


def check_digest(digest: str, length: int, path: str, line: int, *, what: str) -> str:
    """A lower-case hexadecimal digest of ``length`` digits that is no placeholder; else refused."""
    lower = digest.lower()
    if len(lower) != length or not _HEX.fullmatch(lower):
        raise refuse(path, line, f"{what} is no hash of {length} hexadecimal digits: {digest!r}.")
    if is_placeholder(lower):
        raise refuse(
            path, line, f"{what} is a placeholder: {digest}; the file it stands for is not published."
        )
    return lower
