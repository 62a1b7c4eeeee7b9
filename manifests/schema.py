"""The manifest as people write it: rocmlock.toml, schema 1. docs/formats/manifest.md describes every key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Annotated, Any, Literal, Self, cast

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from .. import gfx
from .ranges import is_impossible

SCHEMA = 1
# The name of the target of a manifest that gives it none.
ONLY_TARGET = "default"
GpuMatch = Literal["equal", "contains", "none"]

# The executor sets these outside of what makes a build what it is: a manifest can't.
RESERVED = ("MAX_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL", "MAKEFLAGS", "NINJAFLAGS")


def _hyphens(name: str) -> str:
    return name.replace("_", "-")


class _Strict(BaseModel):
    """What all models of the manifest share: unknown keys and loose types are refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=_hyphens,
        populate_by_name=False,
        defer_build=True,  # only whole manifests are validated: their parts need no validator
    )


def _specifier(text: str) -> str:
    """A PEP 440 range; "*" is any version."""
    if text.strip() == "*":
        return ""
    try:
        parsed = SpecifierSet(text)
    except InvalidSpecifier:
        mended = re.sub(r"=([<>~!])", r"\1=", re.sub(r"(?<![<>=!~])=(?![=<>~!])", "==", text))
        if re.match(r"\d", mended):
            mended = f"=={text}"
        raise ValueError(f'{text!r} is not a version range; write for example "{_valid(mended)}"') from None
    if is_impossible(parsed):
        raise ValueError(f"no version is in {text!r}")
    return str(text).replace(" ", "")


