"""The lock on disk: same bytes for equal locks, faults with their places, nothing half-written."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import lock_samples
import pytest
from harness import check_golden
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.files import write_text
from rocmlock.lockfile.codec import parse_lock, read_lock, render_lock
from rocmlock.lockfile.model import Lock

GOLDEN = Path(__file__).parent.parent / "golden" / "lock"


def failure(text: str) -> RocmlockError:
    with pytest.raises(RocmlockError) as raised:
        parse_lock(text, "x.lock")
    return raised.value


def places(text: str) -> list[str]:
    error = failure(text)
    assert error.reason.reference == "lock-invalid"
    return [str(problem.place) for problem in error.problems]


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize("make", [lock_samples.small, lock_samples.full])
def test_golden_bytes_and_back(make) -> None:
    lock: Lock = make()
    text = render_lock(lock)
    check_golden(GOLDEN / f"{lock.name}.lock", text)
    again = parse_lock(text, "x.lock")
    assert render_lock(again) == text
    assert {package.name: package for package in again.packages} == {
        package.name: package for package in lock.packages
    }
    assert (again.targets, again.flags, again.warnings) == (lock.targets, lock.flags, lock.warnings)


@given(st.randoms(use_true_random=False))
def test_order_makes_no_difference(random) -> None:
    lock = lock_samples.full()
    packages, wheels = list(lock.packages), list(lock.wheels)
    random.shuffle(packages)
    random.shuffle(wheels)
    variables = list(packages[0].environment.items())
    random.shuffle(variables)
    packages[0] = attrs.evolve(packages[0], environment=dict(variables))
    shuffled = attrs.evolve(lock, packages=tuple(packages), wheels=tuple(wheels))
    assert render_lock(shuffled) == render_lock(lock)


def test_it_names_no_host_no_time_and_no_tool() -> None:
    text = render_lock(lock_samples.full())
    assert "0.1.0" not in text
    assert [line for line in text.splitlines() if "://" in line] == ['url = "https://github.com/ROCm/triton"']


def test_a_later_version_is_refused_with_both_numbers() -> None:
    error = failure(render_lock(lock_samples.small()).replace("version = 1", "version = 2"))
    assert error.reason.reference == "lock-too-new"
    assert "2" in error.message
    assert "1" in error.message


def test_unknown_fields_of_a_later_revision_are_tolerated_and_of_ours_are_not() -> None:
    text = render_lock(lock_samples.small()).replace('name = "small"', 'name = "small"\nlicence = "x"')
    assert len(places(text)) == 1
    later = text.replace("revision = 0", "revision = 1")
    assert parse_lock(later, "x.lock").name == "small"


def test_merge_conflict_markers_are_recognised() -> None:
    text = render_lock(lock_samples.small())
    error = failure(
        text.replace('name = "small"', '<<<<<<< HEAD\nname = "small"\n=======\nname = "b"\n>>>>>>> x')
    )
    assert error.reason.reference == "lock-conflict"
    assert error.problems[0].place is not None
    assert error.problems[0].place.line == line_of(text, 'name = "small"')


@pytest.mark.parametrize(
    "edited", ["sha256:" + "a" * 63, "sha256:" + "A" * 64, "sha256:" + "0" * 64, "md5:" + "a" * 32, "a" * 64]
)
def test_an_edited_hash_is_found_with_its_line(edited: str) -> None:
    text = render_lock(lock_samples.small())
    wrong = text.replace("sha256:" + "a" * 64, edited)
    assert places(wrong) == [f"x.lock:{line_of(wrong, 'digest = ')}:1"]


@pytest.mark.parametrize("name", ["../x.whl", "a/b.whl", "", ".", "-x.whl", "a\\nb"])
def test_a_file_name_cannot_leave_its_folder(name: str) -> None:
    text = render_lock(lock_samples.full())
    wrong = text.replace("numpy-2.3.5-py3-none-any.whl", name)
    assert places(wrong)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"numpy==2.3.5",', '"numpy==2.3.6",'),
        ('targets = [\n    "default",\n]\ngfx', 'targets = [\n    "other",\n]\ngfx'),
        ('packages = [\n    "triton",\n]', 'packages = [\n    "tritn",\n]'),
        ('packages = [\n    "triton",\n]', 'packages = [\n    "msgspec",\n]'),
        ('name = "numpy"', 'name = "cmake"'),
        ("[package.requires.build]", "[package.build]"),
        ("[package.requires.run]", "[package.requires.walk]"),
        ('kind = "sdist"', 'kind = "tarball"'),
        ("size = 378550", 'size = "many"'),
        ('match = "contains"', 'match = "maybe"'),
        ('commit = "' + "2" * 40, 'commit = "' + "2" * 39),
    ],
)
def test_parts_that_do_not_fit_are_told(old: str, new: str) -> None:
    text = render_lock(lock_samples.full())
    assert old in text
    assert places(text.replace(old, new, 1))


def test_an_absolute_path_is_refused() -> None:
    text = render_lock(lock_samples.small()).replace('"../kernels"', '"/home/me/kernels"')
    assert places(text) == [f"x.lock:{line_of(text, 'path = ')}:1"]


def test_a_lock_cut_off_anywhere_is_told_and_never_crashes() -> None:
    text = render_lock(lock_samples.full())
    for end in range(0, len(text) - 1, 7):
        try:
            parse_lock(text[:end], "x.lock")
        except RocmlockError as error:
            assert error.reason.reference == "lock-invalid"


@given(st.text(max_size=80))
def test_any_text_is_refused_in_words(text: str) -> None:
    with pytest.raises(RocmlockError):
        parse_lock(text, "x.lock")


def test_files(tmp_path: Path) -> None:
    for path, expected in ((tmp_path / "none.lock", "lock-missing"), (tmp_path, "file-unreadable")):
        with pytest.raises(RocmlockError) as raised:
            read_lock(path)
        assert raised.value.reason.reference == expected
    (tmp_path / "b.lock").write_bytes(b"\xff\xfe")
    with pytest.raises(RocmlockError) as raised:
        read_lock(tmp_path / "b.lock")
    assert raised.value.reason.reference == "lock-invalid"


def test_writing_is_atomic_and_leaves_an_equal_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    assert write_text(path, "one")
    os.utime(path, (1, 1))
    assert not write_text(path, "one")
    assert path.stat().st_mtime == 1
    assert write_text(path, "two")
    assert path.read_text() == "two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.lock"]


def test_a_lock_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as raised:
        write_text(tmp_path / "none" / "x.lock", "text")
    assert raised.value.reason.reference == "file-unwritable"
