"""Words of shell text, evaluated as far as the file tells; the tree is that of tree-sitter's Bash grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .docker_lines import LineText
from .variables import CannotExpandError, Lookup, expand, references

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Word:
    """``text`` is evaluated where ``known``, else as written; ``variables`` are the names in it."""

    text: str
    known: bool = True
    variables: tuple[str, ...] = ()


class ShellText:
    """The text of a script: what a node of its tree says, and on which line of the file."""

    def __init__(self, source: LineText) -> None:
        self.source = source
        # A lone surrogate is no text that any shell could get.
        self.bytes = source.text.encode(errors="replace")
        self._ascii = source.text.isascii()

    def line(self, node: Node) -> int:
        start = node.start_byte
        return self.source.line_at(start if self._ascii else len(self._cut(0, start)))

    def text(self, node: Node) -> str:
        return self._cut(node.start_byte, node.end_byte)

    def _cut(self, start: int, end: int) -> str:
        return self.bytes[start:end].decode(errors="replace")

    def word(self, node: Node, lookup: Lookup) -> Word:
        """The word of a node; a part that only running tells leaves the whole as written."""
        text = self.text(node)
        variables = references(text) if node.type != "raw_string" else ()
        try:
            return Word(self._value(node, lookup), variables=variables)
        except CannotExpandError:
            return Word(text, known=False, variables=variables)

    def _value(self, node: Node, lookup: Lookup) -> str:
        text = self.text(node)
        if node.type == "raw_string":
            return text[1:-1]
        if node.type in ("word", "number", "file_descriptor"):
            return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
        if node.type in ("simple_expansion", "expansion"):
            return _expansion(text, lookup)
        if node.type == "concatenation":
            return "".join(self._value(child, lookup) for child in node.children)
        if node.type == "string":
            return self._quoted(node, lookup)
        raise CannotExpandError(node.type)

    def _quoted(self, node: Node, lookup: Lookup) -> str:
        """Between the expansions the text is taken from the source: the tree leaves white space out."""
        made, at = "", node.start_byte + 1
        for child in node.named_children:
            if child.type != "string_content":
                made += _unescaped(self._cut(at, child.start_byte)) + self._value(child, lookup)
                at = child.end_byte
        return made + _unescaped(self._cut(at, node.end_byte - 1))


def _unescaped(text: str) -> str:
    return re.sub(r'\\(["$`\\])', r"\1", text)


def _expansion(text: str, lookup: Lookup) -> str:
    if "$(" in text or "`" in text:
        raise CannotExpandError("a command's output")
    bare = text.lstrip()  # between two expansions in a string the tree counts white space to the second
    value, unset = expand(bare, lookup)
    if unset or not re.match(r"\$\{?[A-Za-z_]", bare):
        raise CannotExpandError(f"{unset} is not set in the file")
    return text[: len(text) - len(bare)] + value
