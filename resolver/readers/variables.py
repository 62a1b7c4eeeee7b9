"""Words and variables as Docker's builder reads them outside of ``RUN``: quotes, escapes, ``$X``,
``${X:-y}``.

Source of the rules: the Dockerfile reference, "Environment replacement".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MAX_VALUE = 1 << 16
"""Characters of one value: a few lines of ``ARG A=$B$B`` would else fill the memory."""
_MAX_DEPTH = 16
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TESTS = ("-", "+", "?")

Lookup = Callable[[str], str | None]


class CannotExpandError(ValueError):
    """A value that is not computed; the text says why."""


@dataclass(slots=True)
class _Expansion:
    lookup: Lookup
    escape: str
    unset: list[str] = field(default_factory=list[str])


def split_words(text: str, escape: str = "\\") -> Iterator[str]:
    """The words of ``text``, quotes and escapes kept. An open quote takes the rest, as Docker does."""
    word, quote, position = "", "", 0
    while position < len(text):
        char = text[position]
        if char == escape and quote != "'" and position + 1 < len(text):
            word += text[position : position + 2]
            position += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char.isspace():
            if word:
                yield word
            word, char = "", ""
        word += char
        position += 1
    if word:
        yield word


def expand(word: str, lookup: Lookup, escape: str = "\\") -> tuple[str, tuple[str, ...]]:
    """The value of a word without its quotes, and the names in it that ``lookup`` does not know.

    An unknown name is empty, as in Docker. Raises :class:`CannotExpandError` for a form that is not computed.
    """
    state = _Expansion(lookup, escape)
    value, position = _run(word, 0, state, closing="", depth=0)
    if position != len(word):
        raise CannotExpandError(f"{word!r} has a brace that nothing opens")
    return value, tuple(dict.fromkeys(state.unset))


def references(word: str) -> tuple[str, ...]:
    """The names of the variables that stand in a word."""
    names: dict[str, None] = {}
    for found in re.finditer(r"\$(?:\{([A-Za-z_]\w*)|([A-Za-z_]\w*))", word):
        names.setdefault(found[1] or found[2])
    return tuple(names)


def _run(text: str, at: int, state: _Expansion, closing: str, depth: int) -> tuple[str, int]:
    """Expand from ``at`` up to ``closing`` outside of quotes; the position of ``closing``, or the end."""
    if depth > _MAX_DEPTH:
        raise CannotExpandError(f"variables are nested more than {_MAX_DEPTH} deep")
    made, quote = list[str](), ""
    size = 0
    while at < len(text):
        char = text[at]
        if quote == "'":
            piece, at = ("" if char == quote else char), at + 1
            quote = "" if char == "'" else quote
        elif char == state.escape and at + 1 < len(text):
            # Inside double quotes an escape is one only before what it can escape.
            kept = quote == '"' and text[at + 1] not in ('"', "$", state.escape)
            piece, at = text[at : at + 2] if kept else text[at + 1], at + 2
        elif char in ('"', "'") and (not quote or char == quote):
            piece, at, quote = "", at + 1, "" if quote else char
        elif char == "$":
            piece, at = _variable(text, at, state, depth)
        elif char == closing and not quote:
            break
        else:
            piece, at = char, at + 1
        made.append(piece)
        size += len(piece)
        if size > MAX_VALUE:
            raise CannotExpandError(f"a value grows beyond {MAX_VALUE} characters")
    return "".join(made), at


def _variable(text: str, at: int, state: _Expansion, depth: int) -> tuple[str, int]:
    """The value of the variable whose ``$`` stands at ``at``, and the position behind it."""
    braces = text.startswith("${", at)
    found = _NAME.match(text, at + 2 if braces else at + 1)
    if not found:
        if braces:
            raise CannotExpandError(f"{text[at:]!r} names no variable")
        return "$", at + 1
    name, position = found[0], found.end()
    value = state.lookup(name)
    if not braces:
        return _known(name, value, state), position
    colon = text.startswith(":", position)
    operator = text[position + colon : position + colon + 1]
    if not colon and operator == "}":
        return _known(name, value, state), position + 1
    if operator not in _TESTS:
        raise CannotExpandError(f"{text[at : position + 3]}… is a form that is not computed")
    other, end = _run(text, position + colon + 1, state, "}", depth + 1)
    if not text.startswith("}", end):
        raise CannotExpandError(f"{text[at:]!r} has no closing brace")
    present = bool(value) if colon else value is not None
    if operator == "?":
        if not present:
            raise CannotExpandError(f"{name} must have a value: {other}")
        return value or "", end + 1
    return ((value or "") if present else other) if operator == "-" else (other if present else ""), end + 1


def _known(name: str, value: str | None, state: _Expansion) -> str:
    if value is None:
        state.unset.append(name)
    return value or ""
