"""Unpacking source archives: nothing may land outside the folder, whatever the archive says."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path, PurePosixPath

from ..errors import SOURCE_INVALID, RocmlockError

MAX_FILES = 200_000
MAX_BYTES = 8 << 30


def unpack_sdist(archive: Path, folder: Path, name: str) -> None:
    """Unpack a ``.tar.gz`` into ``folder`` without its single top folder. ``name`` is its name in errors.

    Raises SOURCE_INVALID for paths that leave the folder, links to the outside, devices, bombs and damage.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            _unpack(tar, folder, name)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise _refused(name, f"it is not a whole archive ({error})") from None


def _unpack(tar: tarfile.TarFile, folder: Path, name: str) -> None:
    links: list[tuple[Path, str]] = []
    total = count = 0
    for member in tar:
        parts = _parts(member.name, name)
        count += 1
        total += member.size
        if count > MAX_FILES or total > MAX_BYTES:
            raise _refused(name, f"it holds more than {MAX_FILES} files or {MAX_BYTES >> 30} GiB")
        if not parts:
            continue
        place = folder.joinpath(*parts)
        if member.isdir():
            place.mkdir(parents=True, exist_ok=True)
        elif member.issym():
            links.append((place, member.linkname))
        elif member.isreg():
            _write(tar, member, place)
        else:
            raise _refused(name, f"{member.name} is neither file, folder nor symbolic link")
    # Links come last: no file can be written through one.
    for place, target in links:
        _check_link(folder, place, target, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)


def _parts(path: str, name: str) -> tuple[str, ...]:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise _refused(name, f"{path!r} leaves the archive's folder")
    return pure.parts[1:]


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    if content is None:
        return
    with content, place.open("wb") as file:
        shutil.copyfileobj(content, file, 1 << 20)
    place.chmod(0o755 if member.mode & 0o100 else 0o644)


def _check_link(folder: Path, place: Path, target: str, name: str) -> None:
    depth = len(place.relative_to(folder).parts) - 1
    if PurePosixPath(target).is_absolute():
        raise _refused(name, f"{place.name} links to {target}")
    for part in PurePosixPath(target).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            raise _refused(name, f"{place.name} links to {target}")


def _refused(name: str, why: str) -> RocmlockError:
    return RocmlockError(SOURCE_INVALID, f"{name} is refused: {why}.")
