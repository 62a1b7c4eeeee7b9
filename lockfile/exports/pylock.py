"""``pylock.toml`` (PEP 751, lock-version 1.0). Pure.

A lock names no host, and a pylock must say where each file is: files are looked for by name in a folder
beside it. Packages from source are what the lock says they are built from; building them with the lock's own
flags, compilers and proofs is rocmlock's.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from packaging.utils import canonicalize_name

from ..model import GitSource, Lock, Package, PathSource, SdistSource
from ..requirement_lines import machine_of
from ..urls import public_url
from .exported import Exported, extras_words


def render_pylock(lock: Lock, files: str = "wheels") -> Exported:
    """The environment of a lock of one target. ``files`` is the folder, relative to where the text is put."""
    import tomli_w

    (target,) = lock.targets
    folder = PurePosixPath(files)
    python = target.python
    entries = [_wheel(lock, id_, folder) for id_ in python.wheels]
    entries += [_package(package, folder) for package in lock.packages]
    document = {
        "lock-version": "1.0",
        "environments": [
            f"sys_platform == 'linux' and platform_machine == '{machine_of(target)}' "
            f"and implementation_name == '{python.implementation}'"
        ],
        "requires-python": f"=={python.version}.*",
        "created-by": "rocmlock",
        "packages": sorted(entries, key=lambda entry: str(entry["name"])),
    }
    notes = [f"The files are looked for by name in {files}/ beside the file."]
    for package in sorted(lock.packages, key=lambda package: package.name):
        if words := extras_words(package):
            notes.append(
                f"{package.name}: installers do not apply its {words}; they stand under tool.rocmlock."
            )
        if isinstance(package.source, PathSource):
            notes.append(f"{package.name} is a local folder: the file means something beside it alone.")
    return Exported(tomli_w.dumps(document), tuple(notes))


def _wheel(lock: Lock, id_: str, folder: PurePosixPath) -> dict[str, Any]:
    name, _, version = id_.partition("==")
    wheel = lock.wheel(id_)
    files = [_file(file.file, file.digest, file.size, folder) for file in (wheel.files if wheel else ())]
    return {"name": canonicalize_name(name), "version": version, "wheels": files}


def _file(name: str, digest: str, size: int, folder: PurePosixPath) -> dict[str, Any]:
    algorithm, _, value = digest.partition(":")
    sized = {"size": size} if size else {}
    return {"name": name, "path": str(folder / name), **sized, "hashes": {algorithm: value}}


def _package(package: Package, folder: PurePosixPath) -> dict[str, Any]:
    """PEP 751 wants no version of a source tree: it is known once it is built. It stands under ``tool``."""
    entry: dict[str, Any] = {"name": canonicalize_name(package.distribution)}
    match package.source:
        case GitSource(url=url, commit=commit, tag=tag):
            asked = {"requested-revision": tag} if tag else {}
            entry["vcs"] = {"type": "git", "url": public_url(url), **asked, "commit-id": commit}
        case SdistSource(file=file, digest=digest, size=size):
            versioned = {"version": package.version} if package.version else {}
            entry |= {**versioned, "sdist": _file(file, digest, size, folder)}
        case PathSource(path=path):
            entry["directory"] = {"path": path}
    told: dict[str, Any] = {
        "package": package.name,
        "version": package.version,
        "digest": package.source.digest if isinstance(package.source, PathSource) else "",
        "picks": list(package.picks),
        "patches": [{"name": patch.name, "digest": patch.digest} for patch in package.patches],
    }
    return {**entry, "tool": {"rocmlock": {key: value for key, value in told.items() if value}}}
