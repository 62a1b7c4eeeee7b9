"""Source distributions: which file, what it needs to be built and to run. Its code is never executed."""

from __future__ import annotations

import hashlib
import io
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from packaging.metadata import parse_email
from packaging.version import InvalidVersion, Version

from ..errors import HASH_MISMATCH, SOURCE_INVALID, UNSATISFIABLE, RocmlockError
from ..lockfile.model import SdistSource
from ..lockfile.names import content_digest, file_name
from ..lockfile.satisfy import version_in
from ..package_index import IndexFile, PackageIndex

MAX_SIZE = 256 << 20
_MAX_MEMBER = 4 << 20
_LEGACY_BUILD = ("setuptools>=40.8.0", "wheel")  # PEP 517: what a project without a [build-system] means


@dataclass(frozen=True, slots=True)
class Sdist:
    """A chosen source distribution with its requirement lines."""

    version: str
    source: SdistSource
    build: tuple[str, ...]
    run: tuple[str, ...]


def fetch_sdist(index: PackageIndex, name: str, specifier: str, before: date | None) -> Sdist:
    """The newest source distribution of ``name`` in ``specifier``.

    Raises UNSATISFIABLE where the index has none, HASH_MISMATCH, SOURCE_INVALID, or as PackageIndex does.
    """
    files = [file for file in index.files(name) if file.is_sdist and file.file.endswith(".tar.gz")]
    chosen = choose_sdist(files, specifier, before)
    if chosen is None or chosen.sha256 is None or chosen.version is None:
        raise RocmlockError(
            UNSATISFIABLE,
            f'The package index has no source distribution of {name} in "{specifier or "*"}".',
            context=[f"it has {', '.join(_versions(files)) or 'none at all'}"],
            hint=f"Widen the range of {name} in [packages].",
        )
    data = _read(index, chosen, chosen.sha256)
    build, run = parse_requirements(data, chosen.file)
    source = SdistSource(file_name(chosen.file), content_digest(f"sha256:{chosen.sha256}"), len(data))
    return Sdist(chosen.version, source, build, run)


def choose_sdist(files: list[IndexFile], specifier: str, before: date | None) -> IndexFile | None:
    """The newest file that counts: in the range, hashed, not yanked, old enough. Pure."""
    found = [
        (version, file)
        for file in files
        if (version := _version(file)) is not None
        and file.sha256
        and not file.yanked
        and version_in(str(version), specifier)
        and not (before and (file.uploaded is None or file.uploaded.date() >= before))
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _version(file: IndexFile) -> Version | None:
    try:
        return Version(file.version) if file.version else None
    except InvalidVersion:
        return None


def _versions(files: list[IndexFile]) -> list[str]:
    versions = {version for file in files if (version := _version(file)) is not None}
    return [str(version) for version in sorted(versions, reverse=True)[:8]]


def _read(index: PackageIndex, file: IndexFile, expected: str) -> bytes:
    sink, digest = io.BytesIO(), hashlib.sha256()
    for chunk in index.stream(file):
        digest.update(chunk)
        sink.write(chunk)
        if sink.tell() > MAX_SIZE:
            raise RocmlockError(SOURCE_INVALID, f"{file.file} is larger than {MAX_SIZE >> 20} MiB.")
    if digest.hexdigest() != expected:
        raise RocmlockError(
            HASH_MISMATCH,
            f"{file.file} is not the file that is expected.",
            context=[f"expected sha256:{expected}", f"received sha256:{digest.hexdigest()}"],
        )
    return sink.getvalue()


def parse_requirements(data: bytes, file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Build and run requirement lines of a source distribution's bytes (pyproject.toml, PKG-INFO). Pure."""
    members = dict(_members(data, file))
    pyproject = members.get("pyproject.toml", b"")
    build = parse_build_requires(pyproject.decode("utf-8", "replace"), f"{file}: pyproject.toml")
    metadata, _ = parse_email(members.get("PKG-INFO", b""))
    run = tuple(line for line in metadata.get("requires_dist", []) if "extra" not in line.partition(";")[2])
    return build, run


def parse_build_requires(text: str, file: str) -> tuple[str, ...]:
    """The requirement lines of ``[build-system]`` (PEP 518), setuptools' where there is none."""
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RocmlockError(SOURCE_INVALID, f"{file} is not TOML: {error}.") from None
    if "requires" not in parse_table(document, "build-system", file):
        return _LEGACY_BUILD
    return parse_lines(document, "build-system", "requires", file)


def parse_table(document: dict[str, Any], name: str, file: str) -> dict[str, Any]:
    """The table ``name`` of a pyproject.toml, empty where there is none. Raises SOURCE_INVALID."""
    table = document.get(name, {})
    if not isinstance(table, dict):
        raise RocmlockError(SOURCE_INVALID, f"{file}: {name} is not a table.")
    return cast("dict[str, Any]", table)


def parse_lines(document: dict[str, Any], table: str, key: str, file: str) -> tuple[str, ...]:
    """The requirement lines at ``key`` of ``table``, none where it is left out. Raises SOURCE_INVALID."""
    lines: list[Any] | Any = parse_table(document, table, file).get(key, [])
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in cast("list[Any]", lines)):
        raise RocmlockError(SOURCE_INVALID, f"{file}: {table}.{key} is not a list of requirements.")
    return tuple(cast("list[str]", lines))


def _members(data: bytes, file: str) -> Iterator[tuple[str, bytes]]:
    """The two files of the top folder that tell what a project needs."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                _, _, name = member.name.removeprefix("./").partition("/")
                if name in {"pyproject.toml", "PKG-INFO"} and member.isfile() and member.size <= _MAX_MEMBER:
                    content = archive.extractfile(member)
                    yield name, content.read() if content else b""
    except (tarfile.TarError, EOFError, OSError) as error:
        raise RocmlockError(SOURCE_INVALID, f"{file} is not a whole archive: {error}.") from None
