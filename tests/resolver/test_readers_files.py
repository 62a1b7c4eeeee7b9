"""The readers of small pin files: each layout with lines, and what is none of them refused with its place."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.errors import RocmlockError
from rocmlock.resolver.readers.gitmodules import parse_gitmodules
from rocmlock.resolver.readers.pin_files import (
    choose_related,
    parse_commit_file,
    parse_related_commits,
    parse_version_file,
)
from rocmlock.resolver.readers.pyproject import parse_pyproject
from rocmlock.resolver.readers.python_source import (
    parse_binary_matrix,
    parse_module_version,
    parse_setup_argument,
)
from rocmlock.resolver.readers.rocm_matrix import parse_matrix
from rocmlock.resolver.readers.source_text import is_placeholder
from rocmlock.resolver.readers.therock_files import parse_therock_manifest, parse_therock_version
from rocmlock.resolver.readers.triton_files import choose_llvm, parse_llvm, parse_nvidia_versions

C1, C2, C3 = ("0123456789abcdef01234567" + digit * 16 for digit in "abc")
HASH = "5f" * 32


def refused(parse: Callable[[str, str], object], text: str, file: str = "pins") -> int:
    with pytest.raises(RocmlockError) as caught:
        parse(text, file)
    [problem] = caught.value.problems
    assert caught.value.reason.reference == "pin-unreadable"
    assert problem.place is not None
    assert problem.place.file == file
    return problem.place.line


@pytest.mark.parametrize(
    ("text", "value", "kind", "line"),
    [
        (f"{C1}\n", C1, "commit", 1),
        (f"{C1.upper()}", C1, "commit", 1),
        (f"# why\n\n{C1}\r\n", C1, "commit", 3),
        ("6fd4078\n", "6fd4078", "short", 1),
        ("release/3.6.x\n", "release/3.6.x", "name", 1),
        ("v3.7.1", "v3.7.1", "name", 1),
    ],
)
def test_commit_files(text: str, value: str, kind: str, line: int) -> None:
    found = parse_commit_file(text, "triton.txt")
    assert (found.value, found.kind, found.line) == (value, kind, line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 0),
        (f"{C1}\n{C2}\n", 2),
        ("0" * 40 + "\n", 1),
        ("deadbeef" * 5, 1),
        (f"<<<<<<< HEAD\n{C1}\n=======\n{C2}\n>>>>>>> b\n", 1),
        ("404: Not Found\n", 1),
        ("--upload-pack=x\n", 1),
        ("a..b\n", 1),
        ("# nothing\n", 1),
        ("\n<!doctype html>", 1),
        (f"{C1}\n\0", 2),
    ],
)
def test_what_is_no_commit_file(text: str, line: int) -> None:
    assert refused(parse_commit_file, text) == line


def test_version_files() -> None:
    assert parse_version_file("2.9.0a0\n", "version.txt").value == "2.9.0a0"
    assert parse_version_file("v3.11.3\n", "json-version.txt").value == "v3.11.3"
    assert refused(parse_version_file, "3.7.x\n") == 1
    assert refused(parse_version_file, C1) == 1
    assert refused(parse_version_file, "1.0\n2.0\n") == 2


def test_placeholders() -> None:
    assert all(map(is_placeholder, ("0" * 64, "f" * 40, "deadbeef", "deadbeefdead", "0123456789abcdef" * 4)))
    assert not any(map(is_placeholder, (C1, HASH, "0000001", "000", "", "main")))


RELATED = f"""# pins
ubuntu|pytorch|vision|main|{C1}|https://example.org/vision
centos|pytorch|vision|main|{C2}|https://example.org/vision
ubuntu|pytorch|audio|main|{C3}|https://example.org/audio
"""


def test_related_commits_and_rows_that_differ() -> None:
    """Case k08-file-related-commits: the row of the target's system; the other one is told."""
    rows = parse_related_commits(RELATED, "related_commits")
    chosen, differing = choose_related(rows, "vision", "ubuntu")
    assert chosen is not None
    assert (chosen.commit, chosen.line, chosen.branch) == (C1, 2, "main")
    assert [row.line for row in differing] == [3]
    assert choose_related(rows, "audio", "ubuntu")[1] == ()
    assert choose_related(rows, "audio", "centos") == (None, ())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (RELATED + "ubuntu|pytorch|vision|main\n", 5),
        (RELATED.replace(C3, "main"), 4),
        (RELATED.replace(C3, C3[:12]), 4),
        (RELATED.replace("centos|", "ubuntu|"), 3),
        ("# none\n", 0),
    ],
)
def test_what_is_no_related_commits(text: str, line: int) -> None:
    assert refused(parse_related_commits, text) == line


