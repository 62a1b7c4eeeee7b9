"""Tested sets of PyTorch (its own pin of Triton, per ROCm that its binaries are built for) and of Triton."""

from __future__ import annotations

from typing import Any

from .facts import Facts, Json, origin, version_of_tag, words


def make_pytorch_sets(facts: Facts) -> list[Json]:
    """A set for each release and each ROCm version of its binaries, newest of both first."""
    return [
        _pytorch(facts, release, rocm)
        for release in facts.pytorch["releases"]
        for rocm in reversed(release.get("rocm_binary_versions") or [])
    ]


def _pytorch(facts: Facts, release: Json, rocm: str) -> Json:
    pins: list[Json] = []
    triton: Json = release.get("triton") or {}
    if triton:
        # Upstream's file itself was not read: the origin is the text that tells what stands in it.
        inferred = triton.get("commit_confidence") != "stated"
        at = origin(words(triton.get("commit_from")), inferred=inferred)
        pin: Json = {
            "package": "triton",
            "repository": "triton-lang/triton",
            "asked": triton.get("commit") or triton.get("version") or "?",
            "origin": at,
        }
        if triton.get("commit"):
            pin["commit"] = triton["commit"]
        if triton.get("version"):
            pin["version"] = [triton["version"], origin(words(triton.get("version_from")))]
        pins.append(pin)
    for package, repository in (("torchvision", "pytorch/vision"), ("torchaudio", "pytorch/audio")):
        tag = release.get(package)
        row = facts.tag(repository, tag) if isinstance(tag, str) else None
        if row:
            pins.append(_tag_pin(package, repository, row))
    made: Json = {
        "tag": release["tag"],
        "variant": f"rocm{rocm}",
        "rocm": [rocm, origin(words(release.get("binary_from")))],
        "gfx": release.get("pytorch_rocm_arch") or [],
        "gfx-origin": origin(words(release.get("pytorch_rocm_arch_from"))),
        "supported-python": _with_gil(release.get("python_versions") or []),
        "supported-python-origin": origin(words(release.get("binary_from"))),
        "pins": pins,
    }
    build: Json = release.get("build") or {}
    if build.get("cxx_standard"):
        made["cxx-standard"] = [str(build["cxx_standard"]), origin(str(build.get("cxx_standard_from", "")))]
    return {key: value for key, value in made.items() if value not in (None, [])}


def _with_gil(versions: list[str]) -> list[str]:
    """Without the free-threaded builds ("3.14t")."""
    return [version for version in versions if not version.endswith("t")]


def _tag_pin(package: str, repository: str, row: Json) -> Json:
    pin: Json = {
        "package": package,
        "repository": repository,
        "asked": row["tag"],
        "tag": row["tag"],
        "origin": origin(f"the release pairs of {repository}"),
        "version": [version_of_tag(row["tag"]) or "0", origin(f"{repository} tag {row['tag']}")],
    }
    if row["commit"]:
        pin |= {"commit": row["commit"], "commit-origin": origin(words(row["from"]))}
    return pin


def make_triton_sets(facts: Facts) -> list[Json]:
    """Each tag of Triton alone. It says nothing of ROCm versions or archs."""
    return [
        {"tag": row["tag"], "variant": "tag", "pins": list[Any]()} for row in facts.tags("triton-lang/triton")
    ]
