"""What differs between locks: each field is told, nothing else is, and targets are compared one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import lock_samples
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.lockfile.diff import Change, diff_locks
from rocmlock.lockfile.model import Lock, Wheel, WheelFile
from rocmlock.lockfile.names import file_name
from rocmlock.lockfile.targets import join_locks
from rocmlock.lockfile.urls import compare_link, github_repository, public_url

Path = tuple[str | int, ...]
FULL = lock_samples.full()


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every plain value in a lock."""
    if attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from leaves(getattr(value, field.name), (*path, field.name))
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    else:
        yield path


def changed(value: Any, path: Path) -> Any:
    """``value`` with the plain value at ``path`` made another."""
    if not path:
        return value + 1 if isinstance(value, int) else f"{value}x"
    head, *rest = path
    if isinstance(value, tuple):
        return tuple(
            changed(item, tuple(rest)) if index == head else item for index, item in enumerate(value)
        )
    if isinstance(value, dict):
        return {**value, head: changed(value[head], tuple(rest))}
    return evolve(value, **{str(head): changed(getattr(value, str(head)), tuple(rest))})


def owner(path: Path) -> tuple[str, str, str]:
    """(kind, name, field) of the change that a changed value at ``path`` must be told as."""
    words = [str(word).replace("_", "-") for word in path]
    if path[0] in {"name", "flags"}:
        return "lock", "", ".".join(words)
    listed: Any = getattr(FULL, str(path[0]))[path[1]]
    if path[0] == "wheels":
        return ("wheel", listed.name, "version") if path[2] == "version" else ("wheel", listed.id, words[4])
    field = words[2:]
    if field[0] in {"build", "run"}:
        field.insert(0, "requires")
    if field[0] == "environment":
        field[1] = str(path[3])
    else:
        numbers = [index for index, word in enumerate(field) if word.isdigit()]
        field = field[: numbers[0]] if numbers else field
    return str(path[0]).removesuffix("s"), listed.name, ".".join(field)


def is_identity(path: Path) -> bool:
    """Names, and which targets: another entry in place of the one that was there."""
    return path[0] != "flags" and len(path) > 1 and ("targets" in path[1:] or path[2:] == ("name",))


FIELDS = [path for path in leaves(FULL) if path[0] != "warnings" and not is_identity(path)]


def test_every_kind_of_field_is_tried() -> None:
    tried = {word for path in FIELDS for word in path}
    assert {"commit", "tag_object", "digest", "text", "place", "opt_level", "memory_per_job", "says"} <= tried
    assert len(FIELDS) > 90


@pytest.mark.parametrize("path", FIELDS, ids=lambda path: ".".join(map(str, path)))
def test_a_field_that_differs_is_told_and_nothing_else(path: Path) -> None:
    (change,) = diff_locks(FULL, changed(FULL, path), reasons=True)
    assert (change.kind, change.name, change.field) == owner(path)
    assert change.before != change.after
    (back,) = diff_locks(changed(FULL, path), FULL, reasons=True)
    assert (back.before, back.after) == (change.after, change.before) or change.kind == "wheel"
    assert diff_locks(FULL, changed(FULL, path)) == (() if change.field.endswith("reasons") else (change,))


@given(st.lists(st.sampled_from(FIELDS), min_size=2, max_size=5, unique=True))
def test_each_of_several_changed_fields_is_told(paths: list[Path]) -> None:
    other = FULL
    for path in paths:
        other = changed(other, path)
    told = {(change.kind, change.name, change.field) for change in diff_locks(FULL, other, reasons=True)}
    # A wheel at another version is known by its name alone.
    moved = {FULL.wheels[int(path[1])].id for path in paths if path[0] == "wheels" and path[2] == "version"}
    expected = {
        (kind, name.split("==")[0] if name in moved else name, field)
        for kind, name, field in map(owner, paths)
    }
    assert told == expected


@given(st.randoms(use_true_random=False))
def test_order_is_no_difference(random) -> None:
    packages, wheels = list(FULL.packages), list(FULL.wheels)
    random.shuffle(packages)
    random.shuffle(wheels)
    assert diff_locks(FULL, evolve(FULL, packages=tuple(packages), wheels=tuple(wheels)), reasons=True) == ()


def whole(changes: tuple[Change, ...]) -> list[tuple[str, str, bool, tuple[str, ...]]]:
    return [(each.kind, each.name, each.before is None, each.targets) for each in changes if not each.field]


