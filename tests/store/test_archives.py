"""Unpacking: nothing lands outside, whatever the archive says."""

from __future__ import annotations

import io
import random
import tarfile
from pathlib import Path

import pytest

from rocmlock.errors import RocmlockError
from rocmlock.store.archives import unpack_sdist


def member(
    name: str, *, kind: bytes = tarfile.REGTYPE, link: str = "", data: bytes = b"x", mode: int = 0o644
):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, link, mode
    made.size = len(data) if kind == tarfile.REGTYPE else 0
    return made, data


def archive(folder: Path, *members) -> Path:
    path = folder / "a.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for made, data in members:
            tar.addfile(made, io.BytesIO(data) if made.size else None)
    return path


def test_a_source_distribution_without_its_top_folder(tmp_path: Path) -> None:
    path = archive(
        tmp_path,
        member("p-1", kind=tarfile.DIRTYPE),
        member("p-1/run", mode=0o755),
        member("p-1/src/m.c", data=b"int"),
        member("p-1/l", kind=tarfile.SYMTYPE, link="src/m.c"),
    )
    (tmp_path / "out").mkdir()
    unpack_sdist(path, tmp_path / "out", "p")
    assert (tmp_path / "out" / "l").read_text() == "int"
    assert (tmp_path / "out" / "run").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "members",
    [
        [member("p/../../escape")],
        [member("/absolute/x")],
        [member("p/l", kind=tarfile.SYMTYPE, link="/etc"), member("p/l/passwd")],
        [member("p/l", kind=tarfile.SYMTYPE, link="../..")],
        [member("p/a/l", kind=tarfile.SYMTYPE, link="../../x")],
        [member("p/h", kind=tarfile.LNKTYPE, link="/etc/passwd")],
        [member("p/d", kind=tarfile.CHRTYPE)],
        [member("p/f", kind=tarfile.FIFOTYPE)],
    ],
)
def test_an_archive_that_reaches_out_is_refused(tmp_path: Path, members) -> None:
    path = archive(tmp_path, *members)
    (tmp_path / "deep" / "out").mkdir(parents=True)
    with pytest.raises(RocmlockError) as raised:
        unpack_sdist(path, tmp_path / "deep" / "out", "p.tar.gz")
    assert raised.value.reason.reference == "source-invalid"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.tar.gz", "deep"]


def test_a_link_is_never_written_through(tmp_path: Path) -> None:
    """A link to a folder inside, then a file below it: the file goes to a real folder or nowhere."""
    path = archive(tmp_path, member("p/l", kind=tarfile.SYMTYPE, link="d"), member("p/l/f"), member("p/d/g"))
    (tmp_path / "out").mkdir()
    with pytest.raises((RocmlockError, FileExistsError)):
        unpack_sdist(path, tmp_path / "out", "p.tar.gz")
    assert not (tmp_path / "out" / "d" / "f").exists()


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocmlock.store.archives.MAX_BYTES", 1000)
    path = archive(tmp_path, *(member(f"p/{n}", data=b"0" * 400) for n in range(3)))
    (tmp_path / "out").mkdir()
    with pytest.raises(RocmlockError) as raised:
        unpack_sdist(path, tmp_path / "out", "p.tar.gz")
    assert raised.value.reason.reference == "source-invalid"


def test_damage_is_told(tmp_path: Path) -> None:
    path = archive(tmp_path, member("p/f", data=random.Random(1).randbytes(90_000)))
    path.write_bytes(path.read_bytes()[:40_000])
    (tmp_path / "out").mkdir()
    with pytest.raises(RocmlockError) as raised:
        unpack_sdist(path, tmp_path / "out", "p.tar.gz")
    assert raised.value.reason.reference == "source-invalid"