INFO = json.dumps({"llvm_hash": C1, "build_number": 2, "sha256sum": {"ubuntu-x64": HASH}}, indent=2)
BUILD = json.dumps({"llvm_hash": C2, "repository": "example/llvm", "build_number": 3}, indent=2)


def test_llvm_pins_and_which_file_wins() -> None:
    texts = {"cmake/llvm-build-info.json": BUILD, "cmake/llvm-hash.txt": C3, "cmake/llvm-info.json": INFO}
    found = choose_llvm(texts)
    assert (found.path, found.commit.value, found.commit.line, found.build) == (
        "cmake/llvm-info.json",
        C1,
        2,
        2,
    )
    assert {name: (one.value, one.line) for name, one in found.sha256.items()} == {"ubuntu-x64": (HASH, 5)}
    del texts["cmake/llvm-info.json"]
    assert choose_llvm(texts).commit.value == C3
    assert parse_llvm(BUILD, "cmake/llvm-build-info.json").repository == "example/llvm"
    with pytest.raises(RocmlockError):
        choose_llvm({})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (INFO[:-20], 5),
        (INFO.replace(C1, "0" * 40), 2),
        (INFO.replace(HASH, "0" * 64), 5),
        (INFO.replace(HASH, HASH[:-1]), 5),
        (INFO.replace("2,", '"2",'), 3),
        (INFO.replace("llvm_hash", "hash"), 1),
        (INFO.replace('"build_number"', '"llvm_hash"'), 2),
        ("[]", 1),
        ("[" * 100_000, 1),
        ("1" * 5000, 1),
    ],
)
def test_what_is_no_llvm_info(text: str, line: int) -> None:
    assert refused(parse_llvm, text, "cmake/llvm-info.json") == line


def test_an_llvm_hash_must_be_whole() -> None:
    assert refused(parse_llvm, "6fd4078\n", "cmake/llvm-hash.txt") == 1


def test_nvidia_versions() -> None:
    found = parse_nvidia_versions('{\n "ptxas": "12.8.93",\n "cudart": "12.8.57"\n}', "n.json")
    assert [(name, one.value, one.line) for name, one in found.items()] == [
        ("ptxas", "12.8.93", 2),
        ("cudart", "12.8.57", 3),
    ]
    assert refused(parse_nvidia_versions, '{\n "ptxas": 12\n}') == 2


def row(name: str, commit: str) -> dict[str, object]:
    return {
        "submodule_name": name,
        "submodule_path": f"part/{name}",
        "submodule_url": f"https://example.org/{name}.git",
        "pin_sha": commit,
        "patches": [f"patches/{name}/0001.patch"],
    }


SDK = {
    "the_rock_commit": C1,
    "github_run_id": "1",
    "rocm_package_version": "7.15.0a20260727",
    "rocm_version": "7.15.0",
    "submodules": [row("half", C2), row("llvm-project", C3)],
}


def test_therocks_manifest_of_an_sdk() -> None:
    text = json.dumps(SDK, indent=1)
    found = parse_therock_manifest(text, "therock_manifest.json")
    assert found.commit is not None
    assert (found.commit.value, found.rocm, found.package) == (C1, "7.15.0", "7.15.0a20260727")
    assert [(pin.name, pin.commit, pin.patches) for pin in found.pins] == [
        ("half", C2, ("patches/half/0001.patch",)),
        ("llvm-project", C3, ("patches/llvm-project/0001.patch",)),
    ]
    lines = text.split("\n")
    assert all(pin.commit in lines[pin.line - 1] for pin in found.pins)


def test_therocks_manifest_of_its_wheels() -> None:
    text = json.dumps(
        {
            "schema_version": 1,
            "pytorch": {
                "repo": "https://example.org/p",
                "commit": C1,
                "branch": "b",
                "version": "2.13.0a0+rocm7.14.0",
            },
            "triton": {"repo": "https://example.org/t", "commit": C2, "version": "3.7.0"},
            "therock": {"repo": "https://example.org/r", "commit": C3, "version": "7.14.0"},
        },
        indent=1,
    )
    found = parse_therock_manifest(text, "m.json")
    assert [(pin.name, pin.commit, pin.branch) for pin in found.pins] == [
        ("pytorch", C1, "b"),
        ("triton", C2, ""),
    ]
    assert found.commit is not None
    assert (found.commit.value, found.rocm) == (C3, "7.14.0")
    lines = text.split("\n")
    assert all(pin.commit in lines[pin.line - 1] for pin in found.pins)


