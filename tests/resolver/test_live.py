"""The live catalog over real HTTP: what it reads from upstream's files is what the facts say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from resolver_samples import all_sets, decide, demands, recipes, snapshot
from support import github
from upstream_world import make_world

from rocmlock.resolver import catalog as facts
from rocmlock.resolver.choose import Resolution, World
from rocmlock.resolver.github.client import GitHub
from rocmlock.resolver.live.catalog import LiveCatalog

world = cache(lambda: make_world(snapshot(), recipes()))


@pytest.fixture(scope="module")
def server() -> Iterator[github.Server]:
    with github.serve(world()) as served:
        yield served


def open_live(server: github.Server, cache_file: Path | None = None) -> tuple[GitHub, LiveCatalog]:
    client = GitHub(server.environ(), cache_file, lambda text: None)
    return client, LiveCatalog(client, recipes(), snapshot())


def test_every_whole_set_is_read_as_the_facts_say(server: github.Server) -> None:
    client, live = open_live(server)
    whole = [tested for tested in all_sets(snapshot(), "vllm") if tested.release.commit and not tested.unread]
    assert len(whole) > 40
    by_tag = {release.tag: release for release in live.candidates("vllm")}
    for tested in whole:
        sets = {each.variant: each for each in live.tested_sets("vllm", by_tag[tested.release.tag])}
        assert comparable(sets[tested.variant]) == comparable(tested), tested.release.tag
    client.close()


def comparable(tested: facts.TestedSet) -> facts.TestedSet:
    """Without what a catalog adds to the files: the release's own origin, the expansion of pins."""
    known = [pin for pin in tested.pins if pin.package in recipes()]
    return replace(
        tested,
        release=replace(tested.release, origin=known[0].origin, date=None, prerelease=False),
        pins=tuple(unexpanded(pin) for pin in known),
    )


def unexpanded(pin: facts.Pin) -> facts.Pin:
    picks = tuple(replace(pick, commit=None, commit_origin=None) for pick in pin.picks)
    return replace(pin, commit=None, commit_origin=None, tag=None, tag_object=None, version=None, picks=picks)


def test_the_stock_manifest_lands_on_the_same_commits_as_from_the_snapshot(server: github.Server) -> None:
    client, live = open_live(server)
    found = decide(World("vllm", live, recipes()), demands())
    known = decide(World("vllm", snapshot(), recipes()), demands())
    assert isinstance(found, Resolution)
    assert isinstance(known, Resolution)
    assert commits(found) == commits(known)
    assert [each.says for each in found.contradictions] == [each.says for each in known.contradictions]
    assert client.counts.api <= 15
    client.close()


def commits(answer: Resolution) -> list[object]:
    return [
        (
            pin.package,
            pin.repository,
            pin.commit,
            pin.version and pin.version.value,
            [p.commit for p in pin.picks],
        )
        for pin in answer.members
    ]


def test_pytorch_alone_follows_the_pin_that_its_file_holds(server: github.Server) -> None:
    client, live = open_live(server)
    wanted = demands('pytorch = "*"\ntriton = "*"')
    found, known = (decide(World("pytorch", each, recipes()), wanted) for each in (live, snapshot()))
    assert isinstance(found, Resolution)
    assert isinstance(known, Resolution)
    assert found.tested.release.version == known.tested.release.version
    (triton,) = found.members
    assert triton.commit == next(pin.commit for pin in known.members if pin.package == "triton")
    assert str(triton.origin).endswith(":.ci/docker/ci_commit_pins/triton.txt:1")
    client.close()
