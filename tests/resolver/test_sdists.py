"""Source distributions: chosen by range and date, read without executing them, checked by hash."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_server import sdist, serve

from rocmlock.errors import RocmlockError
from rocmlock.package_index import IndexFile, PackageIndex
from rocmlock.resolver.sdists import choose_sdist, fetch_sdist, parse_requirements

INFO = "Metadata-Version: 2.2\nName: thing\nVersion: 1.0\nRequires-Dist: numpy>=2\nRequires-Dist: pytest; extra == 'test'\n"


def file(version: str, *, yanked: bool = False, sha256: str | None = "a" * 64, day: int = 1) -> IndexFile:
    uploaded = datetime(2026, 1, day, tzinfo=UTC)
    return IndexFile(
        "thing", f"thing-{version}.tar.gz", version, True, sha256, 1, uploaded, yanked, "http://x"
    )


def chosen(files: list[IndexFile], specifier: str = "", before: date | None = None) -> str | None:
    found = choose_sdist(files, specifier, before)
    return found.version if found else None


def test_the_newest_that_counts() -> None:
    files = [
        *(file("1.0"), file("1.10"), file("1.9"), file("2.0", yanked=True), file("2.1", sha256=None)),
        *(file("3.0rc1"), file("nonsense")),
    ]
    assert chosen(files) == "1.10"
    assert chosen(files, "<1.10") == "1.9"
    assert chosen(files, ">=3.0rc1") == "3.0rc1"
    assert chosen(files, ">=4") is None


def test_nothing_uploaded_later_counts() -> None:
    files = [file("1.0", day=1), file("2.0", day=20)]
    assert chosen(files, "", date(2026, 1, 10)) == "1.0"
    assert chosen(files, "", date(2026, 1, 20)) == "1.0"
    assert chosen(files, "", date(2026, 1, 1)) is None


def test_an_unknown_day_does_not_count_as_early() -> None:
    undated = replace(file("2.0"), uploaded=None)
    assert chosen([undated, file("1.0")]) == "2.0"
    assert chosen([undated, file("1.0")], "", date(2026, 1, 10)) == "1.0"


def test_requirements_are_read_from_the_archive() -> None:
    pyproject = '[build-system]\nrequires = ["flit_core"]\n'
    data = sdist(
        "thing", "1.0", {"pyproject.toml": pyproject, "PKG-INFO": INFO, "sub/PKG-INFO": "Requires-Dist: no"}
    )
    assert parse_requirements(data, "f") == (("flit_core",), ("numpy>=2",))
    build, _ = parse_requirements(sdist("thing", "1.0", {"setup.py": "raise SystemExit"}), "f")
    assert build == ("setuptools>=40.8.0", "wheel")


@pytest.mark.parametrize(
    "line", ["a; extra == 'x'", "a; extra=='x'", 'a ; python_version > "3" and extra == "x"']
)
def test_what_only_an_extra_needs_is_left_out(line: str) -> None:
    info = (
        f"Metadata-Version: 2.2\nName: thing\nVersion: 1.0\nRequires-Dist: {line}\nRequires-Dist: extras>=1\n"
    )
    assert parse_requirements(sdist("thing", "1.0", {"PKG-INFO": info}), "f")[1] == ("extras>=1",)


def test_a_huge_member_is_not_read() -> None:
    huge = INFO + "\n" + "x" * (5 << 20)
    assert parse_requirements(sdist("thing", "1.0", {"PKG-INFO": huge}), "f")[1] == ()


@pytest.mark.parametrize(
    "text", ["build-system = 3", "[build-system]\nrequires = 'flit'", "[[", "a = 1\na = 2"]
)
def test_an_odd_pyproject_is_told(text: str) -> None:
    with pytest.raises(RocmlockError) as raised:
        parse_requirements(sdist("thing", "1.0", {"pyproject.toml": text}), "f.tar.gz")
    assert raised.value.reason.reference == "source-invalid"
    assert "f.tar.gz" in raised.value.message


@given(st.data())
def test_damage_anywhere_is_told_or_harmless(data: st.DataObject) -> None:
    broken = bytearray(sdist("thing", "1.0", {"PKG-INFO": INFO}))
    for _ in range(data.draw(st.integers(1, 3))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    try:
        parse_requirements(bytes(broken), "f.tar.gz")
    except RocmlockError as error:
        assert error.reason.reference == "source-invalid"


@pytest.mark.parametrize(
    "data", [b"", b"not a tar", sdist("a", "1", {"PKG-INFO": INFO})[:40]], ids=["empty", "text", "cut"]
)
def test_a_broken_archive_is_told(data: bytes) -> None:
    with pytest.raises(RocmlockError) as raised:
        parse_requirements(data, "f.tar.gz")
    assert raised.value.reason.reference == "source-invalid"


def fetch(url: str, name: str = "thing") -> str:
    index = PackageIndex({"ROCMLOCK_INDEX_URL": url})
    return fetch_sdist(index, name, "", None).source.file


def reference(url: str, name: str = "thing") -> RocmlockError:
    with pytest.raises(RocmlockError) as raised:
        fetch(url, name)
    return raised.value


def test_an_index_over_http() -> None:
    data = sdist("thing", "1.0", {"PKG-INFO": INFO})
    with serve({"thing-1.0.tar.gz": data}) as url:
        assert fetch(url) == "thing-1.0.tar.gz"
        assert reference(url, "other").reason.reference == "unsatisfiable"
    with serve({"thing-1.0-py3-none-any.whl": b"", "thing-0.9.zip": b""}) as url:
        assert reference(url).reason.reference == "unsatisfiable"
    with serve({"thing-1.0.tar.gz": data}, lies={"thing-1.0.tar.gz": "b" * 64}) as url:
        assert reference(url).reason.reference == "hash-mismatch"


def test_an_index_that_is_gone_is_told_without_its_password() -> None:
    error = reference("http://me:hunter2@127.0.0.1:9/simple/")
    assert error.reason.reference == "offline-missing"
    told = error.message + "".join(error.context) + error.hint
    assert "hunter2" not in told
    assert "127.0.0.1" not in told
