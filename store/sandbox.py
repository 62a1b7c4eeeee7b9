"""The sandbox: what a build may see. Value in, value out; bubblewrap does the work, nothing is built without.

A build sees the host's /usr read-only (without /usr/local), what the caller binds, and a private /tmp, /proc
and /dev. It has no network, no home, no capabilities, a fixed user and host name, and only given variables.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO

from attrs import frozen

from ..errors import SANDBOX_MISSING, RocmlockError
from .sandbox_denied import denied, read_surroundings

UID = 1000
HOSTNAME = "localhost"
PASSWD = f"build:x:{UID}:{UID}:build:/build:/bin/sh\n"
GROUP = f"build:x:{UID}:\n"

# Links or folders of the root that belong to /usr, by distribution.
_ROOT_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
# What of /etc a compiler or loader needs.
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d")

_LINE = 1 << 16  # bytes after which a line is passed on unfinished: a build may never end its line
_SAID = 5  # lines of bubblewrap's that an error shows


@frozen
class Bind:
    """``host`` is seen at ``inside``; read-only unless ``writable``."""

    host: Path
    inside: str
    writable: bool = False


@frozen
class SandboxSpec:
    """One command in a sandbox. ``environment`` is all that it gets, beside bubblewrap's ``PWD``."""

    command: tuple[str, ...]
    environment: dict[str, str]
    binds: tuple[Bind, ...]
    directory: str = "/"


def plan_bwrap(spec: SandboxSpec, bwrap: str, etc: Path, root: Path = Path("/")) -> list[str]:
    """The bubblewrap command for ``spec``. ``etc`` is a folder with ``passwd``, ``group`` and ``empty``."""
    command = [bwrap, "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME]
    command += ["--ro-bind", "/usr", "/usr", "--tmpfs", "/usr/local", "--remount-ro", "/usr/local"]
    for name in _ROOT_LINKS:
        path = root / name
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), f"/{name}"]
        elif path.is_dir():
            command += ["--ro-bind", str(path), f"/{name}"]
    for name in _ETC:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += [
        "--ro-bind",
        str(etc / "passwd"),
        "/etc/passwd",
        "--ro-bind",
        str(etc / "group"),
        "/etc/group",
    ]
    command += ["--proc", "/proc", "--ro-bind", str(etc / "empty"), "/proc/cmdline", "--dev", "/dev"]
    command += ["--tmpfs", "/tmp"]  # noqa: S108 -- the sandbox's own
    for bind in spec.binds:
        command += ["--bind" if bind.writable else "--ro-bind", str(bind.host), bind.inside]
    # Last, when all places to bind to are made: what is not bound writable, nor /tmp or /dev, refuses.
    command += ["--remount-ro", "/", "--chdir", spec.directory, "--clearenv"]
    for name, value in sorted(spec.environment.items()):
        command += ["--setenv", name, value]
    return [*command, "--", *spec.command]


def find_bwrap(path: str) -> str:
    """bubblewrap's program on ``path``. Raises SANDBOX_MISSING."""
    found = shutil.which("bwrap", path=path)
    if found is None:
        raise RocmlockError(SANDBOX_MISSING, "bubblewrap is not installed.")
    return found


def write_etc(folder: Path) -> None:
    """The files that stand in for the host's in ``/etc`` and ``/proc``."""
    (folder / "passwd").write_text(PASSWD)
    (folder / "group").write_text(GROUP)
    (folder / "empty").write_text("")


def probe(bwrap: str, etc: Path) -> None:
    """Make one sandbox as builds have it. Raises SANDBOX_DENIED with the cause and the way out."""
    log = BytesIO()
    if execute(plan_bwrap(SandboxSpec(("/usr/bin/true",), {}, ()), bwrap, etc), log):
        raise _denied(log.getvalue().splitlines())


def _denied(said: Sequence[bytes]) -> RocmlockError:
    lines = [line.decode("utf-8", "replace").rstrip() for line in said]
    return denied(read_surroundings(root_user=os.geteuid() == 0), lines[-_SAID:])


