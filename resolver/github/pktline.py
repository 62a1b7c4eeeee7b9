"""Git's pkt-lines and the two ways in which a server lists its refs. Pure: bytes in, values out.

The forms are those of git's gitprotocol-common, gitprotocol-v2 (ls-refs) and gitprotocol-http.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

_OID = re.compile(r"[0-9a-f]{40}")


class Marker(Enum):
    """A pkt-line without content."""

    FLUSH = 0
    DELIMITER = 1
    RESPONSE_END = 2


@dataclass(frozen=True, slots=True)
class Ref:
    """A ref: the object it names, and the commit behind it where that object is a tag."""

    name: str
    oid: str
    peeled: str | None


@dataclass(frozen=True, slots=True)
class Advertisement:
    """The first answer of a server. ``refs`` is None where it speaks version 2 and is still to be asked."""

    refs: tuple[Ref, ...] | None


def parse_lines(data: bytes) -> Iterator[bytes | Marker]:
    """The pkt-lines of ``data``, without their lengths. Raises ValueError where they are malformed."""
    at = 0
    while at < len(data):
        digits = data[at : at + 4]
        if not re.fullmatch(rb"[0-9a-fA-F]{4}", digits):
            raise ValueError("a pkt-line has no length")
        length = int(digits, 16)
        if length < 4:
            if length == 3:
                raise ValueError("a pkt-line has the length 3")
            yield Marker(length)
            at += 4
            continue
        if at + length > len(data):
            raise ValueError("the last pkt-line is cut off")
        yield data[at + 4 : at + length]
        at += length


def render_line(text: str) -> bytes:
    """One pkt-line with a line feed, as git writes its own."""
    content = f"{text}\n".encode()
    return b"%04x" % (len(content) + 4) + content


def render_ls_refs(prefixes: Sequence[str]) -> bytes:
    """The request of version 2 for the refs that begin with one of ``prefixes``, tags peeled."""
    arguments = [render_line("peel"), *(render_line(f"ref-prefix {prefix}") for prefix in prefixes)]
    head = [render_line("command=ls-refs"), render_line("object-format=sha1")]
    return b"".join([*head, b"0001", *arguments, b"0000"])


def parse_ls_refs(data: bytes) -> tuple[Ref, ...]:
    """The refs of an answer to ``ls-refs``. Raises ValueError where it is malformed or cut off."""
    lines = list(parse_lines(data))
    if not lines or lines[-1] is not Marker.FLUSH:
        raise ValueError("the list of refs is cut off")
    return tuple(_ref_v2(_text(line)) for line in lines[:-1])


def parse_advertisement(data: bytes) -> Advertisement:
    """The answer to ``info/refs?service=git-upload-pack`` in version 0, 1 or 2. Raises ValueError."""
    lines = list(parse_lines(data))
    if lines and lines[0] == b"# service=git-upload-pack\n":
        lines = lines[2:]  # with the flush behind it
    if not lines or lines[-1] is not Marker.FLUSH:
        raise ValueError("the list of refs is cut off")
    texts = [_text(line) for line in lines[:-1]]
    if texts and texts[0] == "version 2":
        return Advertisement(None)
    if texts and texts[0] == "version 1":
        texts = texts[1:]
    return Advertisement(_refs_v0(texts))


def _refs_v0(texts: Sequence[str]) -> tuple[Ref, ...]:
    """Version 0: capabilities behind a NUL on the first line; ``name^{}`` after a tag gives its commit."""
    found: dict[str, Ref] = {}
    for text in texts:
        oid, blank, name = text.split("\0", 1)[0].partition(" ")
        if not blank or not _OID.fullmatch(oid):
            raise ValueError("a line is no ref")
        if name == "capabilities^{}":  # an empty repository
            continue
        if name.endswith("^{}"):
            bare = name.removesuffix("^{}")
            if bare not in found:
                raise ValueError("a peeled ref stands without its tag")
            found[bare] = Ref(bare, found[bare].oid, oid)
        else:
            found[name] = Ref(name, oid, None)
    return tuple(found.values())


def _ref_v2(text: str) -> Ref:
    oid, _, rest = text.partition(" ")
    name, *attributes = rest.split(" ")
    peeled = next((part.removeprefix("peeled:") for part in attributes if part.startswith("peeled:")), None)
    if not name or not _OID.fullmatch(oid) or (peeled is not None and not _OID.fullmatch(peeled)):
        raise ValueError("a line is no ref")
    return Ref(name, oid, peeled)


def _text(line: bytes | Marker) -> str:
    if isinstance(line, Marker):
        raise ValueError("a marker stands where a ref belongs")  # noqa: TRY004 -- the data is wrong, not a type
    text = line.decode("utf-8", "strict").removesuffix("\n")
    if text.startswith("ERR "):
        raise ValueError(f"the server says: {text[4:204]!r}")
    return text
