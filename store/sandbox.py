"""The sandbox: what a build may see. Value in, value out; bubblewrap does the work, nothing is built without.

A build sees the host's /usr read-only (without /usr/local), what the caller binds, and a private /tmp, /proc
and /dev. It has no network, no home, no capabilities, a fixed user and host name, and only given variables.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from ..errors import SANDBOX_DENIED, SANDBOX_MISSING, RocmlockError

UID = 1000
HOSTNAME = "localhost"
PASSWD = f"build:x:{UID}:{UID}:build:/build:/bin/sh\n"
GROUP = f"build:x:{UID}:\n"

# Links or folders of the root that belong to /usr, by distribution.
_ROOT_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
# What of /etc a compiler or loader needs.
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d")

# Kernel switches that can forbid user namespaces: the value that does, and one that allows them.
SWITCHES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "user.max_user_namespaces": ("0", "15000"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
}


@frozen
class Bind:
    """``host`` is seen at ``inside``; read-only unless ``writable``."""

    host: Path
    inside: str
    writable: bool = False


@frozen
class SandboxSpec:
    """One command in a sandbox. ``environment`` is all that it gets."""

    command: tuple[str, ...]
    environment: dict[str, str]
    binds: tuple[Bind, ...]
    directory: str = "/"


def plan_bwrap(spec: SandboxSpec, bwrap: str, etc: Path, root: Path = Path("/")) -> list[str]:
    """The bubblewrap command for ``spec``. ``etc`` is a folder with ``passwd``, ``group`` and ``empty``."""
    command = [bwrap, "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME]
    command += ["--ro-bind", "/usr", "/usr", "--tmpfs", "/usr/local"]
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
    command += ["--chdir", spec.directory, "--clearenv"]
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
    """Make one sandbox and leave it. Raises SANDBOX_DENIED with the cause and the way out."""
    spec = SandboxSpec(("/usr/bin/true",), {}, ())
    try:
        done = subprocess.run(
            plan_bwrap(spec, bwrap, etc), capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RocmlockError(SANDBOX_DENIED, f"bubblewrap cannot be started: {error}.") from None
    if done.returncode:
        cause, way_out = find_cause(read_switches())
        raise RocmlockError(
            SANDBOX_DENIED,
            f"This system does not let rocmlock make a sandbox: {cause}.",
            context=done.stderr.strip().splitlines()[:5],
            hint=way_out,
        )


def read_switches(root: Path = Path("/")) -> dict[str, str]:
    """The kernel's switches that forbid user namespaces, and whether this is a container."""
    found: dict[str, str] = {}
    for name in SWITCHES:
        try:
            found[name] = (root / "proc/sys" / name.replace(".", "/")).read_text().strip()
        except OSError:
            continue
    if any((root / path).exists() for path in (".dockerenv", "run/.containerenv")):
        found["container"] = "yes"
    return found


def find_cause(switches: Mapping[str, str]) -> tuple[str, str]:
    """(why there is no sandbox, what to do) from :func:`read_switches`. Pure."""
    for name, (bad, good) in SWITCHES.items():
        if switches.get(name) == bad:
            return f"{name} is {bad}", f"sudo sysctl -w {name}={good}"
    if "container" in switches:
        return (
            "this container may not make user namespaces",
            "Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "(Docker), or realize outside of it.",
        )
    return "user namespaces cannot be made", "Run bwrap --unshare-user true to see what the kernel says."


def execute(command: list[str], log: BinaryIO, on_line: Callable[[str], None] | None = None) -> int:
    """Run a planned sandbox; its output goes to ``log`` and, by line, to ``on_line``. The exit code is data.

    Whatever ends us ends the sandbox: bubblewrap dies with its parent, and its children with it.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    try:
        for line in process.stdout or ():
            log.write(line)
            if on_line is not None:
                on_line(line.decode("utf-8", "replace").rstrip())
        return process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|Network is unreachable"
    r"|Could not resolve host|Failed to establish a new connection|nodename nor servname provided"
    r"|getaddrinfo failed|dns error|Connection refused.*https?://",
    re.IGNORECASE,
)


def find_network_attempt(log: str) -> str | None:
    """The line of a build's log that tells of an attempt to reach the network, if there is one. Pure."""
    lines = [line.strip() for line in log.splitlines() if _NETWORK.search(line)]
    with_url = [line for line in lines if "://" in line or "host" in line.lower()]
    return (with_url or lines or [None])[-1]
