"""The lines of a Dockerfile as instructions: parser directives, comments, continuations, heredocs.

Source of the rules: the Dockerfile reference and BuildKit's line parser (frontend/dockerfile/parser).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from .source_text import check_text, refuse
from .variables import split_words

KEYWORDS = frozenset(
    [
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ]
)
_DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*$")
_DIRECTIVES = frozenset({"syntax", "escape", "check"})
_HEREDOC = re.compile(r"\d*<<(-?)([^<]+)")
_WITH_HEREDOCS = frozenset({"RUN", "COPY", "ADD"})


@dataclass(frozen=True, slots=True)
class LineText:
    """Text joined from several lines. ``marks`` are (offset, line): what follows the offset is of that
    line.
    """

    text: str
    marks: tuple[tuple[int, int], ...]

    def line_at(self, offset: int) -> int:
        """The line of the file, from 1, of a character offset in ``text``."""
        return self.marks[max(bisect_right(self.marks, (offset, 1 << 30)) - 1, 0)][1]


@dataclass(frozen=True, slots=True)
class Heredoc:
    """``name`` without quotes, and the body with its lines; ``line`` is the first line of the body."""

    name: str
    body: str
    line: int
    end: int
    """The line of the closing name."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """``keyword`` in capitals; ``body`` is what follows it, continuations joined, comments left out."""

    keyword: str
    body: LineText
    line: int
    end: int
    heredocs: tuple[Heredoc, ...] = ()


@dataclass(frozen=True, slots=True)
class DockerLines:
    """The instructions of one file; ``escape`` is its escape character."""

    instructions: tuple[Instruction, ...]
    escape: str


def parse_lines(text: str, path: str, *, extract: bool = False) -> DockerLines:
    """Split a Dockerfile into instructions.

    ``extract``: the text keeps only some lines of a file, each in its place, the others blank. Then a
    continuation ends at a keyword in the first column, and a line without a keyword belongs to a ``RUN``.
    """
    return _Lines(check_text(text, path), path, extract=extract).parse()


class _Lines:
    def __init__(self, text: str, path: str, *, extract: bool) -> None:
        # Only a newline ends a line: a form feed or U+2028 inside of one does not.
        self.lines = text.split("\n")
        self.path, self.extract = path, extract
        self.escape = "\\"

    def parse(self) -> DockerLines:
        at, found = self._directives(), list[Instruction]()
        while at < len(self.lines):
            if _is_comment(self.lines[at]) or not self.lines[at].strip():
                at += 1
                continue
            instruction, at = self._instruction(at)
            found.append(instruction)
        if not found:
            raise refuse(self.path, 0, "There is no instruction in it.")
        return DockerLines(tuple(found), self.escape)

    def _directives(self) -> int:
        """Read the directives at the top; the index of the first line behind them."""
        seen = set[str]()
        for index, line in enumerate(self.lines):
            found = _DIRECTIVE.match(line.strip())
            if not found or (name := found[1].lower()) not in _DIRECTIVES:
                return index
            if name in seen:
                raise refuse(self.path, index + 1, f"The directive {name} is given twice.")
            seen.add(name)
            if name == "escape":
                if found[2] not in ("\\", "`"):
                    raise refuse(self.path, index + 1, f"The escape character may not be {found[2]!r}.")
                self.escape = found[2]
        return len(self.lines)

    def _instruction(self, at: int) -> tuple[Instruction, int]:
        start = at
        pieces, marks, length = list[str](), list[tuple[int, int]](), 0
        while True:
            line, goes_on = self._continued(self.lines[at])
            line = line if pieces else line.lstrip()
            pieces.append(line)
            marks.append((length, at + 1))
            length += len(line)
            at += 1
            if not goes_on:
                break
            while at < len(self.lines) and (not self.lines[at].strip() or _is_comment(self.lines[at])):
                at += 1
            if at == len(self.lines) or (self.extract and _keyword_in(self.lines[at])):
                if not self.extract:
                    raise refuse(self.path, len(self.lines), "The file ends in the middle of an instruction.")
                break
        keyword, body = self._split(LineText("".join(pieces), tuple(marks)))
        heredocs, at = self._heredocs(keyword, body.text, at)
        return Instruction(keyword, body, start + 1, max(at, start + 1), heredocs), at

    def _continued(self, line: str) -> tuple[str, bool]:
        """The line without a continuation character at its end; a doubled one is none."""
        bare = line.rstrip(" \t\r")
        if bare.endswith(self.escape) and not bare.endswith(self.escape * 2):
            return bare[:-1], True
        return line, False

    def _split(self, whole: LineText) -> tuple[str, LineText]:
        found = re.match(r"(\S+)\s*", whole.text)
        keyword = found[1].upper() if found else ""
        if found and keyword in KEYWORDS:
            rest = whole.text[found.end() :]
            marks = tuple((max(offset - found.end(), 0), line) for offset, line in whole.marks)
            # Lines that only held the keyword have no text left: the last mark at one offset counts.
            return keyword, LineText(rest, tuple(dict(marks).items()))
        if self.extract:
            return "RUN", whole
        if whole.text[:1] in "&|;":
            sentence = f"A line begins with {whole.text[:2]!r}, but the line before it does not go on."
        else:
            sentence = f"{keyword[:40]!r} is no instruction of a Dockerfile."
        raise refuse(self.path, whole.marks[0][1], sentence)

    def _heredocs(self, keyword: str, body: str, at: int) -> tuple[tuple[Heredoc, ...], int]:
        found = list[Heredoc]()
        if keyword not in _WITH_HEREDOCS or "<<" not in body:
            return (), at
        for word in split_words(body, self.escape):
            match = _HEREDOC.fullmatch(word)
            name = match[2].replace('"', "").replace("'", "") if match else ""
            if not match or not name:
                continue
            first = at
            while at < len(self.lines) and _chomped(self.lines[at], chomp=bool(match[1])) != name:
                at += 1
            if at == len(self.lines):
                raise refuse(self.path, first, f"The heredoc {name} is not closed.")
            lines = [_chomped(line, chomp=bool(match[1])) for line in self.lines[first:at]]
            found.append(Heredoc(name, "".join(line + "\n" for line in lines), first + 1, at + 1))
            at += 1
        return tuple(found), at


def _chomped(line: str, *, chomp: bool) -> str:
    return line.lstrip("\t") if chomp else line


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _keyword_in(line: str) -> bool:
    return bool(line) and not line[0].isspace() and line.split(maxsplit=1)[0].upper() in KEYWORDS