@pytest.mark.parametrize(
    "change",
    [
        {"the_rock_commit": "main"},
        {"submodules": []},
        {"submodules": [row("half", "0" * 40)]},
        {"submodules": [{"submodule_name": "half"}]},
        {"submodules": ["half"]},
        {"submodules": None},
    ],
)
def test_a_broken_manifest_is_refused(change: dict[str, object]) -> None:
    assert refused(parse_therock_manifest, json.dumps(SDK | change, indent=1)) > 0


def test_other_json_is_no_manifest() -> None:
    assert refused(parse_therock_manifest, '{"components": []}') == 1
    assert parse_therock_version('{\n "rocm-version": "10.2.0"\n}', "version.json").value == "10.2.0"
    assert refused(parse_therock_version, "{}") == 1


GITMODULES = r"""# of the project
[submodule "third_party/a"]
	path = third_party/a ; where
	url = "https://example.org/a#b.git"
	branch = main
	ignore = dirty
[submodule "b \"c\""] path = b
	shallow
	URL = ../b\
.git
"""


def test_gitmodules() -> None:
    found = parse_gitmodules(GITMODULES, ".gitmodules")
    assert [(one.name, one.path, one.url, one.branch, one.line) for one in found] == [
        ("third_party/a", "third_party/a", "https://example.org/a#b.git", "main", 2),
        ('b "c"', "b", "../b.git", "", 7),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("path = a\n", 1),
        ('[submodule "a"]\npath = a\n', 1),
        ('[submodule "a"]\npath = ../a\nurl = u\n', 1),
        ('[submodule "a"]\npath = /a\nurl = u\n', 1),
        ('[submodule "a"]\npath = a/.git/hooks\nurl = u\n', 1),
        ('[submodule "a"]\npath = a\nurl = --upload-pack=x\n', 1),
        ('[submodule "a"]\npath = "a\n', 2),
        ('[submodule "a"]\npath = a\\x\n', 2),
        ('[submodule "a\n', 1),
        ('[submodule "a"]\npath = a\\', 2),
        ('[submodule "a"]\n<<<<<<< HEAD\n', 2),
    ],
)
def test_what_is_no_gitmodules(text: str, line: int) -> None:
    assert refused(parse_gitmodules, text) == line


PYPROJECT = """[build-system]
# mirrored elsewhere
requires = [
    "cmake>=3.26",
    "torch == 2.13.0",
]
build-backend = "x.y"
[project]
name = "thing"
version = "1.0"
requires-python = ">=3.10,<3.15"
dependencies = ["a", "b>1"]
dynamic = ["readme"]
[project.optional-dependencies]
more = ["c"]
"""


def test_pyproject() -> None:
    found = parse_pyproject(PYPROJECT, "pyproject.toml")
    assert found.build is not None
    assert [(str(one.requirement), one.line) for one in found.build] == [
        ("cmake>=3.26", 4),
        ("torch==2.13.0", 5),
    ]
    assert found.requires_python is not None
    assert (found.requires_python.value, found.requires_python.line) == (">=3.10,<3.15", 11)
    assert found.version is not None
    assert (found.name, found.version.value, found.backend, found.dynamic) == (
        "thing",
        "1.0",
        "x.y",
        ("readme",),
    )
    assert [str(one.requirement) for one in found.dependencies] == ["a", "b>1"]
    assert [one.line for one in found.extras["more"]] == [15]
    assert parse_pyproject("[tool.x]\n", "p").build is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[project\n", 1),
        ("[build-system]\nrequires = ['a b']\n", 2),
        ("[build-system]\nrequires = 'a'\n", 2),
        ("[build-system]\nrequires = [1]\n", 2),
        ("[build-system]\nbuild-backend = 'x'\n", 1),
        ("build-system = 1\n", 1),
        ("[project]\nrequires-python = '>3,'\nname = 1\n", 3),
        ("[project]\nrequires-python = 'three'\n", 2),
        ("x = " + "[" * 5000, 1),
    ],
)
def test_what_is_no_pyproject(text: str, line: int) -> None:
    assert refused(parse_pyproject, text) == line


