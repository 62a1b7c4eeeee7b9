"""The sandbox's command line, the cause of a denial and the signs of a network attempt: values in, values out."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import check_golden

from rocmlock.errors import RocmlockError
from rocmlock.store.sandbox import Bind, SandboxSpec, find_bwrap, find_network_attempt, plan_bwrap, write_etc
from rocmlock.store.sandbox_denied import Surroundings, find_cause, read_surroundings

GOLDEN = Path(__file__).parents[1] / "golden/sandbox/bwrap.txt"


def test_the_whole_command(tmp_path: Path) -> None:
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "lib").symlink_to("usr/lib")
    (tmp_path / "lib64").mkdir()
    (tmp_path / "opt").mkdir()
    spec = SandboxSpec(
        command=("/bin/sh", "-c", "echo a b"),
        environment={"TZ": "UTC", "LC_ALL": "C.UTF-8"},
        binds=(Bind(Path("/scratch/build"), "/build", writable=True), Bind(Path("/scratch/uv"), "/build/uv")),
        directory="/build/src",
    )
    command = plan_bwrap(spec, "/usr/bin/bwrap", Path("/scratch"), tmp_path)
    # An option a line, with what belongs to it.
    lines: list[str] = []
    for word in command:
        if word.startswith("--") or not lines:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    check_golden(GOLDEN, "\n".join(lines).replace(str(tmp_path), "ROOT") + "\n")


def test_the_stand_ins_name_one_user(tmp_path: Path) -> None:
    write_etc(tmp_path)
    assert (tmp_path / "passwd").read_text() == "build:x:1000:1000:build:/build:/bin/sh\n"
    assert (tmp_path / "group").read_text() == "build:x:1000:\n"
    assert (tmp_path / "empty").read_bytes() == b""


def test_bwrap_is_looked_for_on_the_path_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\n")
    with pytest.raises(RocmlockError) as caught:
        find_bwrap(str(tmp_path))
    assert caught.value.reason.reference == "sandbox-missing"
    assert caught.value.hint == "apt-get install bubblewrap"
    (tmp_path / "bwrap").chmod(0o755)
    assert find_bwrap(str(tmp_path)) == str(tmp_path / "bwrap")


def _root(tmp_path: Path, **switches: str) -> Path:
    for name, value in switches.items():
        file = tmp_path / "proc/sys" / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")
    return tmp_path


ALLOWED = {
    "kernel__unprivileged_userns_clone": "1",
    "kernel__apparmor_restrict_unprivileged_userns": "0",
    "user__max_user_namespaces": "63000",
    "user__max_net_namespaces": "63000",
}


@pytest.mark.parametrize(
    ("switch", "value", "way_out"),
    [
        ("kernel__unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "kernel__apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user__max_user_namespaces", "0", "user.max_user_namespaces=15000"),
        ("user__max_net_namespaces", "0", "user.max_net_namespaces=15000"),
    ],
)
def test_a_switch_that_forbids_is_named(tmp_path: Path, switch: str, value: str, way_out: str) -> None:
    here = read_surroundings(root_user=False, root=_root(tmp_path, **(ALLOWED | {switch: value})))
    cause, hint = find_cause(here, "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted")
    assert switch.replace("__", ".") in cause
    assert hint == f"sudo sysctl -w {way_out}"


def test_a_switch_against_users_is_not_what_stops_root(tmp_path: Path) -> None:
    root = _root(tmp_path, **(ALLOWED | {"kernel__unprivileged_userns_clone": "0"}))
    cause, _ = find_cause(read_surroundings(root_user=True, root=root), "")
    assert "userns_clone" not in cause


@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_a_container_is_told(tmp_path: Path, mark: str) -> None:
    here = read_surroundings(root_user=False, root=_root(tmp_path, **ALLOWED))
    assert not here.container
    (tmp_path / mark).parent.mkdir(exist_ok=True)
    (tmp_path / mark).touch()
    here = read_surroundings(root_user=False, root=tmp_path)
    cause, hint = find_cause(here, "bwrap: No permissions to create new namespace")
    assert "container" in cause
    assert "--security-opt seccomp=unconfined" in hint


@pytest.mark.parametrize(
    ("said", "telling"),
    [
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "loopback"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "/proc"),
        ("bwrap: Can't read /proc/sys/kernel/overflowuid: No such file or directory", "/proc"),
        ("bwrap: Unknown option --clearenv", "older"),
        ("bwrap: Can't find source path /nowhere: No such file or directory", "folders"),
        ("bwrap: execvp /nowhere: No such file or directory", "program"),
        ("bwrap: setting up uid map: Permission denied", "user namespaces"),
    ],
)
def test_without_a_switch_it_is_what_bubblewrap_says(said: str, telling: str) -> None:
    cause, way_out = find_cause(Surroundings({}, container=False, root=False), said)
    assert telling in cause
    assert way_out


# What the tools print in a sandbox, and what of it tells.
CURL = "curl: (6) Could not resolve host: example.org"
GIT = "fatal: unable to access 'https://example.org/x/y/': Could not resolve host: example.org"
GIT_PROTOCOL = "fatal: unable to look up example.org (port 9418) (Temporary failure in name resolution)"
SSH = "ssh: Could not resolve hostname example.org: Temporary failure in name resolution"
WGET = "wget: unable to resolve host address 'example.org'"
URLLIB = "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>"
ADDRESS = "curl: (7) Failed to connect to 8.8.8.8 port 80 after 0 ms: Couldn't connect to server"
PIP = (
    "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection "
    "broken by 'NameResolutionError(\"HTTPSConnection(host='example.org', port=443): Failed to resolve "
    "'example.org' ([Errno -3] Temporary failure in name resolution)\")': /simple/x/"
)
PIP_DEBIAN = (
    "OSError: Could not find a suitable TLS CA certificate bundle, invalid path: /etc/ssl/certs/x.crt"
)
CARGO = "  dns error: failed to lookup address information: Temporary failure in name resolution"
GO = "dial tcp: lookup example.org on [::1]:53: read udp: connection refused"
CMAKE = """\
    error: downloading 'https://example.org/x.tgz' failed
          status_code: 6
          status_string: "Couldn't resolve host name"
