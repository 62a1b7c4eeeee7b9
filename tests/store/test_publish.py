"""Publication: whole or not at all, whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocmlock.errors import RocmlockError
from rocmlock.store.blobs import BlobStore
from rocmlock.store.layout import find_store, open_store
from rocmlock.store.leases import lease
from rocmlock.store.publish import Publication, collect_scratch, write_file

# Publishes three files in a child process, which dies before the step with the number given.
CHILD = """
import os, sys
from pathlib import Path
from rocmlock.store.blobs import BlobStore
from rocmlock.store.layout import open_store
from rocmlock.store.publish import Publication

layout, die_at = open_store(Path(sys.argv[1])), int(sys.argv[2])
steps = []

def step(name):
    steps.append(name)
    if len(steps) == die_at:
        os._exit(9)

with Publication(layout, step) as publication:
    for text in (b"one", b"two"):
        BlobStore(layout).add_bytes(publication, text)
    publication.stage(layout.realisation("k")).write_bytes(b"names them")
    publication.commit()
print(len(steps))
"""


def run_child(store: Path, die_at: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(store), str(die_at)], check=False, capture_output=True, text=True
    )


def files(store: Path) -> list[str]:
    return sorted(str(path.relative_to(store)) for path in store.rglob("*") if path.is_file())


def test_killed_at_any_step_leaves_a_store_that_works(tmp_path: Path) -> None:
    whole = run_child(tmp_path / "whole", 0)
    for die_at in range(1, int(whole.stdout) + 1):
        store = tmp_path / str(die_at)
        assert run_child(store, die_at).returncode == 9
        layout = open_store(store)
        if layout.realisation("k").exists():
            assert len(files(store / "blobs")) == 2  # what names others comes last
        for blob in (store / "blobs").rglob("*"):
            if blob.is_file():
                BlobStore(layout).read(blob.name)
        collect_scratch(layout)
        assert list(layout.tmp.iterdir()) == []
        assert run_child(store, 0).returncode == 0
        assert files(store) == files(tmp_path / "whole")


def test_scratch_of_the_living_is_left_alone(tmp_path: Path) -> None:
    layout = open_store(tmp_path)
    with Publication(layout) as publication:
        collect_scratch(layout)
        assert publication.folder.is_dir()
    assert list(layout.tmp.iterdir()) == []


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    layout = open_store(tmp_path)

    def fail() -> None:
        with Publication(layout) as publication:
            BlobStore(layout).add_bytes(publication, b"one")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert files(tmp_path) == ["format"]


@pytest.mark.parametrize(
    ("chunks", "limit", "expected"),
    [([b"other"], 100, "hash-mismatch"), ([b"o", b"ne", b"!"], 3, "source-invalid")],
)
def test_a_download_that_is_not_what_was_asked_for_is_not_kept(
    tmp_path: Path, chunks: list[bytes], limit: int, expected: str
) -> None:
    import hashlib

    layout = open_store(tmp_path)
    with pytest.raises(RocmlockError) as raised, Publication(layout) as publication:
        BlobStore(layout).add_stream(publication, chunks, hashlib.sha256(b"one").hexdigest(), "f", limit)
    assert raised.value.reason.reference == expected
    assert files(tmp_path) == ["format"]


SMALL_DISK = """
import sys
from pathlib import Path
from rocmlock.errors import RocmlockError
from rocmlock.store.blobs import BlobStore
from rocmlock.store.layout import open_store
from rocmlock.store.publish import Publication

layout = open_store(Path("/mnt/store"))
try:
    with Publication(layout) as publication:
        for number in range(64):
            BlobStore(layout).add_bytes(publication, bytes([number]) * 100_000)
        publication.commit()
except RocmlockError as error:
    print(error.reason.reference)
print([str(path) for path in layout.root.rglob("*") if path.is_file()])
"""


@pytest.mark.requires("bwrap")
def test_a_full_disk_is_told_and_nothing_half_written_is_left() -> None:
    command = [
        "bwrap",
        "--dev-bind",
        "/",
        "/",
        "--size",
        "1000000",
        "--tmpfs",
        "/mnt",
        sys.executable,
        "-c",
        SMALL_DISK,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["store-full", "['/mnt/store/format']"], done.stderr


READ_ONLY = """
import sys
from pathlib import Path
from rocmlock.errors import RocmlockError
from rocmlock.store.layout import find_store, open_store
from rocmlock.store.publish import write_file
for attempt in (lambda: open_store(Path(sys.argv[1])), lambda: write_file(find_store(Path(sys.argv[1])), Path(sys.argv[1], "x"), b"")):
    try:
        attempt()
        print("written")
    except RocmlockError as error:
        print(error.reason.reference)
"""


@pytest.mark.requires("bwrap")
def test_a_store_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    open_store(tmp_path / "store")
    command = [
        "bwrap",
        "--dev-bind",
        "/",
        "/",
        "--ro-bind",
        str(tmp_path),
        str(tmp_path),
        sys.executable,
        "-c",
        READ_ONLY,
    ]
    done = subprocess.run([*command, str(tmp_path / "store")], check=False, capture_output=True, text=True)
    assert done.stdout.split() == ["store-unusable", "store-unusable"], done.stderr


def test_a_store_of_a_later_format_is_refused(tmp_path: Path) -> None:
    open_store(tmp_path)
    (tmp_path / "format").write_text("2\n")
    with pytest.raises(RocmlockError) as raised:
        open_store(tmp_path)
    assert raised.value.reason.reference == "store-format"


def test_reading_needs_a_store_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as raised:
        find_store(tmp_path / "none")
    assert raised.value.reason.reference == "store-unusable"
    assert not (tmp_path / "none").exists()


def test_small_files_are_replaced_whole(tmp_path: Path) -> None:
    layout = open_store(tmp_path)
    for text in (b"one", b"two"):
        write_file(layout, layout.systems / "x", text)
    assert (layout.systems / "x").read_bytes() == b"two"


HOLDER = """
import sys, time
from pathlib import Path
from rocmlock.store.layout import open_store
from rocmlock.store.leases import lease
with lease(open_store(Path(sys.argv[1])), "k", print):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lease_is_waited_for_and_dies_with_its_holder(tmp_path: Path) -> None:
    layout = open_store(tmp_path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    waited: list[str] = []

    def wait(who: str) -> None:
        waited.append(who)
        os.kill(holder.pid, 9)

    with lease(layout, "k", wait):
        pass
    holder.wait()
    (told,) = waited
    assert told.startswith(f"process {holder.pid} on {os.uname().nodename} since ")
    with lease(layout, "k", wait):
        assert len(waited) == 1


def test_a_store_that_was_stopped_while_it_was_made_is_made_again(tmp_path: Path) -> None:
    open_store(tmp_path)
    (tmp_path / "format").write_text("")
    open_store(tmp_path)
    assert (tmp_path / "format").read_text() == "1\n"
