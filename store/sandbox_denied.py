"""Why a system does not let us make a sandbox, and the way out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ..errors import SANDBOX_DENIED, RocmlockError

# Kernel switches that forbid namespaces: the value that does, and one that allows them.
_FOR_USERS = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
}
_FOR_ALL = {
    f"user.max_{kind}_namespaces": ("0", "15000")
    for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
}

_DOCKER = (
    "Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined (Docker), or realize outside of it."
)
_SEE = "Read what bubblewrap says."
# What bubblewrap says where no switch does: the cause, and the way out beside that for containers.
_SAID = (
    (r"loopback", "a network namespace of its own cannot be set up (its loopback is refused)", ""),
    (r"overflow[ug]id|mount proc", "/proc of its own cannot be mounted (a container masks its /proc)", ""),
    (r"Unknown option", "its bubblewrap is older than 0.5", "Install a later bubblewrap."),
    (r"execvp", "the program cannot be started in it", _SEE),
    (r"Can't (?:find source path|bind|create|mkdir)", "its folders cannot be laid out", _SEE),
)


@frozen
class Surroundings:
    """What decides whether namespaces may be made. ``switches`` are those of the kernel that are there."""

    switches: Mapping[str, str]
    container: bool
    root: bool


def read_surroundings(*, root_user: bool, root: Path = Path("/")) -> Surroundings:
    """The switches of this kernel, and whether this is a container."""
    switches: dict[str, str] = {}
    for name in (*_FOR_USERS, *_FOR_ALL):
        try:
            switches[name] = (root / "proc/sys" / name.replace(".", "/")).read_text().strip()
        except OSError:
            continue
    container = any((root / mark).exists() for mark in (".dockerenv", "run/.containerenv"))
    return Surroundings(switches, container, root_user)


def find_cause(here: Surroundings, said: str) -> tuple[str, str]:
    """(why there is no sandbox, what to do), ``said`` being bubblewrap's own words. Pure."""
    # The kernel's switches against unprivileged users do not bind root.
    switches = _FOR_ALL if here.root else _FOR_USERS | _FOR_ALL
    for name, (bad, good) in switches.items():
        if here.switches.get(name) == bad:
            return f"{name} is {bad}", f"sudo sysctl -w {name}={good}"
    way_out = _DOCKER if here.container else "Run bwrap --unshare-all --ro-bind / / true to see it again."
    for pattern, cause, own_way_out in _SAID:
        if re.search(pattern, said):
            return cause, own_way_out or way_out
    if here.container:
        return "this container may not make user namespaces", way_out
    return "user namespaces cannot be made", way_out


def denied(here: Surroundings, said: Sequence[str]) -> RocmlockError:
    """The error for a sandbox that bubblewrap could not make; ``said`` are its last lines."""
    cause, way_out = find_cause(here, "\n".join(said))
    return RocmlockError(
        SANDBOX_DENIED,
        f"This system does not let rocmlock make a sandbox: {cause}.",
        context=said,
        hint=way_out,
    )
