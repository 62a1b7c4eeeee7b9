"""A software bill of materials: CycloneDX 1.6, JSON. Pure.

The same bytes for equal locks: no time stamp, and a serial number made of the lock's own text. Licences are
not known to a lock and not stated. What wheels need among themselves is not known either: a wheel has no
entry in the dependency graph of its own.
"""

# The library's decorators hide its signatures from type checkers: its own tests and ours hold the calls.
# pyright: reportCallIssue=false

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid5

from cyclonedx.model import (
    AttachedText,
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    Property,
    XsUri,
)
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.bom_ref import BomRef
from cyclonedx.model.component import (
    Commit,
    Component,
    ComponentScope,
    ComponentType,
    Diff,
    Patch,
    PatchClassification,
    Pedigree,
)
from cyclonedx.model.dependency import Dependency
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.utils import canonicalize_name

from ..codec import render_lock
from ..model import GitSource, Lock, Package, PathSource, SdistSource
from ..requirement_lines import applying
from ..targets import describe_target
from ..urls import github_repository, public_url
from .exported import Exported

# For serial numbers (RFC 9562, version 5); itself one, of the URL namespace.
_NAMESPACE = UUID("9426db0a-1eeb-5fb0-85ab-6dcaa4d0afdc")
_ROOT = "lock"


def render_cyclonedx(lock: Lock) -> Exported:
    """What a lock of one target runs with, and, with the scope ``excluded``, what its builds use."""
    needs = dict(_needs(lock))
    bom = Bom(
        serial_number=uuid5(_NAMESPACE, render_lock(lock)),
        metadata=BomMetaData(component=_root(lock)),
        components=[*_packages(lock), *_wheels(lock), *_downloads(lock)],
        dependencies=[_depends(ref, on) for ref, on in needs.items()],
    )
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string()
    document: dict[str, Any] = json.loads(text)
    document["metadata"].pop("timestamp")
    # The library adds a row without needs for each component that has none: it would say that it needs none.
    document["dependencies"] = [row for row in document["dependencies"] if row["ref"] in needs]
    notes = [
        f"{package.name} is a local folder: it is named by its tree digest and has no purl."
        for package in lock.packages
        if isinstance(package.source, PathSource)
    ]
    return Exported(json.dumps(document, indent=2, sort_keys=True) + "\n", tuple(notes))


def _root(lock: Lock) -> Component:
    (target,) = lock.targets
    facts = {
        "target": target.name,
        "for": describe_target(target),
        "host-compiler": f"{target.toolchain.host.kind} {target.toolchain.host.version}".strip(),
        "device-compiler": f"{target.toolchain.device.kind} {target.toolchain.device.version}".strip(),
    }
    return Component(
        name=lock.name, type=ComponentType.APPLICATION, bom_ref=_ROOT, properties=_properties(facts)
    )


def _properties(facts: dict[str, str]) -> list[Property]:
    return [Property(name=f"rocmlock:{key}", value=value) for key, value in facts.items() if value]


def _hashes(digest: str) -> list[HashType]:
    return [HashType(alg=HashAlgorithm.SHA_256, content=digest.removeprefix("sha256:"))]


def _packages(lock: Lock) -> Iterator[Component]:
    for package in lock.packages:
        # A pedigree's commits have no order; picks have.
        facts = {"package": package.name, "gfx": ", ".join(package.gfx), "picks": ", ".join(package.picks)}
        references: list[ExternalReference] = []
        hashes: list[HashType] = []
        match package.source:
            case GitSource(url=url, commit=commit, tag=tag):
                facts |= {"commit": commit, "tag": tag}
                references = [ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(public_url(url)))]
            case SdistSource(digest=digest):
                hashes = _hashes(digest)
            case PathSource(path=path, digest=digest):
                facts |= {"path": path, "tree": digest}
        yield Component(
            name=package.distribution,
            type=ComponentType.LIBRARY,
            version=package.version or None,
            bom_ref=_package_ref(package.name),
            purl=_purl(package),
            hashes=hashes,
            external_references=references,
            properties=_properties(facts),
            pedigree=_pedigree(package),
            scope=ComponentScope.REQUIRED,
        )


def _package_ref(name: str) -> str:
    return f"package:{name}"


def _purl(package: Package) -> PackageURL | None:
    match package.source:
        case GitSource(url=url, commit=commit):
            repository = github_repository(url)
            if repository and repository[0] == "github.com":
                return PackageURL("github", repository[1], repository[2], commit)
            where = {"vcs_url": f"git+{public_url(url)}@{commit}"}
            return PackageURL("generic", None, package.distribution, package.version or None, where)
        case SdistSource(file=file):
            return PackageURL(
                "pypi", None, package.distribution, package.version or None, {"file_name": file}
            )
        case PathSource():
            return None


def _pedigree(package: Package) -> Pedigree | None:
    """What is applied to the source."""
    if not package.picks and not package.patches:
        return None
    patches = [
        Patch(type=PatchClassification.UNOFFICIAL, diff=Diff(text=AttachedText(content=patch.text)))
        for patch in package.patches
    ]
    return Pedigree(commits=[Commit(uid=pick) for pick in package.picks], patches=patches)


def _wheels(lock: Lock) -> Iterator[Component]:
    (target,) = lock.targets
    for wheel in lock.wheels:
        (file,) = wheel.files
        run = wheel.id in target.python.wheels
        yield Component(
            name=wheel.name,
            type=ComponentType.LIBRARY,
            version=wheel.version,
            bom_ref=_wheel_ref(wheel.id),
            purl=PackageURL("pypi", None, wheel.name, wheel.version, {"file_name": file.file}),
            hashes=_hashes(file.digest),
            scope=ComponentScope.REQUIRED if run else ComponentScope.EXCLUDED,
        )


def _wheel_ref(id_: str) -> str:
    return f"wheel:{id_}"


def _downloads(lock: Lock) -> Iterator[Component]:
    for package in lock.packages:
        for download in package.downloads:
            yield Component(
                name=download.name,
                type=ComponentType.FILE,
                bom_ref=_download_ref(package, download.name),
                hashes=_hashes(download.digest),
                scope=ComponentScope.EXCLUDED,
            )


def _download_ref(package: Package, name: str) -> str:
    return f"download:{package.name}:{name}"


def _needs(lock: Lock) -> Iterator[tuple[str, set[str]]]:
    """What the whole holds, and what each package is built from and runs with."""
    (target,) = lock.targets
    run = {canonicalize_name(id_.partition("==")[0]): id_ for id_ in target.python.wheels}
    packages = {_package_ref(package.name) for package in lock.packages}
    yield _ROOT, {*packages, *map(_wheel_ref, target.python.wheels)}
    for package in lock.packages:
        asked = (canonicalize_name(line.name) for line in applying(package.run.python, target))
        yield (
            _package_ref(package.name),
            {
                *map(_package_ref, (*package.build.packages, *package.run.packages)),
                *map(_wheel_ref, package.build.wheels),
                *(_wheel_ref(run[name]) for name in asked if name in run),
                *(_download_ref(package, download.name) for download in package.downloads),
            },
        )


def _depends(ref: str, on: set[str]) -> Dependency:
    return Dependency(BomRef(ref), [Dependency(BomRef(each)) for each in sorted(on)])
