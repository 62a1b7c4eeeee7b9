"""The live catalog over real HTTP: what it reads from upstream's files is what the facts say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from resolver_samples import all_sets, decide, demands, recipes, snapshot
from support import github
from upstream_world import make_world

from rocmlock.lockfile.demands import Demands
from rocmlock.resolver import catalog as facts
from rocmlock.resolver.choose import Resolution, World
from rocmlock.resolver.conflict import Conflict
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


DOCKERFILE = """ARG BASE_IMAGE=rocm/dev-ubuntu-22.04:7.2.3-complete
ARG PYTORCH_BRANCH="v2.11.0"
ARG PYTORCH_REPO="https://github.com/pytorch/pytorch.git"
ARG TRITON_BRANCH="{triton}"
ARG TRITON_REPO="https://github.com/openai/triton.git"
ARG PYTORCH_VISION_BRANCH="v0.26.0"
ARG PYTORCH_VISION_REPO="https://github.com/pytorch/vision.git"
FROM ${{BASE_IMAGE}} AS base
ARG PYTORCH_REPO
ARG PYTORCH_VISION_REPO
ARG TRITON_BRANCH
ARG TRITON_REPO
RUN git clone ${{PYTORCH_REPO}} && git clone ${{PYTORCH_VISION_REPO}}
RUN git clone ${{TRITON_REPO}} triton
RUN cd triton && git checkout ${{TRITON_BRANCH}} {more}
"""
CMAKE = 'set(HIP_SUPPORTED_ARCHS "gfx942;gfx9999")\nset(PYTHON_SUPPORTED_VERSIONS "3.12")\n'
AT_VLLM, AT_TRITON, AT_TORCH, AT_VISION = (github.fake_commit(name) for name in ("v", "t", "p", "w"))


def small_world(triton: str = AT_TRITON[:8], more: str = "", **files: str) -> github.World:
    """One release of vLLM, whose Triton is named by the organisation that it left."""
    read = {
        "docker/Dockerfile.rocm_base": DOCKERFILE.format(triton=triton, more=more),
        "CMakeLists.txt": CMAKE,
        "requirements/rocm.txt": "numpy\n",
        **files,
    }
    day = date(2026, 1, 1)

    def one(tag: str, commit: str, **texts: str) -> github.Repository:
        tags = (github.Tag(tag, commit),) if tag else ()
        return github.Repository(
            tags=tags,
            releases=tuple(github.Release(each.name, day) for each in tags),
            branches={"main": commit},
            commits={commit: github.Commit(day, dict(texts))},
        )

    return github.World(
        {
            "vllm-project/vllm": one("v1.0.0", AT_VLLM, **read),
            "triton-lang/triton": one(
                "", AT_TRITON, **{"python/triton/__init__.py": '__version__ = "3.6.0"\n'}
            ),
            "pytorch/pytorch": one("v2.11.0", AT_TORCH),
            "pytorch/vision": one("v0.26.0", AT_VISION),
        },
        {"openai/triton": "triton-lang/triton"},
    )


def without_file(path: str) -> github.World:
    made = small_world()
    home = made.repositories["vllm-project/vllm"]
    commit = home.commits[AT_VLLM]
    files = {name: text for name, text in commit.files.items() if name != path}
    fewer = replace(home, commits={AT_VLLM: replace(commit, files=files)})
    return replace(made, repositories={**made.repositories, "vllm-project/vllm": fewer})


def the_set(live: LiveCatalog) -> facts.TestedSet:
    (release,) = live.candidates("vllm")
    (tested,) = live.tested_sets("vllm", release)
    return tested


def decide_in(made: github.World, wanted: Demands | None = None) -> Resolution | Conflict:
    with github.serve(made) as served:
        client, live = open_live(served)
        answer = decide(World("vllm", live, recipes()), wanted or demands('vllm = "*"'))
        client.close()
    return answer


def test_a_repository_that_moved_is_locked_under_the_name_it_has_now() -> None:
    answer = decide_in(small_world())
    assert isinstance(answer, Resolution)
    triton = next(pin for pin in answer.members if pin.package == "triton")
    assert (triton.repository, triton.commit) == ("triton-lang/triton", AT_TRITON)
    assert triton.version
    assert triton.version.value == "3.6.0"


def test_a_branch_where_a_commit_is_expected_is_locked_and_marked_as_moving() -> None:
    answer = decide_in(small_world(triton="main"))
    assert isinstance(answer, Resolution)
    triton = next(pin for pin in answer.members if pin.package == "triton")
    assert triton.commit == AT_TRITON
    assert "which moves" in str(triton.commit_origin)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (small_world(triton="abcdef12"), "pins triton at abcdef12, whose full commit is not known"),
        (
            small_world(more="&& git apply fix.patch"),
            "changes triton by patch in docker/Dockerfile.rocm_base:15",
        ),
        (
            small_world(
                **{
                    "docker/Dockerfile.rocm_base": DOCKERFILE.split("RUN git clone", maxsplit=1)[0].format(
                        triton="main"
                    )
                }
            ),
            "does not clone",
        ),
        (
            small_world(more="&& git checkout 12345678"),
            "checks out 12345678 of triton in docker/Dockerfile.rocm_base:",
        ),
        (without_file("CMakeLists.txt"), "not known: CMakeLists.txt"),
        (small_world(**{"CMakeLists.txt": "set(HIP_SUPPORTED_ARCHS"}), "not known: vllm-project/vllm@"),
        (
            small_world(**{"docker/Dockerfile.rocm_base": "<html>log in</html>"}),
            "not known: vllm-project/vllm@",
        ),
        (small_world(**{"docker/Dockerfile.rocm_base": "<<<<<<< ours\n"}), "not known: vllm-project/vllm@"),
    ],
    ids=[
        "unknown commit",
        "patch",
        "no clone",
        "another checkout",
        "no file",
        "cut off",
        "web page",
        "conflict",
    ],
)
def test_what_is_not_certain_is_passed_over_with_its_place(made: github.World, says: str) -> None:
    answer = decide_in(made)
    assert isinstance(answer, Conflict)
    (told,) = answer.passed_over
    assert told.violation.says.startswith(says)


def test_a_pick_may_come_from_another_repository_of_the_package() -> None:
    pick = github.fake_commit("pick")
    made = small_world(more=f"&& git cherry-pick {pick[:7]}")
    fork = github.Repository(commits={pick: github.Commit(date(2026, 1, 1))})
    answer = decide_in(replace(made, repositories={**made.repositories, "ROCm/triton": fork}))
    assert isinstance(answer, Resolution)
    triton = next(pin for pin in answer.members if pin.package == "triton")
    assert [each.commit for each in triton.picks] == [pick]
    assert isinstance(decide_in(made), Conflict)


def test_a_variant_of_a_tag_is_no_release() -> None:
    made = small_world()
    home = made.repositories["vllm-project/vllm"]
    tags = (*home.tags, github.Tag("v1.0.0-rocm", AT_VLLM))
    with github.serve(
        replace(made, repositories={**made.repositories, "vllm-project/vllm": replace(home, tags=tags)})
    ) as served:
        client, live = open_live(served)
        assert [release.tag for release in live.candidates("vllm")] == ["v1.0.0"]
        client.close()


def test_a_pick_in_a_branch_of_the_shell_is_not_taken_for_certain() -> None:
    answer = decide_in(small_world(more="&& if [ -f x ]; then git cherry-pick abcdef1; fi"))
    assert isinstance(answer, Conflict)


def test_an_edit_in_passing_is_a_warning() -> None:
    answer = decide_in(small_world(more="&& sed -i 's/a/b/' setup.py"))
    assert isinstance(answer, Resolution)
    assert any("edits setup.py of triton" in each.says for each in answer.contradictions)


def test_a_tag_without_a_release_counts_as_a_pre_release() -> None:
    made = small_world()
    home = made.repositories["vllm-project/vllm"]
    without = replace(
        made, repositories={**made.repositories, "vllm-project/vllm": replace(home, releases=())}
    )
    assert isinstance(decide_in(without), Conflict)
    assert isinstance(decide_in(without, demands('vllm = ">=1.0.0rc1"')), Resolution)


def test_of_two_pins_of_triton_rocms_own_counts() -> None:
    made = small_world()
    pins = {
        ".ci/docker/ci_commit_pins/triton.txt": f"{'b' * 40}\n",
        ".ci/docker/ci_commit_pins/triton-rocm.txt": f"{AT_TRITON}\n",
    }
    torch = replace(
        made.repositories["pytorch/pytorch"], commits={AT_TORCH: github.Commit(date(2026, 1, 1), dict(pins))}
    )
    with github.serve(replace(made, repositories={**made.repositories, "pytorch/pytorch": torch})) as served:
        client, live = open_live(served)
        (release,) = live.candidates("pytorch")
        (tested,) = live.tested_sets("pytorch", release)
        client.close()
    (triton,) = tested.pins
    assert triton.asked == AT_TRITON
    assert triton.origin.path.endswith("triton-rocm.txt")


def test_a_gpu_that_is_not_known_here_does_not_make_upstreams_list_unreadable() -> None:
    with github.serve(small_world()) as served:
        client, live = open_live(served)
        assert "gfx9999" in the_set(live).supported_gfx
        client.close()
