"""The compilers that a project's CMake file refuses: ``if(… VERSION_LESS 9.3)`` around a fatal error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .cmake import CMakeCommand, CMakeFile

_VERSION = re.compile(r"\d+(?:\.\d+)*")
_OF_ID = {"GNU": "gcc", "Clang": "clang", "AppleClang": "apple-clang", "MSVC": "msvc"}
_FLAGS = {"CMAKE_COMPILER_IS_GNUCXX": "gcc", "CMAKE_COMPILER_IS_GNUCC": "gcc"}


@dataclass(frozen=True, slots=True)
class CompilerMinimum:
    """``compiler`` is ``gcc``, ``clang``, ``apple-clang`` or ``msvc``; below ``version`` the build ends."""

    compiler: str
    version: str
    line: int


def find_compiler_minimums(file: CMakeFile) -> list[CompilerMinimum]:
    """The minimum of each compiler, in the order of the file.

    Read are conditions that compare ``CMAKE_CXX_COMPILER_VERSION`` (or the C compiler's) with a version and
    are followed directly by ``message(FATAL_ERROR …)``; the compiler is named there or by an ``if`` around.
    Conditions with OR or NOT are left out: what they refuse is more than one fact.
    """
    found, around = list[CompilerMinimum](), list[str]()
    for command, after in zip(file.commands, [*file.commands[1:], None], strict=True):
        if command.name in ("else", "elseif", "endif") and around:
            around.pop()
        if command.name in ("if", "elseif"):
            words = [argument.text for argument in command.arguments]
            around.append(_compiler(words))
            version = _minimum(words)
            compiler = next((name for name in reversed(around) if name), "")
            if version and compiler and after is not None and _is_fatal(after):
                found.append(CompilerMinimum(compiler, version, command.line))
        elif command.name == "else":
            around.append("")
    return found


def _compiler(words: Sequence[str]) -> str:
    if "OR" in words or "NOT" in words:
        return ""
    for before, name in zip(["", *words], words, strict=False):
        if name in _FLAGS:
            return _FLAGS[name]
        if name in _OF_ID and before in ("STREQUAL", "MATCHES"):
            return _OF_ID[name]
    return ""


def _minimum(words: Sequence[str]) -> str:
    if "OR" in words or "NOT" in words:
        return ""
    for left, operator, right in zip(words, words[1:], words[2:], strict=False):
        name = left.removeprefix("${").removesuffix("}")
        if operator == "VERSION_LESS" and re.fullmatch(r"CMAKE_C(?:XX)?_COMPILER_VERSION", name):
            return right if _VERSION.fullmatch(right) else ""
    return ""


def _is_fatal(command: CMakeCommand) -> bool:
    return command.name == "message" and any(one.text == "FATAL_ERROR" for one in command.arguments[:1])