def execute(command: list[str], log: BinaryIO, on_line: Callable[[str], None] | None = None) -> int:
    """Run a planned sandbox; its output goes to ``log`` and, by line, to ``on_line``.

    The command's exit code is data: 128 and the signal where one ended it, as a shell has it; minus the
    signal where bubblewrap itself was ended. Nothing of the sandbox runs any more when this returns or
    raises, also on Ctrl-C; and where we are killed, bubblewrap dies with its parent, its children with it.
    Raises SANDBOX_DENIED where the command could not be started.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as status:
        try:
            process = subprocess.Popen(
                [command[0], "--json-status-fd", str(writing), *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/bin:/bin"},
                pass_fds=(writing,),
                start_new_session=True,
                umask=0o022,
            )
        except OSError as error:
            raise _denied([str(error).encode()]) from None
        finally:
            os.close(writing)
        return _follow(process, status, log, on_line)


def _follow(
    process: subprocess.Popen[bytes], status: IO[bytes], log: BinaryIO, on_line: Callable[[str], None] | None
) -> int:
    """Pass a sandbox's output on until it ends, and see to it that it ends."""
    init: int | None = None
    last: deque[bytes] = deque(maxlen=_SAID)
    try:
        init = _open_init(status.readline())
        assert process.stdout is not None  # noqa: S101 -- asked for above
        while line := process.stdout.readline(_LINE):
            log.write(line)
            last.append(line)
            if on_line is not None:
                on_line(line.decode("utf-8", "replace").rstrip())
        code = process.wait()
    finally:
        process.kill()
        process.wait()
        _end_init(init)
        if process.stdout is not None:
            process.stdout.close()
    # bubblewrap reports an exit code only where the command was started.
    if code > 0 and b'"exit-code"' not in status.read():
        raise _denied(last)
    return code


def _open_init(status: bytes) -> int | None:
    """A handle on the sandbox's first process, which its others end with; None where there is none (left)."""
    with suppress(ValueError, KeyError, OSError):
        return os.pidfd_open(json.loads(status)["child-pid"])
    return None


def _end_init(init: int | None) -> None:
    """End a sandbox's first process and wait: the kernel lets it go when all others in its namespace are."""
    if init is None:
        return
    try:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(init, signal.SIGKILL)
        select.select([init], [], [])
    finally:
        os.close(init)


# What pip, uv, requests, urllib, git, ssh, curl, wget, CMake, Cargo and Go say without a network.
_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|Network is unreachable"
    r"|(?:Could not|Couldn't) resolve (?:host|proxy)|unable to resolve host|Failed to resolve '"
    r"|Failed to establish a new connection|failed to lookup address|getaddrinfo failed|dns error"
    r"|dial tcp: lookup |No route to host|Failed to connect to (?!127\.|::1)[\d.:a-f]+ port"
    r"|not find a suitable TLS CA certificate bundle",  # of pip, before it asks for a name
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"://|host=|look ?up [\w-]+\.|Failed to resolve '"
    r"|resolve (?:hostname|host address|host|proxy):? \W?[\w-]+\.",
    re.IGNORECASE,
)
_NEAR = 4  # lines before the telling one that may hold the URL: CMake writes a block
_SHOWN = 300  # characters of a line that are enough to tell


def find_network_attempt(log: str) -> str | None:
    """The line of a build's log that tells of an attempt to reach the network, if there is one. Pure.

    The last that names a place goes before others. Where none does and a URL stands shortly before, both.
    """
    lines = [line.strip() for line in log.splitlines()]
    told = [number for number, line in enumerate(lines) if _NETWORK.search(line)]
    if not told:
        return None
    placed = [number for number in told if _PLACE.search(lines[number])]
    if placed:
        return _clip(lines[placed[-1]])
    number = told[-1]
    near = [line for line in lines[max(0, number - _NEAR) : number] if "://" in line]
    return _clip(f"{near[-1]} {lines[number]}" if near else lines[number])


def _clip(line: str) -> str:
    told = _NETWORK.search(line)
    start = max(0, told.start() - _SHOWN // 2) if told and len(line) > _SHOWN else 0
    return line[start : start + _SHOWN]
