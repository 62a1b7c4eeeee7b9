"""The host system's fingerprint: what of /usr goes into a build, measured when realizing.

It never goes into a lock. It holds the distribution, the versions of all its packages and the content of what
compiling and linking executes. Hashes are remembered by size, times and inode: twice is cheap.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from attrs import frozen

from ..errors import FILE_UNREADABLE, MACHINE_LACKS, RocmlockError

_VERSION = "rocmlock-host-v1"
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
    """SHA-256 of files, remembered in one JSON file: path -> [hash, size, mtime, ctime, inode].

    What cannot be read of it is measured again. The caller keeps :meth:`text` when ``changed``.
    """

    def __init__(self, file: Path) -> None:
        self.changed = False
        try:
            known: object = json.loads(file.read_text())
        except (OSError, ValueError):
            known = None
        entries = cast("dict[str, object]", known) if isinstance(known, dict) else {}
        self._known = {
            path: cast("list[object]", entry) for path, entry in entries.items() if isinstance(entry, list)
        }

    def hash(self, path: Path) -> str:
        """The SHA-256 of ``path``. Raises FILE_UNREADABLE."""
        try:
            found = path.stat()
            stamp: list[object] = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
            known = self._known.get(str(path))
            if known is not None and known[1:] == stamp:
                return str(known[0])
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise RocmlockError(FILE_UNREADABLE, f"{path} cannot be read: {error.strerror}.") from None
        self._known[str(path)] = [digest, *stamp]
        self.changed = True
        return digest

    def text(self) -> str:
        return json.dumps(self._known, sort_keys=True)


def measure_host(files: Iterable[Path], cache: HashCache, root: Path = Path("/")) -> SystemId:
    """The fingerprint of this machine for builds that use ``files``.

    ``root`` is where the distribution's own records are. Raises MACHINE_LACKS on a system whose packages
    cannot be listed, FILE_UNREADABLE.
    """
    packages = read_packages(root)
    paths = sorted({path.resolve() for path in (*_BASE, *files) if path.exists()})
    rows = [f"file {path} {cache.hash(path)}" for path in paths]
    text = render_system(read_release(root), packages, rows)
    fingerprint = hashlib.sha256(text.encode()).hexdigest()
    return SystemId(fingerprint, len(packages), tuple(str(path) for path in paths))


def render_system(release: str, packages: Iterable[str], files: Iterable[str]) -> str:
    """The text that the fingerprint is the hash of: one fact a line. Pure."""
    lines = [_VERSION, f"release {release}", *(f"package {row}" for row in packages), *files]
    return "\n".join(lines) + "\n"


def read_release(root: Path) -> str:
    """The distribution and its version, as ``/etc/os-release`` has them: "debian 12"."""
    try:
        text = (root / "etc/os-release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return " ".join(fields.get(name, "").strip("\"'") for name in ("ID", "VERSION_ID"))


def read_packages(root: Path) -> list[str]:
    """The rows of :func:`parse_packages` for the dpkg database under ``root``. Raises MACHINE_LACKS."""
    try:
        text = (root / "var/lib/dpkg/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    rows = parse_packages(text)
    if not rows:
        raise RocmlockError(
            MACHINE_LACKS,
            "The packages of this system cannot be listed: it has no dpkg database.",
            hint="Realize on Debian or Ubuntu.",
        )
    return rows


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
