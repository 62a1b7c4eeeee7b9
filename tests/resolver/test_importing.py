"""Files of other tools as parts of a manifest: what is taken, what is told, what is never guessed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from resolver_samples import recipes, snapshot

from rocmlock.lockfile.demands import FromGit
from rocmlock.manifests.loader import parse_manifest
from rocmlock.resolver.demands import make_demands
from rocmlock.resolver.import_dockerfile import draft_dockerfile
from rocmlock.resolver.import_lists import draft_requirements, draft_therock, kind_of
from rocmlock.resolver.import_manifest import find_gaps, render_manifest
from rocmlock.resolver.importing import Draft, complete, package_of
from rocmlock.resolver.readers.requirements import parse_requirements
from rocmlock.resolver.recipe_names import package_names

TORCH, TRITON = "d0c8b1f364ecacff4dd8bc06a645d0fb9324cd37", "0f380657dbf3ee86eb57558ff71df24f03b5d4e7"
UNKNOWN = "1234567"
DOCKERFILE = f"""\
ARG BASE_IMAGE=rocm/dev-ubuntu-22.04:7.2.3-complete
ARG TRITON_BRANCH="{TRITON[:8]}"
ARG TRITON_REPO="https://github.com/ROCm/triton.git"
ARG PYTORCH_BRANCH="{TORCH[:8]}" # a branch of theirs
ARG PYTORCH_REPO="https://github.com/ROCm/pytorch.git"
ARG TORCHVISION_VERSION="0.29.0+rocm10.0.0"
FROM ${{BASE_IMAGE}} AS base
ARG PYTORCH_ROCM_ARCH=gfx90a;gfx942;gfx9999
ARG PYTHON_VERSION=3.12
FROM base AS build_triton
ARG TRITON_BRANCH
ARG TRITON_REPO
RUN git clone ${{TRITON_REPO}} && cd triton && git checkout ${{TRITON_BRANCH}} \\
    && git cherry-pick {"5" * 39}d