gmake[2]: *** [download] Error 1"""


@pytest.mark.parametrize(
    "line", [CURL, GIT, GIT_PROTOCOL, SSH, WGET, URLLIB, ADDRESS, PIP, PIP_DEBIAN, CARGO, GO]
)
def test_a_network_attempt_is_told_by_its_line(line: str) -> None:
    found = find_network_attempt(f"running build_ext\n{line}\nerror: subprocess exited with 1\n")
    assert found is not None
    assert found in line
    assert len(found) <= 300


def test_a_line_that_names_a_place_goes_before_one_that_does_not() -> None:
    assert find_network_attempt(f"{GIT}\n{URLLIB}\n") == GIT
    assert find_network_attempt(f"{URLLIB}\n{SSH}\n") == SSH


def test_a_url_near_the_telling_line_comes_with_it() -> None:
    found = find_network_attempt(CMAKE)
    assert found is not None
    assert "https://example.org/x.tgz" in found
    assert "Couldn't resolve host name" in found


def test_a_long_line_is_cut_to_what_tells() -> None:
    found = find_network_attempt("x" * 5000 + " Network is unreachable " + "y" * 5000)
    assert found is not None
    assert "Network is unreachable" in found
    assert len(found) == 300


@pytest.mark.parametrize(
    "log",
    [
        "",
        "gcc: error: unrecognized command-line option '-fnope'",
        "configure: checking for getaddrinfo... yes\nchecking whether resolve works... no",
        "see https://example.org/docs for the host compiler",
        "curl: (7) Failed to connect to 127.0.0.1 port 80 after 0 ms: Couldn't connect to server",
    ],
)
def test_other_failures_are_not_taken_for_the_network(log: str) -> None:
    assert find_network_attempt(log) is None
