"""Where a key stands in TOML text: lines and columns for errors. Loaded only once something is wrong.

tomllib reads values but keeps no places; the grammar of tree-sitter keeps them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

Path = tuple[str | int, ...]
Entry = tuple[Path, "Node", "Node"]
"""A path with the node of its key and the node of its value."""


def find_place(text: str, path: Sequence[str | int], *, value: bool = False) -> tuple[int, int]:
    """Line and column, from 1, of the key at ``path`` (with ``value``, of its value).

    Where the path does not exist, the place of its nearest ancestor that does; (1, 1) at worst.
    """
    import tree_sitter
    import tree_sitter_toml

    source = text.encode()
    tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language())).parse(source)
    places: dict[Path, tuple[Node, Node]] = {}
    for found, key, held in _document(tree.root_node):
        places.setdefault(found, (key, held))
    wanted = tuple(path)
    for length in range(len(wanted), 0, -1):
        if wanted[:length] in places:
            key, held = places[wanted[:length]]
            node = held if value and length == len(wanted) else key
            row, column = node.start_point
            line = source.split(b"\n")[row][:column]
            return row + 1, len(line.decode()) + 1
    return 1, 1


def syntax_place(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, int]:
    """Line and column of a syntax error; the end of the text where it ends too early."""
    found = re.search(r"at line (\d+), column (\d+)", str(error))
    if found:
        return int(found[1]), int(found[2])
    lines = text.split("\n")
    return len(lines), len(lines[-1]) + 1


def _document(root: Node) -> Iterator[Entry]:
    counts: dict[Path, int] = {}
    for node in root.named_children:
        if node.type == "pair":
            yield from _pair((), node)
        elif node.type in {"table", "table_array_element"}:
            head, *pairs = node.named_children
            path = _place_of_table(_keys(head), counts)
            if node.type == "table_array_element":
                index = counts.get(path, 0)
                counts[path] = index + 1
                yield path, head, node
                path = (*path, index)
            yield path, head, node
            for pair in pairs:
                if pair.type == "pair":
                    yield from _pair(path, pair)


def _place_of_table(names: list[str], counts: dict[Path, int]) -> Path:
    """A header's path with the index of the latest element of each array of tables on the way."""
    path: Path = ()
    for position, name in enumerate(names):
        path = (*path, name)
        if path in counts and position < len(names) - 1:
            path = (*path, counts[path] - 1)
    return path


def _pair(prefix: Path, pair: Node) -> Iterator[Entry]:
    key, *held = pair.named_children
    if not held:
        return
    names = _keys(key)
    for length in range(1, len(names)):
        yield (*prefix, *names[:length]), key, held[0]
    path = (*prefix, *names)
    yield path, key, held[0]
    yield from _value(path, held[0])


def _value(path: Path, node: Node) -> Iterator[Entry]:
    if node.type == "inline_table":
        for pair in node.named_children:
            if pair.type == "pair":
                yield from _pair(path, pair)
    elif node.type == "array":
        items = [child for child in node.named_children if child.type != "comment"]
        for index, item in enumerate(items):
            yield (*path, index), item, item
            yield from _value((*path, index), item)


def _keys(node: Node) -> list[str]:
    if node.type == "dotted_key":
        return [name for child in node.named_children for name in _keys(child)]
    text = (node.text or b"").decode()
    if node.type == "quoted_key":
        (name,) = tomllib.loads(f"{text} = 0")
        return [name]
    return [text]
