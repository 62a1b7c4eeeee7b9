"""The Python layer: uv resolves, stubs hold out what is built from source, files are chosen by tags."""

from __future__ import annotations

import os
import zipfile
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from index_server import serve, wheel
from packaging.metadata import Metadata

from rocmlock.errors import RocmlockError
from rocmlock.resolver.python_layer import LayerContext, LayerRequest, fetch_layer, parse_layer, plan_command
from rocmlock.resolver.stubs import HeldOut, write_stub
from rocmlock.resolver.wheel_tags import choose_wheel

PLATFORM = "manylinux_2_34_x86_64"
TORCH = HeldOut("torch", "2.11.0", ("filelock", "typing-extensions"))
# The index has files of this very version, with other requirements: the stub must win all the same.
VISION = HeldOut("torchvision", "0.24.1", ("pillow",))


def request(*lines: str, held: tuple[HeldOut, ...] = ()) -> LayerRequest:
    return LayerRequest("the layer", lines, held, "3.12", PLATFORM, "default")


def fetch(*lines: str, held: tuple[HeldOut, ...] = (), **environ: str) -> dict[str, str]:
    wheels = fetch_layer(request(*lines, held=held), LayerContext({**os.environ, **environ}))
    return {wheel.name: wheel.files[0].file for wheel in wheels}


def failure(*lines: str, held: tuple[HeldOut, ...] = (), **environ: str) -> RocmlockError:
    with pytest.raises(RocmlockError) as raised:
        fetch(*lines, held=held, **environ)
    return raised.value


@pytest.mark.requires("network")
def test_wheels_are_locked_by_file_and_hash() -> None:
    (wheel,) = fetch_layer(request("einops==0.8.1"), LayerContext(os.environ))
    assert wheel.id == "einops==0.8.1"
    assert wheel.files[0].file == "einops-0.8.1-py3-none-any.whl"
    assert len(wheel.files[0].digest) == len("sha256:") + 64
    assert wheel.files[0].size > 0


@pytest.mark.requires("network")
def test_what_is_built_from_source_never_comes_from_the_index() -> None:
    found = fetch("timm>=1.0", "torch", held=(TORCH, VISION))
    assert {"timm", "pillow", "filelock"} <= set(found)
    assert not [name for name in found if name in {"torch", "torchvision"} or name.startswith("nvidia")]


@pytest.mark.requires("network")
def test_without_the_stub_a_cuda_build_is_refused() -> None:
    error = failure("torch==2.9.1")
    assert error.reason.reference == "python-unsatisfiable"
    assert "torch==2.9.1" in error.message


@pytest.mark.requires("network")
def test_a_contradiction_is_told_in_uvs_words_without_addresses() -> None:
    error = failure("einops>=0.8", "einops<0.7")
    assert error.reason.reference == "python-unsatisfiable"
    assert any("einops" in line for line in error.context)
    assert "://" not in "".join(error.context)


@pytest.mark.requires("network")
def test_a_bound_on_a_held_out_version_is_a_conflict() -> None:
    assert failure("torch>=3", held=(TORCH,)).reason.reference == "python-unsatisfiable"


def test_the_stub_wins_over_files_of_the_same_version_and_later_ones(tmp_path: Path) -> None:
    files = dict(
        [
            wheel("torch", "2.11.0", "nvidia-cublas"),
            wheel("torch", "2.12.0", "nvidia-cublas"),
            wheel("nvidia_cublas", "13.0"),
            wheel("filelock", "3.0"),
            wheel("filelock", "3.1"),
            wheel("typing_extensions", "4.15"),
            wheel("user", "1.0", "torch>=2.11.0", "filelock<3.1"),
        ]
    )
    with serve(files) as url:
        cache = str(tmp_path)
        assert fetch("user", "torch", held=(TORCH,), UV_DEFAULT_INDEX=url, UV_CACHE_DIR=cache) == {
            "filelock": "filelock-3.0-py3-none-any.whl",
            "typing-extensions": "typing_extensions-4.15-py3-none-any.whl",
            "user": "user-1.0-py3-none-any.whl",
        }
        refused = failure("user", UV_DEFAULT_INDEX=url, UV_CACHE_DIR=cache)
    assert refused.reason.reference == "python-unsatisfiable"
    assert "torch==2.12.0" in refused.message
    assert "nvidia-cublas==13.0" in refused.message


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_an_index_that_refuses_is_not_taken_for_a_contradiction(tmp_path: Path, status: int) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- http.server's name
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://me:hunter2@127.0.0.1:{server.server_port}/simple"
        error = failure("einops", UV_DEFAULT_INDEX=url, UV_CACHE_DIR=str(tmp_path), UV_HTTP_RETRIES="0")
    finally:
        server.shutdown()
        server.server_close()
    assert error.reason.reference == "upstream-unreadable"
    assert str(status) in error.message
    assert "hunter2" not in error.message + "".join(error.context) + error.hint
    assert "://" not in "".join(error.context)


