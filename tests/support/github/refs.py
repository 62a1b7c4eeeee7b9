"""Git's listing of refs, written from facts alone: no git object has to be there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .world import Repository

Row = tuple[str, str, str | None]  # name, object, commit behind a tag


def rows(repository: Repository) -> list[Row]:
    """Every ref, in git's order."""
    heads: list[Row] = [(f"refs/heads/{name}", sha, None) for name, sha in repository.branches.items()]
    tags: list[Row] = [
        (f"refs/tags/{tag.name}", tag.tag_object or tag.commit, tag.commit if tag.tag_object else None)
        for tag in repository.tags
    ]
    return sorted([*heads, *tags])


def advertise(repository: Repository, version: int) -> bytes:
    """The answer to ``info/refs``: capabilities in version 2, every ref before."""
    head = line("# service=git-upload-pack") + b"0000"
    if version == 2:
        said = ("version 2", "agent=git/2.39.5", "ls-refs=unborn", "fetch=shallow", "object-format=sha1")
        return head + b"".join(map(line, said)) + b"0000"
    return head + (line("version 1") if version == 1 else b"") + _version_0(rows(repository)) + b"0000"


def listing(repository: Repository, request: bytes) -> bytes:
    """The answer to ``ls-refs`` of version 2."""
    asked = list(read_lines(request))
    if "command=ls-refs" not in asked:
        return line("ERR facts can be listed, not fetched")
    prefixes = [text.removeprefix("ref-prefix ") for text in asked if text.startswith("ref-prefix ")]
    shown = [row for row in rows(repository) if not prefixes or row[0].startswith(tuple(prefixes))]
    peel = "peel" in asked
    texts = [
        f"{sha} {name}" + (f" peeled:{commit}" if commit and peel else "") for name, sha, commit in shown
    ]
    return b"".join(map(line, texts)) + b"0000"


def line(text: str) -> bytes:
    """One pkt-line."""
    data = f"{text}\n".encode()
    return f"{len(data) + 4:04x}".encode() + data


def read_lines(data: bytes) -> Iterator[str]:
    """The texts of pkt-lines; markers are left out."""
    at = 0
    while at < len(data):
        length = int(data[at : at + 4], 16)
        if length > 4:
            yield data[at + 4 : at + length].decode().rstrip("\n")
        at += max(length, 4)


def _version_0(refs: Sequence[Row]) -> bytes:
    capabilities = "\0multi_ack thin-pack side-band-64k ofs-delta agent=git/2.39.5"
    if not refs:
        return line(f"{'0' * 40} capabilities^{{}}{capabilities}")
    texts = list(_advertised(refs))
    return line(texts[0] + capabilities) + b"".join(map(line, texts[1:]))


def _advertised(refs: Iterable[Row]) -> Iterator[str]:
    for name, sha, commit in refs:
        yield f"{sha} {name}"
        if commit:
            yield f"{commit} {name}^{{}}"
