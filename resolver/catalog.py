"""What a catalog answers: the facts about upstream projects that choosing needs.

The types here are plain values. Where they come from (the bundled snapshot, later GitHub) is behind
:class:`Catalog`; nothing else of the resolver knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

Evidence = Literal["stated", "inferred"]
"""``stated``: read where upstream says it. ``inferred``: concluded from other facts; always shown as such."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact was read.

    ``where`` is ``project@commit`` (``vllm@6e448d0e…``) when the fact stands in a project's own file at a
    commit, else free words ("PyPI sdist vllm 0.27.1"). ``path`` and ``line`` (from 1) are empty and 0 when
    there is no file or its line is not known.
    """

    where: str
    path: str = ""
    line: int = 0
    evidence: Evidence = "stated"

    def __str__(self) -> str:
        place = f"{self.where}:{self.path}" if self.path else self.where
        return f"{place}:{self.line}" if self.line else place


@dataclass(frozen=True, slots=True)
class Fact:
    """A value and where it was read."""

    value: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Release:
    """A tag of a repository. ``version`` is empty where the tag is none.

    ``commit`` is 40 hex, or None where it was never read: then it can't be had.
    """

    repository: str
    tag: str
    version: str
    commit: str | None
    tag_object: str | None
    date: date | None
    prerelease: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """What is known of a commit that others name without a tag.

    ``asked`` is the name that they use, short or of 40 hex (or a tag that was never read); ``commit`` what
    it stands for, None where the facts cannot tell, and ``origin`` who says so. ``branch`` is free words.
    ``tag`` is set where it is a tag, with the object of an annotated one.
    """

    repository: str
    asked: str
    commit: str | None
    origin: Origin | None
    version: Fact | None
    branch: str
    tag: str = ""
    tag_object: str | None = None

    @property
    def moves(self) -> bool:
        """Whether ``asked`` is a branch: neither a tag nor a commit, of which a branch is told as well."""
        return bool(self.branch) and not self.tag and re.fullmatch(r"[0-9a-f]{7,40}", self.asked) is None


@dataclass(frozen=True, slots=True)
class Pin:
    """What a tested set says of one package.

    ``asked`` is the text that upstream wrote (short commit, tag, wheel version) and ``origin`` its place.
    ``commit`` is the full 40 hex, None where it cannot be known from the facts; ``commit_origin`` says who
    expanded it. ``wheel`` is set where upstream names a binary wheel instead of a source: no source pin.
    ``version`` is the PEP 440 version of that commit, None where no fact tells it. ``unsaid`` is what
    upstream does to the source that a commit and picks cannot say; ``edits`` are files that it changes in
    passing. ``says`` is why it was chosen, where that is another reason than that the set tests it.
    """

    package: str
    repository: str
    asked: str
    origin: Origin
    commit: str | None = None
    commit_origin: Origin | None = None
    tag: str | None = None
    tag_object: str | None = None
    version: Fact | None = None
    wheel: str | None = None
    picks: tuple[Pick, ...] = ()
    unsaid: tuple[str, ...] = ()
    says: str = ""
    edits: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Pick:
    """A commit that upstream cherry-picks on top of a pin. ``commit`` None: it can't be expanded."""

    asked: str
    commit: str | None
    origin: Origin
    commit_origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """What a lower source says of a package (a requirement line, a supported version): compared, not obeyed.

    ``specifier`` is a PEP 440 specifier set as text ("==2.11.0").
    """

    package: str
    specifier: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class PythonRequirement:
    """A requirement line of an upstream file, normalised by PEP 508, without comments and options."""

    text: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class TestedSet:
    """A complete assignment that ``top`` (a package name) tests: one row of the enumeration.

    ``rocm``, ``python`` and ``gfx`` are what the set is built for, None or empty where upstream does not say.
    ``supported_…`` and ``cxx_standard`` are further facts of the top package at that commit.
    ``requires_run``/``requires_build``: None where the recipe alone tells. ``unread`` names what upstream has
    and the facts lack: such a set is not whole and can't be chosen.
    """

    top: str
    release: Release
    variant: str
    rocm: Fact | None
    python: Fact | None
    gfx: tuple[str, ...]
    gfx_origin: Origin | None
    pins: tuple[Pin, ...]
    statements: tuple[Statement, ...] = ()
    supported_gfx: tuple[str, ...] = ()
    supported_gfx_origin: Origin | None = None
    supported_python: tuple[str, ...] = ()
    supported_python_origin: Origin | None = None
    cxx_standard: Fact | None = None
    requires_run: tuple[PythonRequirement, ...] | None = None
    requires_build: tuple[PythonRequirement, ...] | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RocmRelease:
    """A ROCm release: the GPUs that it supports by AMD's matrix (empty: not known)."""

    version: str
    date: date | None
    gfx: tuple[str, ...]
    origin: Origin


class Catalog(Protocol):
    """The facts. Implementations raise RocmlockError and nothing else.

    Asking is cheap in this order: candidates, tested_sets, expand. A live catalog makes its requests then, so
    the chooser asks for nothing that an earlier fact rules out.
    """

    @property
    def dated(self) -> date | None:
        """The day the facts were collected; None for a live source."""
        ...

    def tops(self) -> tuple[str, ...]:
        """Packages that have tested sets, the one that sits highest first."""
        ...

    def candidates(self, top: str) -> tuple[Release, ...]:
        """The releases of a package that have tested sets, newest version first, unusable ones included."""
        ...

    def tested_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
        """What a candidate tests; of several sets the plain one first."""
        ...

    def expand(self, pin: Pin) -> Pin:
        """The pin with all that can be known of it: full commits and the version there."""
        ...

    def releases(self, repository: str) -> tuple[Release, ...]:
        """Tags of ``owner/name``, newest version first; empty when the repository is not known."""
        ...

    def commit(self, repository: str, asked: str) -> KnownCommit:
        """What a tag, a short commit or a branch of ``owner/name`` stands for; its commit may be None."""
        ...

    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        """Every ROCm release known, newest version first."""
        ...
