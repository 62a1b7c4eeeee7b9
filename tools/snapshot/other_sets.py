"""Tested sets of PyTorch (its own pin of Triton, per ROCm that its binaries are built for) and of Triton."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rocmlock.gfx import sort_targets

from .facts import Facts
from .origins import Json, Origin, is_citable, is_version, said, words

_TRITON = "triton-lang/triton"
# What the data calls a commit that upstream's own words give, without a "for the series" or the like.
_STATED = {"stated", "stated (short hash) + git object"}


def make_pytorch_sets(facts: Facts) -> list[Json]:
    """A set for each release and each ROCm version of its binaries, newest of both first."""
    rows = {row["tag"]: row for row in facts.pytorch}
    return [
        _pytorch(facts, rows[tag["tag"]], rocm)
        for tag in facts.tags("pytorch/pytorch")
        for rocm in reversed(rows.get(tag["tag"], {}).get("rocm_binary_versions") or [])
    ]


def _pytorch(facts: Facts, release: Json, rocm: str) -> Json:
    binaries = _origin(release.get("binary_from"))
    archs: list[str] = release.get("pytorch_rocm_arch") or []
    pythons: list[str] = release.get("python_versions") or []
    build: Json = release.get("build") or {}
    made: Json = {
        "tag": release["tag"],
        "variant": f"rocm{rocm}",
        "rocm": [rocm, binaries],
        "gfx": [" ".join(sort_targets(archs)), _origin(release.get("pytorch_rocm_arch_from"))]
        if archs
        else None,
        "pins": [*_triton_pin(release), *_partners(facts, release)],
        "statements": list(_statements(release)),
        # Without the free-threaded builds ("3.14t").
        "supported-python": [" ".join(name for name in pythons if not name.endswith("t")), binaries],
        "cxx-standard": [str(build["cxx_standard"]), _standard_origin(build)] if build else None,
    }
    return {key: value for key, value in made.items() if value or key == "pins"}


def _origin(source: Any) -> Origin:
    return said(words(source), inferred=not is_citable(source))


def _standard_origin(build: Json) -> Origin:
    text = words(build["cxx_standard_from"])
    return said(text, inferred="of the PyPI wheel" not in text)


def _triton_pin(release: Json) -> Iterator[list[Any]]:
    triton: Json = release.get("triton") or {}
    if triton.get("commit"):
        # Upstream's file itself was not read: the origin is the text that tells what stands in it.
        at = said(words(triton["commit_from"]), inferred=triton.get("commit_confidence") not in _STATED)
        yield ["triton", _TRITON, triton["commit"], at]
    elif triton:
        at = said(words(triton["version_from"]))
        version = {"version": [triton["version"], at]} if is_version(triton["version"]) else {}
        yield ["triton", _TRITON, triton.get("requirement") or triton["version"], at, version]


def _partners(facts: Facts, release: Json) -> Iterator[list[Any]]:
    for package, repository in (("torchvision", "pytorch/vision"), ("torchaudio", "pytorch/audio")):
        tag = release.get(package)
        if isinstance(tag, str) and facts.tag(repository, tag):
            yield [package, repository, tag, said(f"the release pairs of {repository}")]


def _statements(release: Json) -> Iterator[list[Any]]:
    triton: Json = release.get("triton") or {}
    if triton.get("requirement"):
        yield ["triton", triton["requirement"], said(words(triton["version_from"]))]


def make_triton_sets(facts: Facts) -> list[Json]:
    """Each tag of Triton alone. It says nothing of ROCm versions or archs."""
    return [{"tag": row["tag"], "variant": "tag", "pins": []} for row in facts.tags(_TRITON)]
