"""The reader of requirement files: what pip takes is taken, with lines; the rest is refused with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.resolver.readers.requirements import parse_requirements, without_credentials

A, B = "a1" * 32, "b2" * 32

FULL = f"""\ufeff# the first line
-r ../common.txt
--constraint=limits.txt # not above

--extra-index-url https://${{USER_NAME}}:secret@example.org/simple/
-f ./wheels
--pre
Torch == 2.12.0+rocm7.14.0  # a comment
numba == 0.60.0; python_version == "3.9"
numba == 0.61.2; python_version > "3.9" # and
model-streamer[s3,gcs] \\
    >= 0.15.7 \\
    --hash=sha256:{A} --hash=sha256:{B}
part @ git+https://user:token@example.org/part.git@0123456#subdirectory=x
-e git+https://example.org/thing.git@v1#egg=Thing_One
https://example.org/w/some_wheel-1.0-py3-none-any.whl
./local
"""


def test_every_form() -> None:
    found = parse_requirements(FULL, "requirements/rocm.txt")
    assert [(one.name, one.line) for one in found.lines] == [
        ("torch", 8),
        ("numba", 9),
        ("numba", 10),
        ("model-streamer", 11),
        ("part", 14),
        ("thing-one", 15),
        ("some-wheel", 16),
        ("", 17),
    ]
    assert [(one.path, one.line, one.constraint) for one in found.includes] == [
        ("../common.txt", 2, False),
        ("limits.txt", 3, True),
    ]
    assert [(one.name, one.value, one.line) for one in found.options] == [
        ("--extra-index-url", "https://example.org/simple/", 5),
        ("--find-links", "./wheels", 6),
        ("--pre", "", 7),
    ]
    assert found.variables == ("USER_NAME",)


def test_hashes_markers_and_extras() -> None:
    found = parse_requirements(FULL, "r.txt")
    [streamer] = found.named("Model_Streamer")
    assert streamer.hashes == (f"sha256:{A}", f"sha256:{B}")
    assert streamer.requirement is not None
    assert streamer.requirement.extras == {"s3", "gcs"}
    assert [str(one.requirement.marker) for one in found.named("numba") if one.requirement] == [
        'python_version == "3.9"',
        'python_version > "3.9"',
    ]
    assert found.lines[5].editable
    assert found.lines[5].url.endswith("@v1#egg=Thing_One")


def test_no_credential_is_kept() -> None:
    found = parse_requirements(FULL, "r.txt")
    assert "token" not in repr(found)
    assert "secret" not in repr(found)
    assert without_credentials("https://u:p@[::1") == "https://[::1"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb==\n", 2),
        ("a ==1.0 b\n", 1),
        ("a\n--bogus x\n", 2),
        ("-r\n", 1),
        ("-q\n", 1),
        ("a==${VERSION}\n", 1),
        ("-e ${WHERE}\n", 1),
        (f"a==1 --hash=sha256:{'0' * 64}\n", 1),
        (f"a==1 --hash=sha256:{A[:-2]}\n", 1),
        (f"a==1 --hash=crc:{A}\n", 1),
        ("a\nb \\\n", 2),
        ("a\n=======\n>>>>>>> x\n", 3),
        ("\n\n", 0),
        ("a\n\nb\0\n", 3),
        ("<html><body>404</body></html>", 1),
        ("a; python_version > \n", 1),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(RocmlockError) as caught:
        parse_requirements(text, "r.txt")
    [problem] = caught.value.problems
    assert problem.place is not None
    assert (caught.value.reason.reference, problem.place.file, problem.place.line) == (
        "pin-unreadable",
        "r.txt",
        line,
    )


@given(st.text(st.sampled_from("ab1-=<>;@:/#\\\n \"'[]${}._eri"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_requirements(text, "r.txt")
    except RocmlockError as error:
        assert error.reason.reference == "pin-unreadable"


names = st.text("abcxyz", min_size=1, max_size=6)


@given(
    st.lists(
        st.tuples(names, st.integers(0, 99), st.sampled_from(["", "  # c", " \\\n ; python_version>'3'"])),
        min_size=1,
    )
)
def test_lines_are_those_of_the_file(entries: list[tuple[str, int, str]]) -> None:
    text, expected, line = "", list[tuple[str, int]](), 1
    for name, number, end in entries:
        text += f"{name}=={number}{end}\n\n"
        expected.append((name, line))
        line += 2 + end.count("\n")
    assert [(one.name, one.line) for one in parse_requirements(text, "r.txt").lines] == expected
