"""What the package index has of the wheels and source distributions of a lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from packaging.utils import InvalidWheelFilename

from ..lockfile.model import Lock, SdistSource, Target
from ..package_index import IndexFile, PackageIndex
from .outdated import Available
from .outdated_wheels import wheel_versions
from .wheel_tags import choose_wheel

_CONNECTIONS = 8


def fetch_offered_sdists(index: PackageIndex, lock: Lock) -> dict[str, list[Available]]:
    """What the index has of each source distribution in the lock. Raises as PackageIndex does."""
    names = {package.name for package in lock.packages if isinstance(package.source, SdistSource)}
    return {name: _available(_usable(files, sdists=True)) for name, files in _files(index, names).items()}


def fetch_offered_wheels(index: PackageIndex, lock: Lock) -> dict[str, dict[str, list[Available]]]:
    """What of each wheel each target could take, by target and name: one request a wheel.

    Raises as PackageIndex does.
    """
    names = {name for versions in wheel_versions(lock).values() for name in versions}
    files = {name: _usable(found, sdists=False) for name, found in _files(index, names).items()}
    return {
        target.name: {name: _available(_fitting(found, target)) for name, found in files.items()}
        for target in lock.targets
    }


def _files(index: PackageIndex, names: Iterable[str]) -> Mapping[str, Sequence[IndexFile]]:
    ordered = sorted(names)
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        return dict(zip(ordered, pool.map(index.files, ordered), strict=True))


def _usable(files: Iterable[IndexFile], *, sdists: bool) -> list[IndexFile]:
    end = ".tar.gz" if sdists else ".whl"
    return [file for file in files if file.version and not file.yanked and file.file.endswith(end)]


def _fitting(files: Iterable[IndexFile], target: Target) -> list[IndexFile]:
    return [file for file in files if _fits(file.file, target)]


def _fits(file: str, target: Target) -> bool:
    try:
        return choose_wheel([file], target.python.version, target.python.platform) is not None
    except InvalidWheelFilename:
        return False


def _available(files: Iterable[IndexFile]) -> list[Available]:
    """Versions, each with its first upload."""
    found: dict[str, Available] = {}
    for file in files:
        each = Available(file.version or "", file.uploaded.date() if file.uploaded else None)
        known = found.setdefault(each.version, each)
        if each.uploaded and (known.uploaded is None or each.uploaded < known.uploaded):
            found[each.version] = each
    return list(found.values())
