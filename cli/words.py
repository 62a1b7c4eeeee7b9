"""Values of a lock in words for people. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..lockfile.model import GitSource, Lock, Package, PathSource, Reason, SdistSource

SHORT = 12


def source_words(package: Package) -> str:
    """``0f380657dbf3 + 1 pick``, the file name of a source distribution, or a folder."""
    match package.source:
        case GitSource(commit=commit):
            picks = len(package.picks)
            return commit[:SHORT] + (f" + {picks} pick{'s' if picks > 1 else ''}" if picks else "")
        case SdistSource(file=file):
            return file
        case PathSource(path=path):
            return path


def place_words(at: str, lock: Lock) -> str:
    """``vllm@<commit>:file:2`` as ``vllm 0.27.1 file:2``: versions read better than commits."""
    where, _, rest = at.partition(":")
    name, at_sign, commit = where.partition("@")
    if not at_sign:
        return at
    known = (
        package.version
        for package in lock.packages
        if package.name == name and isinstance(package.source, GitSource) and package.source.commit == commit
    )
    version = next(known, commit[:SHORT])
    return f"{name} {version} {rest}".rstrip()


def reason_words(reason: Reason, lock: Lock) -> str:
    """A reason as a line: what it says, where, and whether it was inferred."""
    inferred = " (inferred)" if reason.evidence == "inferred" else ""
    return f"{reason.says}{inferred}  [{place_words(reason.at, lock)}]"


def target_words(targets: Iterable[str], lock: Lock) -> str:
    """``mi250, mi300x``, or ``all`` where these are all targets of the lock."""
    named = sorted(set(targets))
    return "all" if len(named) == len(lock.targets) else ", ".join(named)


def why_words(package: Package, lock: Lock) -> str:
    """The first reason's place: the shortest answer to why."""
    return place_words(package.reasons[0].at, lock) if package.reasons else "recipe"
