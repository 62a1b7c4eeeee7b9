"""The text that a ``RUN`` gives to its shell: flags taken off, the JSON form, heredocs."""

from __future__ import annotations

import json
import re
import shlex
from typing import cast

from .docker_lines import Heredoc, Instruction, LineText
from .source_text import refuse

_FLAGS = re.compile(r"(?:--[a-z]+(?:=\S*)?\s+)*")
_ONLY_HEREDOC = re.compile(r"\d*<<-?[\"']?[\w.-]+[\"']?\s*")
_SHELL = re.compile(r"#!\s*(?:/usr)?/bin/(?:env\s+)?(?:ba|da|)sh\b")


def shell_text(instruction: Instruction, path: str) -> LineText | None:
    """The shell text of a RUN with its lines; None where it is the script of another interpreter."""
    body = instruction.body
    flags = _FLAGS.match(body.text)
    start = flags.end() if flags else 0
    text = LineText(body.text[start:], _shift(body.marks, start))
    if text.text.lstrip().startswith("["):
        words = _json_words(text.text)
        if words is not None:
            return _of_words(words, instruction.line)
    if not instruction.heredocs:
        return text
    if _ONLY_HEREDOC.fullmatch(text.text):
        return _script(instruction.heredocs[0])
    return _with_heredocs(text, instruction.heredocs, path)


def _shift(marks: tuple[tuple[int, int], ...], by: int) -> tuple[tuple[int, int], ...]:
    return tuple({max(offset - by, 0): line for offset, line in marks}.items())


def _json_words(text: str) -> list[str] | None:
    """The words of the JSON form; None where it is none, then Docker takes the text for a shell's."""
    try:
        words: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(words, list) and all(isinstance(word, str) for word in cast("list[object]", words)):
        return cast("list[str]", words)
    return None


def _of_words(words: list[str], line: int) -> LineText:
    return LineText(shlex.join(words), ((0, line),))


def _script(heredoc: Heredoc) -> LineText | None:
    if heredoc.body.startswith("#!") and not _SHELL.match(heredoc.body):
        return None
    return LineText(heredoc.body, _line_marks(heredoc.body, 0, heredoc.line))


def _with_heredocs(text: LineText, heredocs: tuple[Heredoc, ...], path: str) -> LineText:
    made, marks = text.text, text.marks
    for heredoc in heredocs:
        if len(made) > 1 << 20:
            raise refuse(path, heredoc.line, "The command is longer than any known one.")
        block = f"\n{heredoc.body}{heredoc.name}"
        marks += _line_marks(block, len(made), heredoc.line - 1)
        made += block
    return LineText(made + "\n", marks)


def _line_marks(text: str, offset: int, line: int) -> tuple[tuple[int, int], ...]:
    starts = [0, *(found.end() for found in re.finditer(r"\n", text))]
    return tuple((offset + start, line + index) for index, start in enumerate(starts))
