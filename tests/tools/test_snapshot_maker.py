"""The script that makes the snapshot, on a small folder of data made here."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from resolver_samples import all_sets

from rocmlock.errors import RocmlockError
from rocmlock.resolver import catalog as facts
from rocmlock.resolver.snapshot import read_snapshot
from tools.snapshot.__main__ import make_snapshot, render_snapshot

TAG = "v1.0.0"
VLLM, TORCH, TRITON, PICK = "a" * 40, "b" * 40, "c" * 40, "d" * 40
ARGS = {
    "BASE_IMAGE": "rocm/dev-ubuntu-22.04:7.2.3-complete",
    "TRITON_BRANCH": "ccccccc",
    "TRITON_REPO": "https://github.com/ROCm/triton.git",
    "PYTORCH_BRANCH": "bbbbbbb",
    "PYTORCH_REPO": "https://github.com/ROCm/pytorch.git",
    "PYTORCH_ROCM_ARCH": "gfx1100;gfx90a",
}
DOCKERFILE = f"""\
ARG BASE_IMAGE={ARGS["BASE_IMAGE"]}
ARG TRITON_BRANCH="1234567"
ARG TRITON_BRANCH="ccccccc"
ARG TRITON_REPO="{ARGS["TRITON_REPO"]}"
ARG PYTORCH_BRANCH="bbbbbbb" # release/2.11 as of 6/09
ARG PYTORCH_REPO="{ARGS["PYTORCH_REPO"]}"
ARG PYTORCH_ROCM_ARCH={ARGS["PYTORCH_ROCM_ARCH"]}
FROM base AS build_triton
ARG TRITON_BRANCH
RUN git checkout ${{TRITON_BRANCH}} \\
    && git cherry-pick ddddddd
FROM base AS build_other
RUN git cherry-pick eeeeeee
"""


class World:
    """A data folder; what a test changes in it, it changes before ``make``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.release: dict[str, Any] = {
            "tag": TAG,
            "commit": VLLM,
            "rocm_requirements": {"torch": {"version": "2.11.0", "file": "requirements/build/rocm.txt"}},
            "build_system_requires": ["ninja", "torch == 2.13.0"],
            "dockerfile_rocm_base": {
                "path": "docker/Dockerfile.rocm_base",
                "args": dict(ARGS),
                "arg_comments": {"PYTORCH_BRANCH": "release/2.11 as of 6/09"},
            },
        }
        self.shorts: list[dict[str, Any]] = [
            {"arg": "TRITON_BRANCH", "value": "ccccccc", "commit": TRITON, "from": "a text"},
            {
                "arg": "cherry-pick in build_triton",
                "value": "ddddddd",
                "commit": PICK,
                "date": "2026-01-01",
                "from": "triton-lang/triton pull 1",
            },
        ]
        self.repositories: dict[str, Any] = {
            "vllm-project/vllm": [
                {"tag": tag, "commit": VLLM, "date": "2026-01-01T10:00:00", "from": {"package": "PyPI sdist"}}
                for tag in ("v0.9.0", "proto-1", TAG)
            ],
            "ROCm/pytorch": {"pinned_commits": [{"commit": TORCH, "version": "2.11.x", "from": "a log"}]},
            "other/pytorch": [{"tag": "v9", "commit": "b" * 39 + "0", "from": {"package": "PyPI"}}],
        }
        self.files = {
            "docker/Dockerfile.rocm_base": DOCKERFILE,
            "requirements/common.txt": "numpy # the number\nregex ; python_version<'3.13'\n",
            "requirements/rocm.txt": "-r common.txt\n\n--find-links x\npeft>=1\n",
            "requirements/build/rocm.txt": "-r ../common.txt\n--extra-index-url x\ntorch==2.11.0\n",
            "pyproject.toml": '[build-system]\nrequires = ["ninja",\n"torch == 2.13.0"]\n',
        }

    def make(self) -> str:
        self._write("releases.json", {"repositories": self.repositories})
        self._write("vllm_pins.json", {"releases": [self.release], "resolved_short_pins": self.shorts})
        for name, key in (("pytorch_pins", "releases"), ("rocm", "releases"), ("combos", "combos")):
            self._write(f"{name}.json", {key: []})
        self._write("triton_pins.json", {"pinned_commits": []})
        self._write("companions.json", {"repositories": {}})
        for path, text in self.files.items():
            file = self.folder / "raw/vllm-project/vllm" / TAG / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return render_snapshot(make_snapshot(self.folder, date(2026, 12, 1)))

    def _write(self, name: str, data: object) -> None:
        (self.folder / name).write_text(json.dumps(data))

    def read(self) -> facts.TestedSet:
        path = self.folder / "snapshot.json"
        path.write_text(self.make())
        (tested,) = all_sets(read_snapshot(path), "vllm")
        return tested

    def pin(self, package: str) -> facts.Pin:
        return next(pin for pin in self.read().pins if pin.package == package)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_set_holds_what_the_files_say_at_their_lines(world: World) -> None:
    tested = world.read()
    assert tested.rocm is not None
    assert (tested.rocm.value, tested.rocm.origin.line) == ("7.2.3", 1)
    assert tested.gfx == ("gfx90a", "gfx1100")
    triton, torch = (
        next(pin for pin in tested.pins if pin.package == name) for name in ("triton", "pytorch")
    )
    assert str(triton.origin) == f"vllm@{VLLM}:docker/Dockerfile.rocm_base:3"  # the later ARG overrides
    assert torch.origin.line == 5
    assert [(s.package, s.specifier, s.origin.path, s.origin.line) for s in tested.statements] == [
        ("pytorch", "==2.11.0", "requirements/build/rocm.txt", 3),
    ]
    assert tested.unread == ()