def _valid(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return ">=2.8"
    return text


def _gfx(text: str) -> str:
    return gfx.normalise(text)


def _once(targets: list[str]) -> list[str]:
    double = next((target for target in targets if targets.count(target) > 1), None)
    if double:
        raise ValueError(f"{double} stands twice in gfx")
    return targets


def _requirement(text: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        raise ValueError(f'{text!r} is not a requirement; write for example "ray>=2.9"') from None
    if requirement.url:
        raise ValueError(f"{text!r} names a URL: only versions of the package index can be locked here")
    return str(requirement)


def _git_url(text: str) -> str:
    if re.match(r"https?://[^/@]*:?[^/@]*@", text):
        raise ValueError("a manifest holds no user names, passwords or tokens: leave them out of the URL")
    if not re.match(r"(https://|ssh://|file:///|[\w.-]+@[\w.-]+:)\S+", text):
        raise ValueError(f'{text!r} is not a git URL; write for example "https://github.com/ROCm/triton"')
    return text


def _matching(pattern: str, words: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text!r} is not {words}")
        return text

    return check


Specifier = Annotated[str, AfterValidator(_specifier)]
GfxTarget = Annotated[str, AfterValidator(_gfx)]
GfxTargets = Annotated[list[GfxTarget], Field(min_length=1), AfterValidator(_once)]
RequirementLine = Annotated[str, AfterValidator(_requirement)]
GitUrl = Annotated[str, AfterValidator(_git_url)]
Name = Annotated[str, AfterValidator(_matching(r"[A-Za-z0-9][A-Za-z0-9._-]*", 'a name such as "mi300x"'))]
Repository = Annotated[
    str, AfterValidator(_matching(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+", 'a repository such as "ROCm/pytorch"'))
]
PythonVersion = Annotated[str, AfterValidator(_matching(r"3\.(9|1[0-9])", 'a version such as "3.12"'))]
Major = Annotated[str, AfterValidator(_matching(r"[1-9][0-9]?", 'a major version such as "11"'))]
Variable = Annotated[str, AfterValidator(_matching(r"[A-Za-z_][A-Za-z0-9_]*", "a variable's name"))]


class Target(_Strict):
    """What is built for. ``rocm`` may be left out only where no ROCm is used (``device = { clang = … }``)."""

    gfx: GfxTargets
    python: PythonVersion
    rocm: Specifier | None = None


class SharedKeys(_Strict):
    """Keys of ``[target]`` beside tables of it: each named target has them unless it has its own."""

    gfx: GfxTargets | None = None
    python: PythonVersion | None = None
    rocm: Specifier | None = None


class Targets(_Strict):
    """The targets by name, whole; ``shared`` is there for its faults alone (see split_targets)."""

    named: dict[Name, Target]
    shared: SharedKeys = SharedKeys()


class HostCompiler(_Strict):
    """``gcc`` alone, or ``clang`` with the GCC whose libstdc++ it uses."""

    gcc: Major | None = None
    clang: Major | None = None
    gcc_install: Major | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.gcc) == bool(self.clang):
            raise ValueError(
                'name one compiler: host = { gcc = "11" } or { clang = "15", gcc-install = "11" }'
            )
        if self.clang and not self.gcc_install:
            raise ValueError('clang needs the libstdc++ of a GCC: add gcc-install = "11"')
        if self.gcc and self.gcc_install:
            raise ValueError("gcc-install goes with clang only")
        return self


class ClangDevice(_Strict):
    clang: Major


class Toolchain(_Strict):
    host: HostCompiler
    device: Literal["rocm"] | ClangDevice = "rocm"


class System(_Strict):
    """``base``: the machine's own system, or a pinned root file system."""

    base: Annotated[
        str, AfterValidator(_matching(r"host|oci:\S+:\S+|debian:[a-z]+", '"host", "oci:…" or "debian:…"'))
    ] = "host"


class PackageTable(_Strict):
    """One package with exactly one source; ``gpu`` is what its output must hold.

    ``repository`` narrows a range to the commits of one repository: a fork is another source of the package.
    """

    version: Specifier | None = None
    repository: Repository | None = None
    git: GitUrl | None = None
    rev: str | None = None
    path: str | None = None
    sdist: Specifier | None = None
    gpu: GpuMatch | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in ("version", "git", "path", "sdist") if getattr(self, name) is not None]
        if len(given) != 1:
            found = f", not {' and '.join(given)}" if given else ""
            raise ValueError(f"a package has one source: version, git, path or sdist{found}")
        if self.repository is not None and self.version is None:
            raise ValueError('repository goes with version: { version = "*", repository = "ROCm/pytorch" }')
        if (self.git is None) != (self.rev is None):
            raise ValueError('git and rev go together: { git = "https://…", rev = "<commit or tag>" }')
        return self


class PackageFlags(_Strict):
    env: dict[Variable, str] = {}

    @model_validator(mode="after")
    def _free(self) -> Self:
        taken = sorted(set(self.env) & set(RESERVED))
        if taken:
            raise ValueError(f"{', '.join(taken)} is set by the executor: it is no part of what a build is")
        return self


class Flags(_Strict):
    """Flags of all packages, and tables of single ones (any other key)."""

    opt_level: Literal["O0", "O1", "O2", "O3", "Os"] = "O3"
    debug: Literal["none", "line", "full"] = "none"
    packages: dict[str, PackageFlags] = {}


class Python(_Strict):
    requires: list[RequirementLine] = []


class Forbidden(_Strict):
    """Versions that must not be chosen, with the user's reason."""

    package: Name
    versions: Specifier
    reason: str


class Resolve(_Strict):
    strategy: Literal["tested", "release", "newest"] = "tested"
    released_before: date | None = None
    forbid: list[Forbidden] = []


def _as_table(value: object) -> object:
    return {"version": value} if isinstance(value, str) else value


Package = Annotated[PackageTable, BeforeValidator(_as_table)]


class Manifest(_Strict):
    """A whole manifest. ``packages`` has canonical names."""

    schema_: Literal[1] = Field(alias="schema")
    name: Name
    target: Targets
    toolchain: Toolchain
    system: System = System()
    recipes: list[str] = []
    packages: dict[str, Package] = Field(min_length=1)
    flags: Flags = Flags()
    python: Python = Python()
    resolve: Resolve = Resolve()


_SAY_ROCM = 'write rocm = ">=7.0,<7.3"'


def find_rocm_faults(manifest: Manifest) -> Iterator[tuple[str, str, str, str]]:
    """Targets whose ``rocm`` does not go with the device compiler: (target, key or "", sentence, hint)."""
    for name, target in manifest.target.named.items():
        if manifest.toolchain.device == "rocm" and target.rocm is None:
            yield name, "", "the device compiler is ROCm's, and which ROCm is not said", _SAY_ROCM
        if manifest.toolchain.device != "rocm" and target.rocm is not None:
            yield (
                name,
                "rocm",
                "rocm is given, but the device compiler is not ROCm's",
                "leave out one of them",
            )


def canonicalize_name(name: str) -> str:
    """The name as package indexes compare it (PEP 503); packaging.utils has it behind 10 ms of imports."""
    return re.sub(r"[-_.]+", "-", name).lower()


def split_flags(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the tables of ``[flags]`` under one key, as the model has them."""
    if not isinstance(document.get("flags"), dict):
        return document
    flags: dict[str, Any] = document["flags"]
    known = {_hyphens(name) for name in Flags.model_fields}
    tables: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in flags.items():
        (tables if isinstance(value, dict) and name not in known else rest)[name] = value
    return {**document, "flags": {**rest, "packages": tables} if tables else rest}


def split_targets(document: dict[str, Any]) -> dict[str, Any]:
    """The document with each target whole under its name, as the model has them.

    A table in ``[target]`` is a target, unless it is called like one of a target's keys; everything else is a
    key: of the only target where there is no table, else shared by all of them.
    """
    table = document.get("target")
    if not isinstance(table, dict):
        return document
    written = cast("dict[str, Any]", table)
    keys = {name: value for name, value in written.items() if not is_named_target(name, value)}
    named: dict[str, dict[str, Any]] = {
        name: {**keys, **value} for name, value in written.items() if is_named_target(name, value)
    }
    targets = {"named": named, "shared": keys} if named else {"named": {ONLY_TARGET: keys}}
    return {**document, "target": targets}


def is_named_target(name: str, value: object) -> bool:
    """Whether an entry of ``[target]`` is a target of its own, not a key."""
    return isinstance(value, dict) and name not in Target.model_fields


def canonical_packages(document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The document with canonical package names, and the names that stand twice under other spellings."""
    if not isinstance(document.get("packages"), dict):
        return document, []
    packages: dict[str, Any] = document["packages"]
    doubles = [
        name
        for name in packages
        if any(other != name and canonicalize_name(other) == canonicalize_name(name) for other in packages)
    ]
    canonical = {canonicalize_name(name): value for name, value in packages.items()}
    return {**document, "packages": canonical}, doubles