def test_the_command_takes_wheels_for_the_target_alone() -> None:
    command = plan_command(request("einops", held=(TORCH, VISION)), "uv")
    pairs = list(pairwise(command))
    for pair in (
        ("--only-binary", ":all:"),
        ("--python-version", "3.12"),
        ("--python-platform", "x86_64-manylinux_2_34"),
        ("--find-links", "links"),
        ("--no-emit-package", "torch"),
        ("--no-emit-package", "torchvision"),
    ):
        assert pair in pairs, pair
    assert "--exclude-newer" not in command
    dated = LayerRequest("x", (), (), "3.12", PLATFORM, "default", date(2026, 7, 1))
    assert plan_command(dated, "uv")[-2:] == ["--exclude-newer", "2026-07-01"]


@pytest.mark.parametrize("version", ["2.11.0", "2.11.0+rocm7.2", "", "0.5.dev3"])
def test_a_stub_says_its_version_and_needs(tmp_path: Path, version: str) -> None:
    held = HeldOut("Flash-Attn", version, ("einops", "torch>=2; python_version>'3.8'"))
    write_stub(tmp_path, held)
    (file,) = tmp_path.iterdir()
    with zipfile.ZipFile(file) as archive:
        (path,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        metadata = Metadata.from_email(archive.read(path), validate=True)
    assert file.name.startswith("flash_attn-")
    assert metadata.name == "Flash-Attn"
    assert metadata.version.local == "rocmlock"
    assert [req.name for req in metadata.requires_dist or ()] == ["einops", "torch"]


def test_an_index_out_of_reach_is_told_without_its_password(tmp_path: Path) -> None:
    url = "http://me:hunter2@127.0.0.1:9/simple"
    error = failure(
        "einops", UV_DEFAULT_INDEX=url, UV_CACHE_DIR=str(tmp_path), UV_HTTP_RETRIES="0", UV_HTTP_TIMEOUT="5"
    )
    assert error.reason.reference == "offline-missing"
    assert "the layer" in error.message
    assert "hunter2" not in error.message + "".join(error.context) + error.hint


@pytest.mark.parametrize(
    "text",
    [
        "packages = 3",
        '[[packages]]\nname = "x"',
        '[[packages]]\nname = "x"\nversion = "1"\nwheels = []',
        '[[packages]]\nname = "x"\nversion = "1"\nwheels = [{url = "https://h/x-1-py3-none-any.whl", hashes = {}}]',
        "[[",
    ],
)
def test_an_odd_answer_is_told(text: str) -> None:
    with pytest.raises(RocmlockError) as raised:
        parse_layer(text, request())
    assert raised.value.reason.reference == "upstream-unreadable"


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["x-1-py3-none-any.whl", "x-1-cp312-cp312-manylinux_2_28_x86_64.whl"], 1),
        (
            [
                "x-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
                "x-1-cp39-abi3-manylinux_2_34_x86_64.whl",
            ],
            0,
        ),
        (["x-1-cp39-abi3-manylinux2014_x86_64.whl", "x-1-cp39-abi3-manylinux_2_34_x86_64.whl"], 1),
        (["x-1-cp312-cp312-manylinux_2_35_x86_64.whl", "x-1-py3-none-any.whl"], 1),
        (["x-1-cp311-cp311-manylinux_2_17_x86_64.whl", "x-1-cp312-cp312-musllinux_1_2_x86_64.whl"], None),
        (["x-1-py310-none-any.whl", "x-1-py312-none-any.whl", "x-1-py39-none-any.whl"], 1),
    ],
)
def test_the_file_that_fits_best_is_taken(files: list[str], chosen: int | None) -> None:
    expected = None if chosen is None else files[chosen]
    assert choose_wheel(files, "3.12", PLATFORM) == expected
    assert choose_wheel(reversed(files), "3.12", PLATFORM) == expected


@pytest.mark.parametrize("name", ["flash_attn", "pytorch_triton_rocm", "triton", "vllm", "nvidia_cublas"])
def test_no_layer_takes_a_gpu_build_from_an_index(tmp_path: Path, name: str) -> None:
    """Two Tritons share one import package; a flash-attn wheel is built for another torch."""
    with serve(dict([wheel(name, "1.0"), wheel("user", "1.0", name)])) as url:
        refused = failure("user", UV_DEFAULT_INDEX=url, UV_CACHE_DIR=str(tmp_path))
    assert refused.reason.reference == "python-unsatisfiable"
    assert f"{name.replace('_', '-')}==1.0" in refused.message
