"""Derivations: everything that makes a build what it is, before any input is built. Pure.

The key is SHA-256 over a version prefix and the derivation as canonical JSON (docs/formats/keys.md). Inputs
that are built themselves stand in it by their own derivation keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from attrs import asdict, frozen

from ..lockfile.model import GitSource, Lock, Package, PathSource, SdistSource, Target

PREFIX = "rocmlock-derivation-v1"
# What the sandbox shows and hides: a change that a build can notice needs a new number.
SANDBOX_POLICY = "1"
# 1980-01-01, the oldest time that a zip archive can hold: for sources that have no commit date.
EPOCH = 315532800


@frozen
class Derivation:
    """All values are text, lists and tables of text, so that two derivations can be compared field by field.

    ``wheels`` maps the file names of the build environment to their digests, ``inputs`` package names to
    derivation keys. ``system`` is the fingerprint of the system.
    """

    name: str
    version: str
    source: dict[str, str]
    picks: tuple[str, ...]
    patches: dict[str, str]
    downloads: dict[str, str]
    steps: tuple[tuple[str, ...], ...]
    environment: dict[str, str]
    gfx: tuple[str, ...]
    python: dict[str, str]
    toolchain: dict[str, str]
    rocm: str
    wheels: dict[str, str]
    inputs: dict[str, str]
    system: str
    sandbox: str = SANDBOX_POLICY


def render_derivation(derivation: Derivation) -> bytes:
    """The canonical bytes that the key is made of."""
    body = json.dumps(asdict(derivation), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"{PREFIX}\n{body}\n".encode()


def derivation_key(derivation: Derivation) -> str:
    """64 hex digits."""
    return hashlib.sha256(render_derivation(derivation)).hexdigest()


def order_packages(lock: Lock) -> list[Package]:
    """Packages of a lock of one target, each one after those that it is built with; else by name."""
    packages = {package.name: package for package in lock.packages}
    ordered: dict[str, Package] = {}

    def visit(package: Package) -> None:
        for name in sorted(package.build.packages):
            if name not in ordered:
                visit(packages[name])
        ordered[package.name] = package

    for name in sorted(packages):
        if name not in ordered:
            visit(packages[name])
    return list(ordered.values())


def plan_derivations(
    lock: Lock, target: Target, *, system: str, words: Mapping[str, str]
) -> Iterator[tuple[Package, Derivation, str]]:
    """Each package of a lock of one ``target``, in build order, with its derivation and key.

    ``words`` replaces the placeholders that the system decides ("{cc}", "{gcc-install-dir}", …).
    """
    keys: dict[str, str] = {}
    for package in order_packages(lock):
        derivation = _derivation(lock, target, package, keys, system=system, words=words)
        keys[package.name] = derivation_key(derivation)
        yield package, derivation, keys[package.name]


def _derivation(
    lock: Lock,
    target: Target,
    package: Package,
    keys: Mapping[str, str],
    *,
    system: str,
    words: Mapping[str, str],
) -> Derivation:
    return Derivation(
        name=package.name,
        version=package.version,
        source=_identity(package),
        picks=package.picks,
        patches={patch.name: patch.digest for patch in package.patches},
        downloads={download.place: download.digest for download in package.downloads},
        steps=package.steps,
        environment={name: replace_words(text, words) for name, text in package.environment.items()},
        gfx=package.gfx,
        python={
            "abi": target.python.abi,
            "implementation": target.python.implementation,
            "version": target.python.version,
        },
        toolchain={
            f"{word}-{part}": value
            for word, compiler in (("host", target.toolchain.host), ("device", target.toolchain.device))
            for part, value in asdict(compiler).items()
            if value
        },
        rocm=target.rocm.version if target.rocm else "",
        wheels=dict(find_wheels(lock, target, package.build.wheels)),
        inputs={name: keys[name] for name in _build_closure(lock, package)},
        system=system,
    )


def _build_closure(lock: Lock, package: Package) -> list[str]:
    """What the build environment holds of the lock's own packages: its needs and their run-time needs."""
    packages = {each.name: each for each in lock.packages}
    found: set[str] = set()
    pending = list(package.build.packages)
    while pending:
        name = pending.pop()
        if name not in found and name != package.name:
            found.add(name)
            pending.extend(packages[name].run.packages)
    return sorted(found)


def find_wheels(lock: Lock, target: Target, ids: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(file name, digest) of the wheels ``ids`` on a target. The codec has checked that all are there."""
    for wheel_id in sorted(ids):
        wheel = lock.wheel(wheel_id)
        for file in wheel.files if wheel else ():
            if target.name in file.targets:
                yield file.file, file.digest


def _identity(package: Package) -> dict[str, str]:
    """Who a source is: for git the commit, not the URL; for a folder its content, not its path."""
    source = package.source
    match source:
        case GitSource():
            return {"kind": source.kind, "commit": source.commit}
        case SdistSource():
            return {"kind": source.kind, "digest": source.digest}
        case PathSource():
            return {"kind": source.kind, "digest": source.digest}


def replace_words(text: str, words: Mapping[str, str]) -> str:
    """``text`` with each placeholder of ``words`` replaced."""
    for word, value in words.items():
        text = text.replace(word, value)
    return text
