"""The CMake reader: CMake's grammar with lines, limits, fetches, aotriton's pins, compilers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.resolver.readers.cmake import parse_cmake
from rocmlock.resolver.readers.cmake_compilers import find_compiler_minimums
from rocmlock.resolver.readers.cmake_facts import find_fetches, read_aotriton, read_limits

COMMIT = "6f8cbcac8a92775291bb1ba8f514d4beb350baf4"
ZEROS = "0" * 64
HASH = "42211ef61a0e74dd48dd278e1cd5f85873b72b0f311baa67680179fb967b68b4"

LIMITS = """cmake_minimum_required(VERSION 3.26...4.1)
# set(HIP_SUPPORTED_ARCHS "gfx000")
#[[ set(HIP_SUPPORTED_ARCHS
   "gfx001") ]]
SET (HIP_SUPPORTED_ARCHS
  "gfx90a;gfx942" # the data centre
  gfx1100)
set(PYTHON_SUPPORTED_VERSIONS "3.10" "3.11")
set(CMAKE_CXX_STANDARD 20 CACHE STRING "the language")
message([==[ set(CMAKE_CXX_STANDARD 98) ]==] "]]" \\) )
if(ON AND (X OR Y))
  set(TORCH_SUPPORTED_VERSION_ROCM "2.11.0")
endif()
"""


def problem(text: str) -> tuple[int, int]:
    with pytest.raises(RocmlockError) as caught:
        parse_cmake(text, "CMakeLists.txt")
    [one] = caught.value.problems
    assert one.place is not None
    assert caught.value.reason.reference == "pin-unreadable"
    return one.place.line, one.place.column


def test_limits_with_their_lines() -> None:
    limits = read_limits(parse_cmake(LIMITS, "C"))
    assert limits.gfx == (("gfx90a", "gfx942", "gfx1100"), 5)
    assert limits.pythons == (("3.10", "3.11"), 8)
    assert limits.cxx_standard is not None
    assert (limits.cxx_standard.value, limits.cxx_standard.line) == ("20", 9)
    assert limits.torch_rocm is not None
    assert (limits.torch_rocm.value, limits.torch_rocm.line) == ("2.11.0", 12)
    assert limits.cmake_minimum is not None
    assert (limits.cmake_minimum.value, limits.cmake_minimum.line) == ("3.26", 1)


def test_depth_tells_what_stands_under_a_condition() -> None:
    file = parse_cmake(LIMITS + "if(A)\nelse()\n set(B 1)\nendif()\n", "C")
    assert [(one.name, one.depth) for one in file.commands][-4:] == [
        ("if", 0),
        ("else", 0),
        ("set", 1),
        ("endif", 0),
    ]
    assert file.sets("TORCH_SUPPORTED_VERSION_ROCM")[0].depth == 1


def test_arguments() -> None:
    [command] = parse_cmake('x(a "b;c" [[d]] -De="f g" h\\;i ${J} "k\\\nl" "\\"m\\n" ( n ))', "C").commands
    assert [(one.text, one.line, one.kind) for one in command.arguments] == [
        ("a", 1, "unquoted"),
        ("b;c", 1, "quoted"),
        ("d", 1, "bracket"),
        ('-De="f g"', 1, "unquoted"),
        ("h\\;i", 1, "unquoted"),
        ("${J}", 1, "unquoted"),
        ("kl", 1, "quoted"),
        ('"m\n', 2, "quoted"),
        ("(", 2, "paren"),
        ("n", 2, "unquoted"),
        (")", 2, "paren"),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("set(A\nb\n", (1, 0)),
        ('\nset(A "b\n', (2, 7)),
        ("set(A [[b)", (1, 7)),
        ("#[[ b", (1, 1)),
        ("if(A)\n", (1, 0)),
        ("endif()\n", (1, 0)),
        ("if(A)\nendforeach()\n", (2, 0)),
        ("set(A 1)\n}\n", (2, 1)),
        ("set(A 1)\n>>>>>>> theirs\n", (2, 0)),
        ("set", (1, 1)),
        ("set(A '\0')", (1, 0)),
        ("<html>", (1, 0)),
    ],
)
def test_what_is_no_cmake_is_refused_with_its_place(text: str, place: tuple[int, int]) -> None:
    assert problem(text) == place


def test_two_values_are_no_fact() -> None:
    text = 'if(A)\nset(HIP_SUPPORTED_ARCHS "gfx90a")\nelse()\nset(HIP_SUPPORTED_ARCHS "gfx942")\nendif()\n'
    with pytest.raises(RocmlockError) as caught:
        read_limits(parse_cmake(text, "C"))
    assert str(caught.value.problems[0].place) == "C:4"


def test_an_extract_may_have_open_blocks() -> None:
    file = parse_cmake("endif()\nif(A)\nset(B 1)\n", "C", extract=True)
    assert file.sets("B")[0].values == ("1",)


FETCHES = f"""
set(PART_TAG v4.2.1)
set(PART_SHA {HASH})
FetchContent_Declare(
  part SYSTEM
  GIT_REPOSITORY https://example.org/part.git
  GIT_TAG ${{PART_TAG}} # the release
  GIT_PROGRESS TRUE
)
if(NOT X)
  ExternalProject_Add(tool
    URL "https://example.org/tool-${{PART_TAG}}.tar.gz"
    URL_HASH SHA256=${{PART_SHA}}
    CONFIGURE_COMMAND "" BUILD_COMMAND "")
