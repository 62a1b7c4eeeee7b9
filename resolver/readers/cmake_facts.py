"""Facts in CMake files: supported archs and versions, minimum versions, what is fetched, aotriton's pins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .cmake import CMakeCommand, CMakeFile
from .source_text import Stated, check_digest, is_placeholder, refuse

_FETCHES = {"fetchcontent_declare": "FetchContent", "externalproject_add": "ExternalProject", "file": "file"}
_KEYWORDS = frozenset(
    [
        "GIT_REPOSITORY",
        "GIT_TAG",
        "GIT_SHALLOW",
        "GIT_PROGRESS",
        "GIT_SUBMODULES",
        "GIT_SUBMODULES_RECURSE",
        "GIT_CONFIG",
        "GIT_REMOTE_NAME",
        "GIT_REMOTE_UPDATE_STRATEGY",
        "URL",
        "URL_HASH",
        "URL_MD5",
        "DOWNLOAD_NAME",
        "DOWNLOAD_DIR",
        "DOWNLOAD_COMMAND",
        "DOWNLOAD_EXTRACT_TIMESTAMP",
        "DOWNLOAD_NO_PROGRESS",
        "DOWNLOAD_NO_EXTRACT",
        "SOURCE_DIR",
        "SOURCE_SUBDIR",
        "BINARY_DIR",
        "INSTALL_DIR",
        "PREFIX",
        "PATCH_COMMAND",
        "UPDATE_COMMAND",
        "CONFIGURE_COMMAND",
        "BUILD_COMMAND",
        "INSTALL_COMMAND",
        "TEST_COMMAND",
        "CMAKE_ARGS",
        "CMAKE_CACHE_ARGS",
        "LIST_SEPARATOR",
        "BUILD_BYPRODUCTS",
        "BUILD_IN_SOURCE",
        "DEPENDS",
        "EXPECTED_HASH",
        "EXPECTED_MD5",
        "SHOW_PROGRESS",
        "STATUS",
        "LOG",
        "TIMEOUT",
        "TLS_VERIFY",
        "TLS_CAINFO",
        "HTTPHEADER",
        "USERPWD",
        "SVN_REPOSITORY",
        "HG_REPOSITORY",
        "OVERRIDE_FIND_PACKAGE",
        "FIND_PACKAGE_ARGS",
        "SYSTEM",
        "EXCLUDE_FROM_ALL",
        "USES_TERMINAL_DOWNLOAD",
        "USES_TERMINAL_CONFIGURE",
        "USES_TERMINAL_BUILD",
        "USES_TERMINAL_INSTALL",
        "LOG_DOWNLOAD",
        "LOG_CONFIGURE",
        "LOG_BUILD",
        "STEP_TARGETS",
    ]
)
_MINIMUM = re.compile(r"(\d+(?:\.\d+)*)(?:\.\.\.(\d+(?:\.\d+)*))?")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a project's CMake file says that it supports; None or empty where it does not say.

    ``gfx`` and ``pythons`` are (values, line).
    """

    gfx: tuple[tuple[str, ...], int] | None
    pythons: tuple[tuple[str, ...], int] | None
    torch_rocm: Stated | None
    cxx_standard: Stated | None
    cmake_minimum: Stated | None


@dataclass(frozen=True, slots=True)
class Fetch:
    """One source that a build would fetch. Values keep ``${…}`` where the file alone does not tell them.

    ``hash`` is ``SHA256=…`` as written; ``published`` is false where it is a placeholder: there is no such
    file yet. ``directory`` is set where a variable or folder may replace the download.
    """

    name: str
    kind: str
    url: str
    tag: str
    hash: str
    published: bool
    line: int
    depth: int
    directory: str = ""


@dataclass(frozen=True, slots=True)
class Artefact:
    """A binary release of aotriton for one ROCm version (``7.2``)."""

    rocm: str
    sha256: str
    published: bool
    line: int


@dataclass(frozen=True, slots=True)
class Aotriton:
    """The release and the commit that PyTorch names. They may contradict each other: resolve the tag,
    compare.
    """

    version: Stated
    commit: Stated
    artefacts: tuple[Artefact, ...]


