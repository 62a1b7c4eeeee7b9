"""JSON files with the lines of their values."""

from __future__ import annotations

import json
import re
from typing import cast

from .source_text import check_text, refuse

JsonObject = dict[str, object]


def parse_object(text: str, path: str) -> tuple[JsonObject, str]:
    """The object that is the whole of a file, and its checked text. A key given twice is refused."""
    text = check_text(text, path)

    def unique(pairs: list[tuple[str, object]]) -> JsonObject:
        made = dict(pairs)
        if len(made) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise refuse(path, line_of_key(text, twice), f"The key {twice!r} is given twice.")
        return made

    try:
        value: object = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise refuse(path, error.lineno, f"This is no JSON: {error.msg}.", column=error.colno) from None
    except (RecursionError, ValueError):
        raise refuse(path, 1, "The JSON is nested too deep, or holds a number beyond any use.") from None
    if not isinstance(value, dict):
        raise refuse(path, 1, "The file holds no JSON object.")
    return cast("JsonObject", value), text


def line_of_key(text: str, key: str, after: int = 1) -> int:
    """The first line from ``after`` on which a key stands with its colon; ``after`` where none does."""
    pattern = re.compile(re.escape(json.dumps(key)) + r"\s*:")
    for number, line in enumerate(text.split("\n"), 1):
        if number >= after and pattern.search(line):
            return number
    return after


def text_at(held: JsonObject, key: str, text: str, path: str, *, after: int = 1, needed: bool = True) -> str:
    """A non-empty string under a key; "" where it is missing and not ``needed``."""
    value = held.get(key)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or not value.strip():
        raise refuse(path, line_of_key(text, key, after), f"{key} is missing, or no text.")
    return value.strip()


def object_at(held: JsonObject, key: str, text: str, path: str) -> JsonObject:
    """An object under a key."""
    value = held.get(key)
    if not isinstance(value, dict):
        raise refuse(path, line_of_key(text, key), f"{key} is missing, or no object.")
    return cast("JsonObject", value)