FROM base AS build_pytorch
ARG PYTORCH_BRANCH
ARG PYTORCH_REPO
RUN git clone ${{PYTORCH_REPO}} pytorch && cd pytorch && git checkout ${{PYTORCH_BRANCH}}
RUN git clone https://github.com/ROCm/flash-attention && cd flash-attention && git checkout {UNKNOWN}
RUN git clone https://github.com/ROCm/aiter
RUN git clone https://github.com/ROCm/rccl && cd rccl && git checkout 648a58d
"""


def whole(draft: Draft) -> Draft:
    return complete(draft, snapshot(), recipes())


def says(draft: Draft) -> list[str]:
    return [f"{note.at} {note.says}" for note in draft.notes]


@pytest.fixture(scope="module")
def imported() -> Draft:
    return whole(draft_dockerfile(DOCKERFILE, "Dockerfile", recipes()))


def test_a_dockerfile_gives_whole_commits_with_the_places_of_their_args(imported: Draft) -> None:
    found = {each.name: (each.url, each.commit, str(each.at)) for each in imported.packages}
    assert found == {
        "pytorch": ("https://github.com/ROCm/pytorch", TORCH, "Dockerfile:4"),
        "triton": ("https://github.com/ROCm/triton", TRITON, "Dockerfile:2"),
    }
    assert (imported.rocm, imported.python, imported.gcc) == ("==7.2.3", "3.12", "11")
    assert imported.gfx == ("gfx90a", "gfx942")


def test_what_is_not_taken_from_a_dockerfile_is_told(imported: Draft) -> None:
    told = says(imported)
    for at, words in (
        ("Dockerfile:14", "is cherry-picked onto triton"),
        ("Dockerfile:19", f"flash-attention is left out: {UNKNOWN} of"),
        ("Dockerfile:20", "is cloned at whatever its default branch is then"),
        ("Dockerfile:21", "https://github.com/ROCm/rccl is not taken: no recipe builds it"),
        ("Dockerfile:6", "names the wheel 0.29.0+rocm10.0.0 of torchvision"),
        ("Dockerfile:8", "gfx9999 is not taken"),
    ):
        assert [line for line in told if line.startswith(f"{at} ") and words in line], (at, told)
    # The short commits stand for commits, whatever branches they are on.
    assert not [line for line in told if "which moves" in line]


def test_the_manifest_asks_for_exactly_that(imported: Draft) -> None:
    text = render_manifest(imported, "x")
    assert f"# Dockerfile:4: {TORCH[:8]}\n" in text
    (demands,) = make_demands(parse_manifest(text, "m.toml", package_names()))
    assert {each.name: each.origin for each in demands.packages} == {
        each.name: FromGit(each.url, each.commit) for each in imported.packages
    }
    assert (demands.gfx, demands.rocm, demands.python) == (imported.gfx, imported.rocm, "3.12")


def test_a_package_without_its_needs_is_left_out() -> None:
    text = DOCKERFILE.replace(f'"{TRITON[:8]}"', f'"{UNKNOWN}"')
    draft = whole(draft_dockerfile(text, "Dockerfile", recipes()))
    assert draft.packages == ()
    assert [line for line in says(draft) if "pytorch is left out: it needs triton" in line]


def test_a_branch_becomes_the_commit_that_it_named_and_that_is_told() -> None:
    class Branches:
        def __getattr__(self, name: str) -> object:
            return getattr(snapshot(), name)

        def commit(self, repository: str, asked: str) -> object:
            return replace(snapshot().commit(repository, TRITON[:8]), asked=asked, branch=asked)

    text = DOCKERFILE.replace(f'"{TRITON[:8]}"', '"release/3.6"').replace(f'"{TORCH[:8]}"', f'"{TORCH}"')
    draft = complete(draft_dockerfile(text, "Dockerfile", recipes()), Branches(), recipes())  # pyright: ignore[reportArgumentType]
    assert f"Dockerfile:2 release/3.6 is a branch, which moves: it is {TRITON} now" in says(draft)
    assert {each.name: each.commit for each in draft.packages}["triton"] == TRITON


def test_therocks_manifest() -> None:
    text = json.dumps(
        {
            "schema_version": 1,
            "pytorch": {"repo": "https://github.com/ROCm/pytorch.git", "commit": TORCH, "branch": "b"},
            "triton": {"repo": "git@github.com:ROCm/triton.git", "commit": TRITON},
            "apex": {"repo": "https://github.com/ROCm/apex", "commit": TRITON},
            "therock": {"repo": "https://github.com/ROCm/TheRock", "commit": TORCH, "version": "7.14.0"},
        },
        indent=1,
    )
    draft = whole(draft_therock(text, "m.json", recipes()))
    assert {each.name: each.commit for each in draft.packages} == {"pytorch": TORCH, "triton": TRITON}
    assert {each.url for each in draft.packages} == {
        f"https://github.com/ROCm/{n}" for n in ("pytorch", "triton")
    }
    assert draft.rocm == "==7.14.0"
    assert find_gaps(draft) == ("gfx", "python", "gcc")
    assert [line for line in says(draft) if "ROCm/apex is not taken" in line]


def requirements(text: str, python: str = "3.12") -> Draft:
    return whole(draft_requirements([("r.txt", parse_requirements(text, "r.txt"))], recipes(), python))


def test_requirements_are_ranges_of_what_is_built_and_wheels() -> None:
    draft = requirements(
        "-i https://user:secret@example.org/simple\n"
        "torch==2.11.0+rocm7.2 ; python_version >= '3.10'\n"
        "vllm>=0.24,<1\nray>=2.9\nnumpy ; python_version < '3.10'\nray>=2.9\n"
        f"git+https://github.com/ROCm/triton@{TRITON}\n"
        "git+ssh://git@github.com/ROCm/aiter\n./local\n-c con.txt\ntriton==3.6\n"
    )
    assert [(each.name, each.specifier, each.commit) for each in draft.packages] == [
        ("pytorch", "==2.11.0", ""),
        ("triton", "", TRITON),
        ("vllm", "<1,>=0.24", ""),
    ]
    assert draft.requires == ("ray>=2.9",)
    told = "\n".join(says(draft))
    for line, words in (
        (1, "--index-url is not taken"),
        (8, "names no commit"),
        (9, "./local is not taken"),
        (10, "constraints in con.txt"),
        (11, "triton stands here a second time"),
    ):
        assert any(each.startswith(f"r.txt:{line} ") and words in each for each in says(draft)), told
    assert "secret" not in told
    text = render_manifest(replace(draft, gfx=("gfx942",), rocm=">=7", python="3.12", gcc="11"), "x")
    parse_manifest(text, "m.toml", package_names())


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/pytorch/vision", "torchvision"),
        ("https://github.com/somebody/pytorch", "pytorch"),
        ("https://example.org/mirror/triton", "triton"),
        ("https://github.com/ROCm/rccl", None),
    ],
)
def test_which_package_a_repository_holds(url: str, name: str | None) -> None:
    assert package_of(url, recipes()) == name


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.json", '\n{"pytorch": {}}', "therock"),
        ("Dockerfile.rocm_base", "ARG A=1\n", "dockerfile"),
        ("build.docker", "# x\nfrom base AS x\n", "dockerfile"),
        ("requirements.txt", "torch\n", "requirements"),
    ],
)
def test_what_a_file_is(name: str, text: str, kind: str) -> None:
    assert kind_of(name, text) == kind
