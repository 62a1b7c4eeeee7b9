"""What a manifest demands, as values that choosing and checking compare with.

The manifest room makes nothing of it: the resolver turns a Manifest into Demands, so that the lock can be
checked without knowing how people write manifests.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from attrs import field, frozen

from .model import Compiler, Flags, GpuMatch


@frozen
class Ranged:
    """Any source that a recipe knows, with a version in ``specifier`` (PEP 440; empty: any).

    ``repository`` ("owner/name") narrows that to one source; empty: any that the recipe knows.
    """

    specifier: str = ""
    repository: str = ""


@frozen
class FromGit:
    """A commit, tag or branch of a repository of the user's choice."""

    url: str
    rev: str

    def says(self, name: str) -> str:
        """The reason that a lock gives for it, which also tells what was asked for where that is a branch."""
        return f"{name} is {self.rev} of {self.url}"


@frozen
class FromPath:
    """A local folder, as written in the manifest (relative to it)."""

    path: str


@frozen
class FromSdist:
    """A project of the package index, built from its source distribution."""

    specifier: str = ""


Origin = Ranged | FromGit | FromPath | FromSdist


@frozen
class PackageDemand:
    """``line`` is the manifest's own line, for explanations."""

    name: str
    origin: Origin
    line: str
    gpu: GpuMatch | None = None
    environment: dict[str, str] = field(factory=dict[str, str])


@frozen
class Forbidden:
    """Versions of a package that the user will not have, and why."""

    package: str
    specifier: str
    reason: str

    @property
    def line(self) -> str:
        return f'forbid = [{{ package = "{self.package}", versions = "{self.specifier}" }}]'


@frozen
class Demands:
    """Everything that a lock must satisfy. ``gfx`` is canonical and sorted; ``rocm`` None: none is used."""

    name: str
    target: str
    gfx: tuple[str, ...]
    rocm: str | None
    python: str
    host: Compiler
    device: Compiler
    packages: tuple[PackageDemand, ...]
    flags: Flags = field(factory=Flags)
    requires: tuple[str, ...] = ()
    released_before: date | None = None
    forbidden: tuple[Forbidden, ...] = ()
    strategy: Literal["tested", "release", "newest"] = "tested"

    def package(self, name: str) -> PackageDemand | None:
        return next((package for package in self.packages if package.name == name), None)
