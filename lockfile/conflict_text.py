"""The text that stands in a file whose two sides could not be merged. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher


def render_conflict(ours: str, theirs: str) -> str:
    """Both texts in one: what they share once, the rest between git's markers. Each side can be taken from it
    by whoever reads the markers, and no lock reader takes it for a lock (``lock-conflict``).

    Equal texts stand whole on both sides: that they are equal does not make them right.
    """
    left, right = ours.splitlines(), theirs.splitlines()
    if left == right:
        return "\n".join((*_marked(left, right), ""))
    lines: list[str] = []
    for tag, start, end, other_start, other_end in SequenceMatcher(None, left, right).get_opcodes():
        if tag == "equal":
            lines += left[start:end]
        else:
            lines += _marked(left[start:end], right[other_start:other_end])
    return "\n".join((*lines, ""))


def _marked(ours: list[str], theirs: list[str]) -> Iterator[str]:
    yield "<<<<<<< ours"
    yield from ours
    yield "======="
    yield from theirs
    yield ">>>>>>> theirs"
