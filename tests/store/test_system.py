"""The host's fingerprint: what changes it, what does not, and that measuring twice hashes nothing."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from rocmlock.errors import RocmlockError
from rocmlock.store.system import (
    HashCache,
    measure_host,
    parse_packages,
    read_packages,
    read_release,
    render_system,
)

STATUS = """\
Package: zlib1g
Status: install ok installed
Priority: required
Architecture: amd64
Version: 1:1.2.13
Description: compression library
 Version: 9 of the text is not a field
 .
 Package: neither

Package: zlib1g
Status: hold ok installed
Architecture: i386
Version: 1:1.2.13

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0

Package: half
Status: install reinstreq half-installed
Architecture: amd64
Version: 1.0

Package: base-files
Status: install ok installed
Architecture: amd64
Version: 12.4
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The records of a small Debian."""
    root = tmp_path / "root"
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").write_text(STATUS)
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('NAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n')
    return root


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "cc1plus"
    path.write_bytes(b"a compiler")
    return path


def _measure(root: Path, *files: Path) -> str:
    return measure_host(files, HashCache(root / "hashes.json"), root).fingerprint


def test_only_installed_packages_count_each_by_architecture() -> None:
    assert parse_packages(STATUS) == [
        "base-files amd64 12.4",
        "zlib1g amd64 1:1.2.13",
        "zlib1g i386 1:1.2.13",
    ]


def test_packages_are_sorted_whatever_the_order_of_the_database() -> None:
    turned = "\n\n".join(reversed(STATUS.strip().split("\n\n")))
    assert parse_packages(turned) == parse_packages(STATUS)


def test_the_text_behind_a_fingerprint() -> None:
    text = render_system("debian 12", ["a amd64 1"], ["file /usr/bin/cc 00ff"])
    assert text == "rocmlock-host-v1\nrelease debian 12\npackage a amd64 1\nfile /usr/bin/cc 00ff\n"


def test_measuring_twice_gives_the_same(root: Path, program: Path) -> None:
    assert _measure(root, program) == _measure(root, program, program)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("var/lib/dpkg/status", "12.4", "12.5"),
        ("var/lib/dpkg/status", "Architecture: i386", "Architecture: armhf"),
        ("etc/os-release", '"12"', '"13"'),
    ],
)
def test_another_package_or_release_is_another_system(
    root: Path, program: Path, file: str, old: str, new: str
) -> None:
    before = _measure(root, program)
    text = (root / file).read_text()
    (root / file).write_text(text.replace(old, new))
    assert _measure(root, program) != before


def test_another_compiler_is_another_system(root: Path, program: Path) -> None:
    before = _measure(root, program)
    program.write_bytes(b"b compiler")
    assert _measure(root, program) != before


def test_a_link_counts_as_the_file_behind_it(root: Path, program: Path) -> None:
    link = program.with_name("link")
    link.symlink_to(program)
    assert _measure(root, link) == _measure(root, program)


def test_a_removed_package_that_left_its_configuration_changes_nothing(root: Path, program: Path) -> None:
    before = _measure(root, program)
    (root / "var/lib/dpkg/status").write_text(STATUS.replace("Package: gone", "Package: forgotten"))
    assert _measure(root, program) == before


def test_the_loader_and_the_c_library_are_always_measured(root: Path) -> None:
    system = measure_host([], HashCache(root / "hashes.json"), root)
    names = {Path(file).name for file in system.files}
    assert "libc.so.6" in names
    assert any(name.startswith("ld-linux") for name in names)
    assert (system.kind, system.packages) == ("host", 3)


def test_what_is_remembered_is_not_hashed_again(root: Path, program: Path) -> None:
    cache = HashCache(root / "hashes.json")
    assert cache.hash(program) == hashlib.sha256(b"a compiler").hexdigest()
    assert cache.changed
    (root / "hashes.json").write_text(cache.text().replace(cache.hash(program), "0" * 64))
    again = HashCache(root / "hashes.json")
    assert again.hash(program) == "0" * 64
    assert not again.changed


def test_a_replaced_file_of_the_same_size_and_time_is_hashed_again(root: Path, program: Path) -> None:
    cache = HashCache(root / "hashes.json")
    cache.hash(program)
    times = (program.stat().st_atime_ns, program.stat().st_mtime_ns)
    other = program.with_name("other")
    other.write_bytes(b"b compiler")
    os.utime(other, ns=times)
    other.replace(program)
    assert cache.hash(program) == hashlib.sha256(b"b compiler").hexdigest()


def test_a_file_rewritten_in_place_with_its_time_put_back_is_hashed_again(root: Path, program: Path) -> None:
    cache = HashCache(root / "hashes.json")
    cache.hash(program)
    before = program.stat()
    while program.stat().st_ctime_ns == before.st_ctime_ns:  # the kernel's clock ticks every few milliseconds
        program.write_bytes(b"b compiler")
        os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert program.stat().st_ino == before.st_ino
    assert cache.hash(program) == hashlib.sha256(b"b compiler").hexdigest()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"PATH": 5}', '{"PATH": []}', '{"PATH": [1, 2]}'])
def test_a_damaged_cache_is_measured_again(root: Path, program: Path, text: str) -> None:
    (root / "hashes.json").write_text(text.replace("PATH", str(program)))
    cache = HashCache(root / "hashes.json")
    assert cache.hash(program) == hashlib.sha256(b"a compiler").hexdigest()
    assert cache.changed
    assert str(program) in json.loads(cache.text())


def test_a_program_that_cannot_be_read(root: Path, tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as caught:
        _measure(root, tmp_path)
    assert caught.value.reason.reference == "file-unreadable"
    assert str(tmp_path) in caught.value.message


def test_a_system_without_dpkg(tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as caught:
        measure_host([], HashCache(tmp_path / "hashes.json"), tmp_path)
    assert caught.value.reason.reference == "machine-lacks"
    assert read_release(tmp_path) == " "


@pytest.mark.skipif(not Path("/var/lib/dpkg/status").exists(), reason="no dpkg database here")
def test_this_machine() -> None:
    rows = read_packages(Path("/"))
    assert any(row.startswith("libc6 ") for row in rows)
    assert read_release(Path("/")).strip()
