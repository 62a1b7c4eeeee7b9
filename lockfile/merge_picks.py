"""The three-way choice, and how what cannot be chosen is kept. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

from attrs import frozen

from .diff import Kind

T = TypeVar("T")


@frozen
class Clash:
    """What cannot be had together.

    ``field`` is a group of fields that count as one, empty for the whole of an entry. ``says`` is a sentence
    where it is not simply that both sides changed this.
    """

    kind: Kind
    name: str
    field: str
    target: str = ""
    says: str = ""


class Picker:
    """Chooses between two sides and collects where both changed the same; there it takes ``prefer``.

    ``target`` is the target that is being merged.
    """

    def __init__(self, prefer: Literal["ours", "theirs"]) -> None:
        self.prefer = prefer
        self.target = ""
        self.clashes: list[Clash] = []

    def pick(  # noqa: PLR0917 -- a place, and its three sides
        self, kind: Kind, name: str, field: str, base: T, ours: T, theirs: T
    ) -> T:
        if ours in (base, theirs):
            return theirs
        if theirs == base:
            return ours
        self.clashes.append(Clash(kind, name, field, self.target))
        return ours if self.prefer == "ours" else theirs


def keep_listed(base: Sequence[T], ours: Sequence[T], theirs: Sequence[T]) -> tuple[T, ...]:
    """Lists of which each item stands for itself: what one side took out is out, what one brought is in.

    The side that changed alone is taken as it is. Else the order is the same whichever side is which.
    """
    if ours in (base, theirs):
        return tuple(theirs)
    if theirs == base:
        return tuple(ours)
    kept = [item for item in base if item in ours and item in theirs]
    new = {repr(item): item for item in (*ours, *theirs) if item not in base}
    return (*kept, *(new[key] for key in sorted(new)))