def read_limits(file: CMakeFile) -> Limits:
    """The limits; a variable that is set to different values is refused."""
    minimum = next(file.called("cmake_minimum_required"), None)
    words = [argument.text for argument in minimum.arguments] if minimum else []
    found = _MINIMUM.fullmatch(words[1]) if len(words) > 1 and words[0].upper() == "VERSION" else None
    if minimum and not found:
        raise refuse(file.path, minimum.line, "cmake_minimum_required() names no version.")
    return Limits(
        _many(file, "HIP_SUPPORTED_ARCHS"),
        _many(file, "PYTHON_SUPPORTED_VERSIONS"),
        _one(file, "TORCH_SUPPORTED_VERSION_ROCM"),
        _one(file, "CMAKE_CXX_STANDARD"),
        Stated(found[1], minimum.line) if found and minimum else None,
    )


def _many(file: CMakeFile, name: str) -> tuple[tuple[str, ...], int] | None:
    found = file.set_once(name)
    return (found.values, found.line) if found else None


def _one(file: CMakeFile, name: str) -> Stated | None:
    found = file.set_once(name)
    if found is None:
        return None
    if len(found.values) != 1:
        raise refuse(file.path, found.line, f"{name} should be one value, and is {len(found.values)}.")
    return Stated(found.values[0], found.line)


def find_fetches(file: CMakeFile) -> list[Fetch]:
    """FetchContent_Declare, ExternalProject_Add and file(DOWNLOAD), in the order of the file."""
    return [made for command in file.called(*_FETCHES) if (made := _fetch(file, command))]


def _fetch(file: CMakeFile, command: CMakeCommand) -> Fetch | None:
    words = [argument.text for argument in command.arguments]
    if command.name == "file":
        if len(words) < 2 or words[0].upper() != "DOWNLOAD":
            return None
        named = _named(words[2:])
        name, url, tag = words[2] if len(words) > 2 else "", words[1], ""
        digest = named.get("EXPECTED_HASH", "") or _md5(named, "EXPECTED_MD5")
    else:
        if not words:
            raise refuse(file.path, command.line, f"{command.name}() has no name.")
        named = _named(words[1:])
        name = words[0]
        url = named.get("GIT_REPOSITORY") or named.get("URL", "")
        tag, digest = named.get("GIT_TAG", ""), named.get("URL_HASH", "") or _md5(named, "URL_MD5")
    url, tag, digest = (file.resolve(value, command.line) for value in (url, tag, digest))
    directory = file.resolve(named.get("SOURCE_DIR", ""), command.line)
    published = not is_placeholder(digest.partition("=")[2]) and not is_placeholder(tag)
    kind = _FETCHES[command.name]
    return Fetch(name, kind, url, tag, digest, published, command.line, command.depth, directory)


def _md5(named: dict[str, str], keyword: str) -> str:
    return f"MD5={named[keyword]}" if keyword in named else ""


def _named(words: list[str]) -> dict[str, str]:
    """The first word behind each keyword; a keyword directly behind another has none."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return {word: after for word, after in pairs if word in _KEYWORDS and after not in _KEYWORDS}


def read_aotriton(file: CMakeFile) -> Aotriton:
    """PyTorch's ``cmake/External/aotriton.cmake``, which names both a release and a commit.

    Raises PIN_UNREADABLE where one is missing or no commit, or where the lists differ in length.
    """
    version, commit = _one(file, "__AOTRITON_VER"), _one(file, "__AOTRITON_CI_COMMIT")
    if version is None or commit is None:
        missing = "__AOTRITON_VER" if version is None else "__AOTRITON_CI_COMMIT"
        raise refuse(file.path, 0, f"It does not set {missing}.")
    check_digest(commit.value, 40, file.path, commit.line, what="__AOTRITON_CI_COMMIT")
    return Aotriton(version, commit, tuple(_artefacts(file)))


def _artefacts(file: CMakeFile) -> Iterator[Artefact]:
    rocms, hashes = file.set_once("__AOTRITON_ROCM_LIST"), file.set_once("__AOTRITON_SHA256_LIST")
    if rocms is None or hashes is None:
        return
    if len(rocms.values) != len(hashes.values):
        sentence = f"There are {len(hashes.values)} hashes for {len(rocms.values)} ROCm versions."
        raise refuse(file.path, hashes.line, sentence)
    for rocm, digest, line in zip(rocms.values, hashes.values, hashes.lines, strict=True):
        published = not is_placeholder(digest)
        if published:
            check_digest(digest, 64, file.path, line, what=f"The hash for {rocm}")
        yield Artefact(rocm.removeprefix("rocm"), digest, published, line)