def test_what_comes_and_goes_is_told_whole() -> None:
    without = evolve(FULL, packages=FULL.packages[1:], wheels=FULL.wheels[1:], warnings=())
    gone = [("package", "triton", False, ("default",)), ("wheel", "numpy", False, ("default",))]
    assert whole(diff_locks(FULL, without)) == gone
    (warning, *_) = diff_locks(without, FULL, reasons=True)
    assert (warning.kind, warning.before, warning.after["at"]) == ("warning", None, ["a:1", "b:2"])


def wheel(version: str) -> Wheel:
    file = file_name(f"six-{version}-py3-none-any.whl")
    return Wheel("six", version, (WheelFile(file, lock_samples.digest("d"), ("default",)),))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (["1"], ["2"], [("six", "version"), ("six", "file")]),
        (["1", "2"], ["2"], [("six", "")]),
        (["2"], ["1", "2"], [("six", "")]),
        (["1", "2"], ["2", "3"], [("six", "version"), ("six", "file")]),
        (["1"], ["2", "3"], [("six", "")] * 3),
    ],
)
def test_wheels_of_one_name_are_matched_by_version(
    old: list[str], new: list[str], told: list[tuple[str, str]]
) -> None:
    before, after = (evolve(FULL, wheels=tuple(map(wheel, versions))) for versions in (old, new))
    assert [(each.name, each.field) for each in diff_locks(before, after)] == told


def as_target(lock: Lock, name: str) -> Lock:
    return evolve(
        lock,
        targets=tuple(evolve(each, name=name) for each in lock.targets),
        packages=tuple(evolve(each, targets=(name,)) for each in lock.packages),
        wheels=tuple(
            evolve(each, files=tuple(evolve(file, targets=(name,)) for file in each.files))
            for each in lock.wheels
        ),
    )


def test_targets_are_compared_one_by_one() -> None:
    other = changed(FULL, ("packages", 0, "source", "commit"))
    both = join_locks([as_target(FULL, "a"), as_target(FULL, "b")])
    apart = join_locks([as_target(FULL, "a"), as_target(other, "b")])
    moved = join_locks([as_target(other, "a"), as_target(other, "b")])
    assert [(each.field, each.targets) for each in diff_locks(both, apart)] == [("source.commit", ("b",))]
    assert [(each.field, each.targets) for each in diff_locks(both, moved)] == [("source.commit", ("a", "b"))]
    added = diff_locks(as_target(FULL, "a"), both)
    assert whole(added)[0] == ("target", "b", True, ("b",))
    assert {each.targets for each in added} == {("b",)}


@pytest.mark.parametrize(
    ("url", "shown", "repository"),
    [
        ("https://github.com/ROCm/triton", None, ("github.com", "ROCm", "triton")),
        ("https://github.com/ROCm/triton.git/", None, ("github.com", "ROCm", "triton")),
        ("https://ghp_secret@github.com/o/r", "https://github.com/o/r", ("github.com", "o", "r")),
        (
            "https://u:p@github.corp.example:8443/o/r?token=t",
            "https://github.corp.example:8443/o/r",
            ("github.corp.example:8443", "o", "r"),
        ),
        ("git@github.com:o/r.git", None, ("github.com", "o", "r")),
        ("ssh://git:secret@github.com/o/r", "ssh://git@github.com/o/r", ("github.com", "o", "r")),
        ("https://gitlab.com/o/r", None, None),
        ("https://github.com/o/r/tree/x", None, None),
        ("https://notgithub.com/o/r", None, None),
        ("../r", None, None),
        ("https://[::1/o/r", "", None),
    ],
)
def test_urls(url: str, shown: str | None, repository: tuple[str, str, str] | None) -> None:
    assert public_url(url) == (url if shown is None else shown)
    assert github_repository(url) == repository


def test_commits_are_compared_where_both_are_of_one_repository() -> None:
    link = compare_link("git@github.com:o/r.git", "https://t@github.com/O/r", "1" * 40, "2" * 40)
    assert link == f"https://github.com/O/r/compare/{'1' * 40}...{'2' * 40}"
    assert compare_link("https://github.com/a/r", "https://github.com/b/r", "1", "2") is None
    assert compare_link("https://gitlab.com/a/r", "https://gitlab.com/a/r", "1", "2") is None