endif()
file(DOWNLOAD https://example.org/${{WHAT}} out.bin SHOW_PROGRESS EXPECTED_HASH SHA256={ZEROS})
file(READ out.bin text)
FetchContent_Declare(local SOURCE_DIR ${{LOCAL_DIR}})
FetchContent_Declare(broken GIT_REPOSITORY u GIT_TAG {"deadbeef" * 5})
"""


def test_fetches() -> None:
    part, tool, download, local, broken = find_fetches(parse_cmake(FETCHES, "C"))
    assert (part.name, part.url, part.tag, part.line) == ("part", "https://example.org/part.git", "v4.2.1", 4)
    assert (tool.url, tool.hash, tool.depth) == (
        "https://example.org/tool-v4.2.1.tar.gz",
        f"SHA256={HASH}",
        1,
    )
    assert (download.kind, download.url) == ("file", "https://example.org/${WHAT}")
    assert (local.url, local.directory) == ("", "${LOCAL_DIR}")
    assert [one.published for one in (part, tool, download, local, broken)] == [
        True,
        True,
        False,
        True,
        False,
    ]


AOTRITON = f"""
if(NOT __AOTRITON_INCLUDED)
  set(__AOTRITON_VER "0.14b")
  set(__AOTRITON_ROCM_LIST
      "rocm7.2"
      "rocm7.14"
      )
  set(__AOTRITON_CI_COMMIT "{COMMIT}")
  set(__AOTRITON_SHA256_LIST
      "{ZEROS}"  # rocm7.2
      "{HASH}"  # rocm7.14
      )
endif()
"""


def test_aotritons_version_commit_and_what_is_not_published() -> None:
    """Cases k08-file-aotriton-zero-hash and k01-aotriton-runtime-image-mismatch: both pins, with lines."""
    found = read_aotriton(parse_cmake(AOTRITON, "aotriton.cmake"))
    assert (found.version.value, found.version.line) == ("0.14b", 3)
    assert (found.commit.value, found.commit.line) == (COMMIT, 8)
    assert [(one.rocm, one.published, one.line) for one in found.artefacts] == [
        ("7.2", False, 10),
        ("7.14", True, 11),
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (COMMIT, COMMIT[:12], 8),
        (COMMIT, "0" * 40, 8),
        ("__AOTRITON_VER", "__OTHER", 0),
        ('      "rocm7.14"\n', "", 8),
        (HASH, HASH[:-1], 11),
    ],
)
def test_an_aotriton_file_that_does_not_add_up_is_refused(old: str, new: str, line: int) -> None:
    with pytest.raises(RocmlockError) as caught:
        read_aotriton(parse_cmake(AOTRITON.replace(old, new), "C"))
    place = caught.value.problems[0].place
    assert place is not None
    assert place.line == line


def test_compiler_minimums() -> None:
    text = """
if(CMAKE_COMPILER_IS_GNUCXX AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 9.3)
  message(FATAL_ERROR "too old")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  if(${CMAKE_CXX_COMPILER_VERSION} VERSION_LESS 11)
    message(FATAL_ERROR "too old")
  endif()
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(WARNING "old")
endif()
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  message(FATAL_ERROR "of no compiler that is named")
endif()
"""
    found = find_compiler_minimums(parse_cmake(text, "C"))
    assert [(one.compiler, one.version, one.line) for one in found] == [("gcc", "9.3", 2), ("clang", "11", 6)]


@given(st.text(st.sampled_from('setif(A) "#[=]\\\n;${}endif()'), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for extract in (False, True):
        try:
            parse_cmake(text, "C", extract=extract)
        except RocmlockError as error:
            assert error.reason.reference == "pin-unreadable"


words = st.text("abgfx019.-+", min_size=1, max_size=8)


@given(
    st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=6),
    st.sampled_from([" ", "\n", " # c\n ", ' #[[ " ]] ']),
)
def test_what_is_written_is_read(values: list[list[str]], space: str) -> None:
    text = "\n".join(
        f"set(V{at}{space}" + space.join(f'"{word}"' for word in one) + ")" for at, one in enumerate(values)
    )
    file = parse_cmake(text, "C")
    assert [file.sets(f"V{at}")[0].values for at in range(len(values))] == [tuple(one) for one in values]
    lines = text.split("\n")
    assert all(f"set(V{at}" in lines[file.sets(f"V{at}")[0].line - 1] for at in range(len(values)))
