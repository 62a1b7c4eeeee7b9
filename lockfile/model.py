"""The lock as values. What each field means and why it is there: docs/formats/lock.md.

Everything that makes a build what it is stands here; the store needs nothing else. Collections are tuples in
canonical order (the codec sorts when it writes), so that equal locks are equal bytes.
"""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from .names import Commit, ContentDigest, FileName

VERSION = 1
REVISION = 0

Evidence = Literal["stated", "inferred"]
GpuMatch = Literal["equal", "contains", "none"]


@frozen
class Reason:
    """Why something is in the lock: ``says`` (a fact in words) read ``at`` a place."""

    at: str
    says: str
    evidence: Evidence = "stated"


@frozen
class HostSystem:
    """The machine's own /usr. Which one is measured when realizing and never stands in a lock."""

    kind: Literal["host"] = "host"


@frozen
class Rocm:
    """The ROCm that a target is for. ``version`` as upstream states it ("7.2.3", or "7.0" for any patch)."""

    version: str
    flavour: Literal["host"] = "host"
    reasons: tuple[Reason, ...] = ()


@frozen
class Python:
    """The interpreter and the run-time wheels of a target.

    ``platform`` is the newest manylinux tag that wheels may ask for; ``requires`` are the manifest's own
    requirements; ``wheels`` are "name==version" of every wheel of the environment.
    """

    version: str
    abi: str
    platform: str
    implementation: Literal["cpython"] = "cpython"
    requires: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()


@frozen
class Compiler:
    """A compiler by major version; ``gcc_install`` is the GCC major whose libstdc++ a clang uses."""

    kind: Literal["gcc", "clang", "rocm"]
    version: str = ""
    gcc_install: str = ""


@frozen
class Toolchain:
    host: Compiler
    device: Compiler


@frozen
class Target:
    name: str
    gfx: tuple[str, ...]
    python: Python
    toolchain: Toolchain
    rocm: Rocm | None = None
    system: HostSystem = field(factory=HostSystem)


@frozen
class GitSource:
    """Identity is the commit (and the package's picks and patches); the URL is where to look for it."""

    url: str
    commit: Commit
    tag: str = ""
    tag_object: str = ""
    kind: Literal["git"] = "git"


@frozen
class SdistSource:
    """A source distribution of a package index, found by file name and checked by hash (``sha256:…``)."""

    file: FileName
    digest: ContentDigest
    size: int = 0
    kind: Literal["sdist"] = "sdist"


@frozen
class PathSource:
    """A local folder, relative to the lock. ``digest`` is its tree digest. Never shareable."""

    path: str
    digest: ContentDigest
    kind: Literal["path"] = "path"


Source = GitSource | SdistSource | PathSource


@frozen
class Requires:
    """``packages`` are names in this lock, ``python`` requirement lines, ``wheels`` what they came to."""

    packages: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()


@frozen
class Check:
    """What the output must hold: GPU code of the files that match ``paths``, compared by ``match``."""

    match: GpuMatch
    paths: tuple[str, ...] = ("**",)
    kind: Literal["gfx"] = "gfx"


@frozen
class Patch:
    """A change to the source that the lock carries itself: ``text`` is a unified diff."""

    name: FileName
    digest: ContentDigest
    text: str


@frozen
class Download:
    """What a build would fetch: found by ``name``, checked by ``digest``, laid at ``place`` below /build."""

    name: FileName
    digest: ContentDigest
    place: str


@frozen
class Flags:
    """Compiler flags of the whole lock; part of every key through each package's environment."""

    opt_level: str = "O3"
    debug: str = "none"


@frozen
class Package:
    """A package that is built from source. ``version`` is empty where no fact tells it."""

    name: str
    distribution: str
    source: Source
    targets: tuple[str, ...]
    gfx: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    checks: tuple[Check, ...]
    version: str = ""
    environment: dict[str, str] = field(factory=dict[str, str])
    picks: tuple[Commit, ...] = ()
    patches: tuple[Patch, ...] = ()
    downloads: tuple[Download, ...] = ()
    build: Requires = field(factory=Requires)
    run: Requires = field(factory=Requires)
    memory_per_job: int = 0
    reasons: tuple[Reason, ...] = ()
    gfx_reasons: tuple[Reason, ...] = ()


@frozen
class WheelFile:
    """The one file that a wheel is taken from on ``targets``."""

    file: FileName
    digest: ContentDigest
    targets: tuple[str, ...]
    size: int = 0


@frozen
class Wheel:
    """A wheel of a package index, locked by hash."""

    name: str
    version: str
    files: tuple[WheelFile, ...]

    @property
    def id(self) -> str:
        return f"{self.name}=={self.version}"


@frozen
class Warning:  # noqa: A001 -- the lock's own word for it
    """Where upstream contradicts itself: both places are named."""

    says: str
    at: tuple[str, ...]


@frozen
class Lock:
    name: str
    targets: tuple[Target, ...]
    packages: tuple[Package, ...]
    wheels: tuple[Wheel, ...]
    flags: Flags = field(factory=Flags)
    warnings: tuple[Warning, ...] = ()

    def target(self, name: str) -> Target | None:
        return next((target for target in self.targets if target.name == name), None)

    def package(self, name: str, target: str) -> Package | None:
        """The package as ``target`` has it: targets may have different ones of one name."""
        return next((each for each in self.packages if each.name == name and target in each.targets), None)

    def wheel(self, wheel_id: str) -> Wheel | None:
        return next((wheel for wheel in self.wheels if wheel.id == wheel_id), None)
