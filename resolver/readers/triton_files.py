"""Triton's pins of LLVM and of what its build fetches.

Up to 3.7 ``cmake/llvm-hash.txt`` holds the commit. From 3.8 ``cmake/llvm-info.json`` holds what the build
fetches: commit, build number and a hash for each platform. A ``cmake/llvm-build-info.json`` beside it says
what upstream's servers build next: where both are there, ``llvm-info.json`` wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .json_text import line_of_key, object_at, parse_object, text_at
from .pin_files import parse_commit_file
from .source_text import Stated, check_digest, refuse

LLVM_FILES = ("cmake/llvm-info.json", "cmake/llvm-hash.txt", "cmake/llvm-build-info.json")
"""The first of these that a commit of Triton has is the one that its build follows."""


@dataclass(frozen=True, slots=True)
class LlvmPin:
    """``commit`` with its line; ``build`` is a number or None; ``sha256`` by platform (``ubuntu-x64``)."""

    path: str
    commit: Stated
    build: int | None
    sha256: Mapping[str, Stated]
    repository: str


def choose_llvm(texts: Mapping[str, str]) -> LlvmPin:
    """The pin among the files of :data:`LLVM_FILES` that are there (path to text).

    Raises PIN_UNREADABLE where none is, or where the one that wins cannot be read.
    """
    for path in LLVM_FILES:
        if path in texts:
            return parse_llvm(texts[path], path)
    raise refuse(LLVM_FILES[0], 0, f"None of {', '.join(LLVM_FILES)} is there.")


def parse_llvm(text: str, path: str) -> LlvmPin:
    """One of the three files; the name of ``path`` says which layout."""
    if not path.endswith(".json"):
        found = parse_commit_file(text, path)
        commit = check_digest(found.value, 40, path, found.line, what="The commit")
        return LlvmPin(path, Stated(commit, found.line), None, {}, "")
    held, text = parse_object(text, path)
    line = line_of_key(text, "llvm_hash")
    commit = check_digest(text_at(held, "llvm_hash", text, path), 40, path, line, what="llvm_hash")
    build = held.get("build_number")
    if build is not None and (not isinstance(build, int) or isinstance(build, bool)):
        raise refuse(path, line_of_key(text, "build_number"), "build_number is no number.")
    sums = dict[str, Stated]()
    if "sha256sum" in held:
        start = line_of_key(text, "sha256sum")
        for platform, digest in object_at(held, "sha256sum", text, path).items():
            at = line_of_key(text, platform, start)
            sums[platform] = Stated(check_digest(str(digest), 64, path, at, what=platform), at)
    repository = text_at(held, "repository", text, path, needed=False)
    return LlvmPin(path, Stated(commit, line), build, sums, repository)


def parse_nvidia_versions(text: str, path: str) -> dict[str, Stated]:
    """``cmake/nvidia-toolchain-version.json``: the version of each tool that a build with NVIDIA's
    fetches.
    """
    held, text = parse_object(text, path)
    return {key: Stated(text_at(held, key, text, path), line_of_key(text, key)) for key in held}
