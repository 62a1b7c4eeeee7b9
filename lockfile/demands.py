"""What a manifest demands, as values that choosing and checking compare with.

The manifest room makes nothing of it: the resolver turns a Manifest into Demands, so that the lock can be
checked without knowing how people write manifests.
"""

from __future__ import annotations

from datetime import date

from attrs import field, frozen

from .model import Compiler, Flags, GpuMatch


@frozen
class Ranged:
    """Any source that a recipe knows, with a version in ``specifier`` (PEP 440; empty: any)."""

    specifier: str = ""


@frozen
class FromGit:
    url: str
    rev: str


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

    def package(self, name: str) -> PackageDemand | None:
        return next((package for package in self.packages if package.name == name), None)
