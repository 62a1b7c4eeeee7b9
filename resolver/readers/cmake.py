"""CMake files by CMake's own grammar: commands with their arguments, lines and depth.

Source of the rules: cmake-language(7), "Syntax". Nothing is evaluated but ``set`` of plain values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import RocmlockError
from .source_text import check_text, line_finder, refuse

_SPACE = re.compile(r"(?:[ \t\r\n]+|#\[(?P<eq>=*)\[.*?\](?P=eq)\]|#(?!\[=*\[)[^\n]*)+", re.DOTALL)
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(")
_BRACKET = re.compile(r"\[(?P<eq>=*)\[\n?(?P<text>.*?)\](?P=eq)\]", re.DOTALL)
_BRACKET_OPEN = re.compile(r"\[=*\[")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
# An unquoted argument; the legacy form may hold quoted pieces: -DX="a b".
_UNQUOTED = re.compile(r'(?:[^\s()#"\\]|\\.)(?:[^\s()#"\\]|\\.|"(?:[^"\\\n]|\\.)*")*', re.DOTALL)
_OPEN = frozenset({"if", "foreach", "while", "function", "macro", "block"})
_REFERENCE = re.compile(r"\$\{([A-Za-z0-9_./+-]+)\}")
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n"}
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Argument:
    """``text`` is without quotes or brackets, escapes decoded, variables as written."""

    text: str
    line: int
    kind: str
    """``quoted``, ``bracket``, ``unquoted``, or ``paren`` for a parenthesis inside of a command."""


@dataclass(frozen=True, slots=True)
class CMakeCommand:
    """``name`` in lower case; ``depth`` counts the blocks around it: if, foreach, function…"""

    name: str
    arguments: tuple[Argument, ...]
    line: int
    depth: int


@dataclass(frozen=True, slots=True)
class SetValue:
    """One ``set(NAME values…)``: lists are split at semicolons, variables stay as written."""

    name: str
    values: tuple[str, ...]
    lines: tuple[int, ...]
    """The line of each value."""
    line: int
    depth: int


@dataclass(frozen=True, slots=True)
class CMakeFile:
    """The commands of one file in its order."""

    path: str
    commands: tuple[CMakeCommand, ...]

    def called(self, *names: str) -> Iterator[CMakeCommand]:
        """The commands of these names."""
        return (command for command in self.commands if command.name in names)

    def sets(self, name: str) -> list[SetValue]:
        """Every ``set`` of a variable. More than one: which counts depends on the configuration."""
        return [made for command in self.called("set") if (made := _set(command)) and made.name == name]

    def set_once(self, name: str) -> SetValue | None:
        """The one ``set`` of a variable outside of any function, loop or condition; None where it is not set.

        Raises PIN_UNREADABLE where it is set more than once, or only under a condition.
        """
        found = self.sets(name)
        if not found:
            return None
        if len({one.values for one in found}) > 1:
            places = " and ".join(str(one.line) for one in found)
            raise refuse(self.path, found[1].line, f"{name} is set to different values in lines {places}.")
        return found[0]

    def resolve(self, text: str, before: int) -> str:
        """``text`` with the variables that plain ``set`` commands before line ``before`` give one value.

        Others stay as written, so ``${`` in the answer means that it is not known.
        """
        for _ in range(_MAX_DEPTH):
            replaced = _REFERENCE.sub(lambda found: self._value(found[1], before, found[0]), text)
            if replaced == text or len(replaced) > 1 << 16:
                break
            text = replaced
        return text

    def _value(self, name: str, before: int, otherwise: str) -> str:
        held = {one.values for one in self.sets(name) if one.line < before}
        return ";".join(held.pop()) if len(held) == 1 else otherwise


def parse_cmake(text: str, path: str, *, extract: bool = False) -> CMakeFile:
    """Read a CMake file. Raises PIN_UNREADABLE with file, line and column.

    ``extract``: only some lines of the file are kept, so blocks may be open at the end or closed without
    opening.
    """
    text = check_text(text, path)
    lexer, commands, blocks = _Lexer(text, path), list[CMakeCommand](), list[tuple[str, int]]()
    while (found := lexer.command()) is not None:
        name, line, arguments = found
        if name.startswith("end") and name[3:] in _OPEN:
            if blocks and blocks[-1][0] == name[3:]:
                blocks.pop()
            elif not extract:
                raise refuse(path, line, f"{name}() closes nothing.")
        depth = len(blocks) - (name in ("else", "elseif") and bool(blocks))
        commands.append(CMakeCommand(name, arguments, line, depth))
        if name in _OPEN:
            blocks.append((name, line))
    if blocks and not extract:
        raise refuse(path, blocks[-1][1], f"The file ends inside of this {blocks[-1][0]}().")
    return CMakeFile(path, tuple(commands))


class _Lexer:
    def __init__(self, text: str, path: str) -> None:
        self.text, self.path, self.at = text, path, 0
        self.line = line_finder(text)

    def command(self) -> tuple[str, int, tuple[Argument, ...]] | None:
        """(name, line, arguments) of the next command; None at the end of the file."""
        self._skip_space()
        if self.at >= len(self.text):
            return None
        found, line = _NAME.match(self.text, self.at), self.line(self.at)
        if not found:
            shown = self.text[self.at : self.at + 20].partition("\n")[0]
            raise self._error(f"{shown!r} is no command of CMake.")
        self.at = found.end()
        return found[1].lower(), line, tuple(self._arguments(line))

    def _skip_space(self) -> None:
        if space := _SPACE.match(self.text, self.at):
            self.at = space.end()

    def _error(self, sentence: str) -> RocmlockError:
        column = self.at - self.text.rfind("\n", 0, self.at)
        return refuse(self.path, self.line(self.at), sentence, column=column)

    def _arguments(self, line: int) -> Iterator[Argument]:
        """The arguments up to the parenthesis that closes the command, which is taken too."""
        depth = 0
        while True:
            self._skip_space()
            if self.at >= len(self.text):
                raise refuse(self.path, line, "The file ends inside of this command.")
            char, place = self.text[self.at], self.line(self.at)
            if char in "()":
                self.at += 1
                if char == ")" and not depth:
                    return
                depth += 1 if char == "(" else -1
                yield Argument(char, place, "paren")
            elif found := _BRACKET.match(self.text, self.at):
                self.at = found.end()
                yield Argument(found["text"], place, "bracket")
            elif found := _QUOTED.match(self.text, self.at):
                self.at = found.end()
                yield Argument(_decoded(found[1].replace("\\\n", "")), place, "quoted")
            elif (found := _UNQUOTED.match(self.text, self.at)) and not _BRACKET_OPEN.match(
                self.text, self.at
            ):
                self.at = found.end()
                yield Argument(found[0] if '"' in found[0] else _decoded(found[0]), place, "unquoted")
            else:
                raise self._error("A quoted or bracket argument is not closed.")


def _decoded(text: str) -> str:
    """``\\;`` keeps its backslash: it protects the semicolon in a list."""
    return re.sub(r"\\([^;])", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def _set(command: CMakeCommand) -> SetValue | None:
    if not command.arguments:
        return None
    name, *rest = command.arguments
    words = [argument.text for argument in rest if argument.kind == "unquoted"]
    if "CACHE" in words:
        at = next(index for index, one in enumerate(rest) if one.kind == "unquoted" and one.text == "CACHE")
        rest = rest[:at]
    elif rest and rest[-1].kind == "unquoted" and rest[-1].text == "PARENT_SCOPE":
        rest = rest[:-1]
    pieces = [
        (piece, argument.line) for argument in rest for piece in re.split(r"(?<!\\);", argument.text) if piece
    ]
    values, lines = tuple(piece for piece, _ in pieces), tuple(line for _, line in pieces)
    return SetValue(name.text, values, lines, command.line, command.depth)