def test_the_binary_matrix_is_read_and_never_run() -> None:
    text = 'import os\nos.abort()\nROCM_ARCHES = ["6.4",\n  "7.0"]\nFULL_PYTHON_VERSIONS: list[str] = ("3.13", "3.13t")\n'
    found = parse_binary_matrix(text, "m.py")
    assert [(one.value, one.line) for one in found.rocm] == [("6.4", 3), ("7.0", 4)]
    assert [(one.value, one.line) for one in found.pythons] == [("3.13", 5), ("3.13t", 5)]
    assert refused(parse_binary_matrix, text.replace('"7.0"', "os.x")) == 4
    assert refused(parse_binary_matrix, text + "ROCM_ARCHES = []\n") == 6
    assert refused(parse_binary_matrix, text.replace("ROCM_ARCHES", "ARCHES")) == 0
    assert refused(parse_binary_matrix, "x = (\n") == 1


def test_versions_in_python_files() -> None:
    assert parse_module_version("'''doc'''\n__version__ = '3.7.1'\n", "p.py").line == 2
    assert refused(parse_module_version, "__version__ = f()\n") == 1
    text = "V = '3.7.1'\nsetup(name='x', version=V + suffix())\n"
    found = parse_setup_argument(text, "setup.py", "version")
    assert found is not None
    assert (found.value, found.line) == ("3.7.1", 1)
    assert parse_setup_argument("import s\ns.setup(version=f'1.{x}')\n", "setup.py", "version") is not None
    assert parse_setup_argument("setup()\n", "setup.py", "version") is None
    for broken in ("setup(version=f())", "V = V\nsetup(version=V)", "setup(version=" + "-" * 20_000 + "1)"):
        with pytest.raises(RocmlockError):
            parse_setup_argument(broken, "setup.py", "version")


MATRIX = """ROCm Version,7.1.0, 7.0.1/7.0.0
 :ref:`Operating systems & kernels <x>` [#n]_,"Ubuntu 24.04.3, 24.04",Ubuntu 24.04.3
 ,,Debian 12
 ,.. _gpu:,
 :doc:`GPU / LLVM target <x:y>`  [#m]_,gfx950,
 ,gfx942 [#f]_,gfx942
 ,,
 FRAMEWORK SUPPORT,.. _frameworks:,
 :doc:`PyTorch <x>`,"2.8, 2.7",2.6
 RUNTIMES,.. _r:,
 :doc:`HIP <x>`,7.1.5,N/A
"""


def test_the_matrix_by_release() -> None:
    new, old, older = parse_matrix(MATRIX, "m.csv")
    assert [one.version for one in (new, old, older)] == ["7.1.0", "7.0.1", "7.0.0"]
    assert [(one.value, one.line) for one in new.gfx] == [("gfx950", 5), ("gfx942", 6)]
    assert [one.value for one in older.gfx] == ["gfx942"]
    assert [(one.value, one.line) for one in new.pytorch] == [("2.8", 9), ("2.7", 9)]
    assert [one.value for one in old.systems] == ["Ubuntu 24.04.3", "Debian 12"]
    assert new.hip is not None
    assert (new.hip.line, old.hip) == (11, None)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("ROCm Version", "Version", 1),
        ("7.1.0", "latest", 1),
        (",gfx950,", ",gfx950", 5),
        ("gfx950", "MI300", 5),
        ("2.7", "two", 9),
        (":doc:`PyTorch", ":doc:`Other", 0),
        ("GPU / LLVM", "GPU", 0),
        ('"2.8', '"2.8"x', 9),
    ],
)
def test_another_matrix_is_refused(old: str, new: str, line: int) -> None:
    assert refused(parse_matrix, MATRIX.replace(old, new, 1)) == line


READERS: list[Callable[[str, str], object]] = [
    parse_commit_file,
    parse_version_file,
    parse_related_commits,
    parse_nvidia_versions,
    parse_therock_manifest,
    parse_gitmodules,
    parse_pyproject,
    parse_binary_matrix,
    parse_matrix,
]


@given(st.sampled_from(READERS), st.text(st.sampled_from("ab01|,.=[]{}\"'\\\n :;#/"), max_size=50))
def test_any_text_is_read_or_refused(parse: Callable[[str, str], object], text: str) -> None:
    try:
        parse(text, "pins")
    except RocmlockError as error:
        assert error.reason.reference == "pin-unreadable"