def test_only_the_picks_of_a_package_are_its_own(world: World) -> None:
    (pick,) = world.pin("triton").picks
    assert (pick.asked, pick.commit, pick.origin.line) == ("ddddddd", PICK, 11)
    assert pick.commit_origin is not None
    assert pick.commit_origin.evidence == "stated"
    assert world.pin("pytorch").picks == ()


def test_a_short_commit_is_expanded_by_the_data_or_a_unique_prefix(world: World) -> None:
    triton, torch = world.pin("triton"), world.pin("pytorch")
    assert (triton.commit, torch.commit) == (TRITON, TORCH)
    assert triton.commit_origin is not None
    assert (triton.commit_origin.where, triton.commit_origin.evidence) == ("a text", "inferred")
    assert torch.version is not None
    assert (torch.version.value, torch.version.origin.evidence) == ("2.11", "inferred")


def test_a_prefix_of_two_commits_says_nothing(world: World) -> None:
    world.repositories["ROCm/pytorch"]["pinned_commits"].append({"commit": "b" * 39 + "1", "from": "a log"})
    assert world.pin("pytorch").commit is None


def test_another_repositorys_commit_is_not_taken(world: World) -> None:
    world.repositories["ROCm/pytorch"]["pinned_commits"] = []
    world.shorts.append(
        {
            "arg": "PYTORCH_BRANCH",
            "value": "bbbbbbb",
            "commit": TORCH,
            "date": "2026-01-01",
            "from": "some/fork",
        }
    )
    torch = world.pin("pytorch")
    assert torch.commit is None
    assert torch.version is not None
    assert torch.version.value == "2.11"  # the ARG's comment says so


def test_a_wheel_is_no_source(world: World) -> None:
    args = world.release["dockerfile_rocm_base"]["args"]
    del args["PYTORCH_BRANCH"]
    args["TORCH_VERSION"] = "2.13.0+rocm10.0.0"
    world.files["docker/Dockerfile.rocm_base"] += "ARG TORCH_VERSION=2.13.0+rocm10.0.0\n"
    torch = world.pin("pytorch")
    assert (torch.wheel, torch.commit, torch.origin.line) == ("2.13.0+rocm10.0.0", None, 14)


def test_requirement_lines(world: World) -> None:
    tested = world.read()
    assert [(line.text, line.origin.path, line.origin.line) for line in tested.requires_run or ()] == [
        ("numpy", "requirements/common.txt", 1),
        ('regex; python_version < "3.13"', "requirements/common.txt", 2),
        ("peft>=1", "requirements/rocm.txt", 4),
    ]
    assert [(line.text, line.origin.path, line.origin.line) for line in tested.requires_build or ()] == [
        ("torch==2.11.0", "requirements/build/rocm.txt", 3),
        ("ninja", "pyproject.toml", 2),
    ]


def test_what_is_not_stored_is_unread(world: World) -> None:
    world.files = {}
    tested = world.read()
    assert tested.requires_run is None
    assert tested.unread == ("the RUN lines of docker/Dockerfile.rocm_base", "the requirement files")
    assert {pin.origin.line for pin in tested.pins} == {0}


def test_a_fixed_checkout_inside_a_source_is_unread(world: World) -> None:
    world.files["docker/Dockerfile.rocm_base"] += "FROM base AS build_pytorch\nRUN git checkout 2d73be3\n"
    assert world.read().unread == ("what the checkout of 2d73be3 in docker/Dockerfile.rocm_base:15 changes",)


def test_data_that_contradicts_the_file_ends_the_run(world: World) -> None:
    world.release["dockerfile_rocm_base"]["args"]["TRITON_BRANCH"] = "1234567"
    with pytest.raises(SystemExit) as raised:
        world.make()
    assert "Dockerfile.rocm_base:3" in str(raised.value)


def test_a_line_that_is_no_requirement_ends_the_run(world: World) -> None:
    world.files["requirements/rocm.txt"] += "not a requirement\n"
    with pytest.raises(RocmlockError) as raised:
        world.make()
    [problem] = raised.value.problems
    assert str(problem.place).endswith("requirements/rocm.txt:5")


def test_the_same_data_gives_the_same_bytes_in_any_order(world: World) -> None:
    text = world.make()
    world.repositories = {
        name: rows[::-1] if isinstance(rows, list) else rows
        for name, rows in reversed(world.repositories.items())
    }
    assert world.make() == text
    tags = [row[0] for row in json.loads(text)["releases"]["vllm-project/vllm"]]
    assert tags == [TAG, "v0.9.0", "proto-1"]
    assert f'\n["{TAG}",' in text  # a release a line
