"""Fail when a tracked file names a host of a package registry or a path of this machine.

Neither means anything on another machine. The names are asked of the clients that are installed here, so
that this file holds none itself. What a client does not answer is not looked for.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_HOST = re.compile(r"https?://(?:[^/\s@]*@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)|^([a-z0-9.-]+\.[a-z]{2,})$", re.M)
_LOOPBACK = re.compile(r"127\.|localhost$")
_PIP_DEFAULTS = (
    "from pip._internal.models.index import PyPI; print(PyPI.netloc); print(PyPI.file_storage_domain)"
)
# Folders that many machines have, and the sandbox's own: a checkout right in one does not make it private.
_COMMON = {Path(name) for name in ("/", "/tmp", "/var", "/opt", "/srv", "/mnt", "/home", "/usr", "/build")}  # noqa: S108


def _ask(*command: str) -> str:
    """What a client prints, or nothing where it is missing or fails."""
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=_ROOT).stdout


def read_configured() -> Iterable[str]:
    """The texts in which the clients of this machine name their registries."""
    yield _ask(sys.executable, "-c", _PIP_DEFAULTS)
    yield _ask(sys.executable, "-m", "pip", "config", "list")
    yield _ask("npm", "config", "get", "registry")
    apt = Path("/etc/apt")
    for source in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if source.is_file():
            yield source.read_text(errors="replace")


def parse_hosts(text: str) -> set[str]:
    """The host names in a text: of its URLs, and lines that are nothing but a host name."""
    hosts = {url or bare for url, bare in _HOST.findall(text)}
    return {host for host in hosts if not _LOOPBACK.match(host)}


def plan_paths(checkout: Path, home: Path) -> set[str]:
    """The beginnings of paths that only this machine has."""
    return {f"{folder}/" for folder in (checkout, checkout.parent, home) if folder not in _COMMON}


def read_hits(words: Iterable[str]) -> list[str]:
    """``file:line:text`` of each place in a tracked text file that holds one of the words."""
    patterns = [part for word in sorted(words) for part in ("-e", word)]
    if not patterns:
        return []
    found = subprocess.run(
        ["git", "grep", "-nIF", *patterns, "--", "."], check=False, capture_output=True, text=True, cwd=_ROOT
    )
    if found.returncode > 1:
        raise SystemExit(found.stderr)
    return [line[:160] for line in found.stdout.splitlines()]


def main() -> int:
    hosts = {host for text in read_configured() for host in parse_hosts(text)}
    hits = {
        'hosts of package registries (write "PyPI", "Debian packages")': read_hits(hosts),
        "paths of this machine": read_hits(plan_paths(_ROOT, Path.home())),
    }
    for what, lines in hits.items():
        if lines:
            print(f"Tracked files may not name {what}:", *lines, sep="\n  ", file=sys.stderr)
    if not any(hits.values()):
        print(f"Names: {len(hosts)} registry hosts looked for, none stands in a tracked file.")
    return int(any(hits.values()))


if __name__ == "__main__":
    sys.exit(main())
