"""pip's and uv's constraints: ``name==version`` of everything in the environment. Pure.

The hash of the one file that the lock takes stands behind it as a comment: in a constraint itself it would
ask for hashes of all that is installed, and what is built from source has none before it is built.
"""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement

from ...errors import EXPORT_UNSUPPORTED, RocmlockError
from ..model import GitSource, Lock, Package, PathSource, SdistSource
from ..urls import public_url
from .exported import Exported, extras_words, plain


def render_constraints(lock: Lock) -> Exported:
    """The environment of a lock of one target; wheels that only builds use are not in it."""
    (target,) = lock.targets
    lines = [f"# {plain(lock.name)}, target {plain(target.name)}: written by rocmlock export"]
    rows: list[tuple[str, str, str]] = []
    notes: list[str] = []
    for id_ in target.python.wheels:
        wheel = lock.wheel(id_)
        comments = [f"{file.digest} {file.file}" for file in wheel.files] if wheel else []
        rows.append((*_split(id_), "; ".join(comments)))
    for package in lock.packages:
        if package.version:
            rows.append((package.distribution, package.version, _origin(package)))
        else:
            notes.append(f"{package.name} is left out: no fact tells its version.")
    lines += [f"{_checked(name, version)}  # {plain(comment)}" for name, version, comment in sorted(rows)]
    return Exported("\n".join((*lines, "")), tuple(notes))


def _split(id_: str) -> tuple[str, str]:
    name, _, version = id_.partition("==")
    return name, version


def _checked(name: str, version: str) -> str:
    """A constraint, which can be nothing but one. Raises EXPORT_UNSUPPORTED."""
    line = f"{name}=={version}"
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        requirement = None
    if requirement is None or requirement.url or requirement.marker or requirement.extras:
        raise RocmlockError(EXPORT_UNSUPPORTED, f"{line!r} is no constraint.")
    return plain(line)


def _origin(package: Package) -> str:
    applied = f" + {words}" if (words := extras_words(package)) else ""
    match package.source:
        case GitSource(url=url, commit=commit):
            return f"built from {public_url(url)}@{commit}{applied}"
        case SdistSource(file=file, digest=digest):
            return f"built from {file} {digest}{applied}"
        case PathSource(path=path, digest=digest):
            return f"built from {path} {digest}{applied}"
