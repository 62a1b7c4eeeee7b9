"""The host system's fingerprint: what of /usr goes into a build, measured when realizing.

It never goes into a lock. It holds the versions of all packages that the sandbox shows and the content of
what compiling and linking executes. Hashes are remembered by size, times and inode: twice is cheap.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from ..errors import MACHINE_LACKS, RocmlockError

_VERSION = "rocmlock-host-v1"
_STATUS = Path("/var/lib/dpkg/status")
# What every program is linked with or started by, beside the compilers' own files.
_BASE = tuple(
    Path(path)
    for path in (
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
        "/bin/sh",
    )
)


@frozen
class SystemId:
    """``packages`` counts the distribution's packages, ``files`` are those that were hashed."""

    fingerprint: str
    packages: int
    files: tuple[str, ...]
    kind: str = "host"


class HashCache:
    """SHA-256 of files, remembered in one JSON file. A cache that cannot be read is empty."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.changed = False
        try:
            self._known: dict[str, list[str | int]] = json.loads(file.read_text())
        except (OSError, ValueError):
            self._known = {}

    def hash(self, path: Path) -> str:
        found = path.stat()
        stamp: list[str | int] = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
        known = self._known.get(str(path))
        if known and known[1:] == stamp:
            return str(known[0])
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._known[str(path)] = [digest, *stamp]
        self.changed = True
        return digest

    def text(self) -> str:
        return json.dumps(self._known, sort_keys=True)


def measure_host(files: Iterable[Path], cache: HashCache) -> SystemId:
    """The fingerprint of this machine for builds that use ``files``.

    Raises MACHINE_LACKS on a system whose packages cannot be listed.
    """
    paths = sorted({path.resolve() for path in (*_BASE, *files) if path.exists()})
    packages = _packages()
    digest = hashlib.sha256(f"{_VERSION}\n{packages[0]}\n".encode())
    for path in paths:
        digest.update(f"{path} {cache.hash(path)}\n".encode())
    return SystemId(digest.hexdigest(), packages[1], tuple(str(path) for path in paths))


def _packages() -> tuple[str, int]:
    """(digest of all installed packages with versions, their count)."""
    try:
        text = _STATUS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise RocmlockError(
            MACHINE_LACKS,
            "The packages of this system cannot be listed: there is no dpkg database.",
            hint="Realize on Debian or Ubuntu.",
        ) from None
    rows = parse_packages(text)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest(), len(rows)


def parse_packages(status: str) -> list[str]:
    """``name architecture version`` of each installed package of a dpkg database, sorted. Pure."""
    rows: list[str] = []
    for block in status.split("\n\n"):
        fields = dict(
            line.split(": ", 1)
            for line in block.splitlines()
            if line.startswith(("Package: ", "Architecture: ", "Version: ", "Status: "))
        )
        if fields.get("Status", "").endswith(" installed") and "Version" in fields:
            rows.append(f"{fields['Package']} {fields.get('Architecture', '')} {fields['Version']}")
    return sorted(rows)
