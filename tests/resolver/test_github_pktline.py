"""Git's listing of refs: what is written is read, and nothing that is damaged passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.github import Repository, Tag
from support.github.refs import advertise, listing

from rocmlock.resolver.github.pktline import (
    Marker,
    Ref,
    parse_advertisement,
    parse_lines,
    parse_ls_refs,
    render_line,
    render_ls_refs,
)

OIDS = st.text("0123456789abcdef", min_size=40, max_size=40)
NAMES = st.text("abcdefghij0123456789.-_/é", min_size=1, max_size=30)
TAGS = st.lists(st.builds(Tag, NAMES, OIDS, st.none() | OIDS), max_size=20, unique_by=lambda tag: tag.name)
REPOSITORIES = st.builds(Repository, tags=TAGS.map(tuple), branches=st.dictionaries(NAMES, OIDS, max_size=5))


def refs_of(repository: Repository) -> set[Ref]:
    heads = {Ref(f"refs/heads/{name}", sha, None) for name, sha in repository.branches.items()}
    return heads | {
        Ref(f"refs/tags/{tag.name}", tag.tag_object or tag.commit, tag.commit if tag.tag_object else None)
        for tag in repository.tags
    }


@given(REPOSITORIES)
def test_every_ref_is_read_in_either_version(repository: Repository) -> None:
    assert set(parse_ls_refs(listing(repository, render_ls_refs(["refs/"])))) == refs_of(repository)
    assert parse_advertisement(advertise(repository, 2)).refs is None
    for version in (0, 1):
        assert set(parse_advertisement(advertise(repository, version)).refs or ()) == refs_of(repository)


@given(REPOSITORIES, NAMES)
def test_only_refs_with_the_prefix_come(repository: Repository, prefix: str) -> None:
    start = f"refs/tags/{prefix}"
    listed = parse_ls_refs(listing(repository, render_ls_refs([start])))
    assert set(listed) == {ref for ref in refs_of(repository) if ref.name.startswith(start)}


@given(REPOSITORIES, st.data())
def test_a_cut_off_list_is_never_taken_for_a_whole_one(repository: Repository, data: st.DataObject) -> None:
    whole = listing(repository, render_ls_refs(["refs/"]))
    with pytest.raises(ValueError, match=r"."):
        parse_ls_refs(whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(st.binary(max_size=200))
def test_noise_is_an_error_and_nothing_else(noise: bytes) -> None:
    for parse in (parse_ls_refs, parse_advertisement):
        try:
            parse(noise)
        except ValueError:
            continue


@pytest.mark.parametrize(
    "wrong",
    [
        render_line("0" * 39 + " refs/tags/a") + b"0000",  # a short object
        render_line("0" * 64 + " refs/tags/a") + b"0000",  # sha256, which nothing here is made for
        render_line("a" * 40) + b"0000",  # no name
        render_line("a" * 40 + " refs/tags/a peeled:b") + b"0000",
        render_line("ERR access denied") + b"0000",
        b"0001" + render_line("a" * 40 + " refs/tags/a") + b"0000",
        b"0003",
        b"<htm",
    ],
)
def test_what_is_no_list_of_refs_is_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_ls_refs(wrong)


def test_lines_and_markers() -> None:
    assert list(parse_lines(render_line("a") + b"0001" + b"0004" + b"00020000")) == [
        b"a\n",
        Marker.DELIMITER,
        b"",
        Marker.RESPONSE_END,
        Marker.FLUSH,
    ]
