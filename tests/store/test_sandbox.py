"""What a command in the real sandbox can see and do; each line is tried from inside."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import pytest

from rocmlock.errors import RocmlockError
from rocmlock.store.sandbox import Bind, SandboxSpec, execute, find_bwrap, plan_bwrap, probe, write_etc

pytestmark = pytest.mark.requires("bwrap")

PYTHON = Path("/usr/bin/python3")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@dataclass
class Sandbox:
    """Runs shell text in a sandbox that sees ``binds``."""

    scratch: Path
    binds: list[Bind] = field(default_factory=list[Bind])

    def plan(self, command: tuple[str, ...], environment: Mapping[str, str] = ENVIRONMENT) -> list[str]:
        spec = SandboxSpec(command, dict(environment), tuple(self.binds))
        return plan_bwrap(spec, find_bwrap(os.environ["PATH"]), self.scratch)

    def run(self, text: str, environment: Mapping[str, str] = ENVIRONMENT) -> tuple[int, str]:
        log = BytesIO()
        code = execute(self.plan(("/bin/sh", "-c", text), environment), log)
        return code, log.getvalue().decode()

    def python(self, text: str) -> tuple[int, str]:
        if not PYTHON.exists():
            pytest.skip(f"{PYTHON} is not installed")
        return self.run(f"exec {PYTHON} -I -c {shlex.quote(text)}")


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    write_etc(scratch)
    return Sandbox(scratch)


# No network


@pytest.fixture
def listener() -> Iterator[int]:
    """A port of this host's loopback that answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_hosts_loopback_cannot_be_reached(sandbox: Sandbox, listener: int) -> None:
    attempt = f"import socket; socket.create_connection(('127.0.0.1', {listener}), 10); print('reached')"
    outside = subprocess.run([sys.executable, "-c", attempt], check=True, capture_output=True, text=True)
    assert outside.stdout == "reached\n"
    code, text = sandbox.python(attempt)
    assert code == 1
    assert "ConnectionRefusedError" in text


def test_no_address_and_no_name_can_be_reached(sandbox: Sandbox) -> None:
    code, text = sandbox.python("import socket; socket.create_connection(('192.0.2.1', 80), 10)")
    assert (code, "Network is unreachable" in text) == (1, True)
    code, text = sandbox.python("import socket; socket.getaddrinfo('example.org', 80)")
    assert (code, "gaierror" in text) == (1, True)
    code, text = sandbox.run("tail -n +3 /proc/net/dev | cut -d: -f1")
    assert text.split() == ["lo"]


def test_the_hosts_abstract_sockets_cannot_be_reached(sandbox: Sandbox, tmp_path: Path) -> None:
    name = f"rocmlock-{os.getpid()}-{tmp_path.name}"
    attempt = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}'); print('reached')"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        outside = subprocess.run([sys.executable, "-c", attempt], check=True, capture_output=True, text=True)
        assert outside.stdout == "reached\n"
        code, text = sandbox.python(attempt)
    assert (code, "reached" in text) == (1, False)


# What is seen of the host


def test_only_system_folders_are_there(sandbox: Sandbox) -> None:
    _, text = sandbox.run("ls -A /")
    links = {name for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin") if Path("/", name).exists()}
    assert set(text.split()) == {"usr", "etc", "proc", "dev", "tmp"} | links
    _, text = sandbox.run("ls -A /etc")
    known = {"alternatives", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd"}
    assert {"passwd", "group"} <= set(text.split()) <= known


def test_no_home_and_no_user_of_the_host(sandbox: Sandbox) -> None:
    assert sandbox.run("cat /etc/shadow")[0] == 1
    assert sandbox.run("cat /etc/passwd /etc/group")[1].splitlines() == [
        "build:x:1000:1000:build:/build:/bin/sh",
        "build:x:1000:",
    ]
    assert sandbox.run("test -e /root || test -e /home")[0] == 1
    assert sandbox.run("id -u; id -g; id -un; hostname")[1].split() == ["1000", "1000", "build", "localhost"]


def test_usr_is_read_only_and_usr_local_empty(sandbox: Sandbox) -> None:
    assert sandbox.run("ls -A /usr/local") == (0, "")
    for folder in ("/usr", "/usr/bin", "/usr/local", "/etc", "/"):
        code, text = sandbox.run(f"touch {folder}/mark")
        assert (code, "Read-only file system" in text) == (1, True), folder


def test_the_environment_is_exactly_what_is_given(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCMLOCK_SECRET", "token")
    _, text = sandbox.run("/usr/bin/env", {"A": "b c", "EMPTY": "", "QUOTED": "it's $HOME"})
    assert sorted(text.splitlines()) == ["A=b c", "EMPTY=", "PWD=/", "QUOTED=it's $HOME"]


def test_the_kernel_command_line_is_hidden(sandbox: Sandbox) -> None:
    assert sandbox.run("cat /proc/cmdline") == (0, "")


def test_only_harmless_devices_are_there(sandbox: Sandbox) -> None:
    _, text = sandbox.run("ls -A /dev; ls -A /dev/shm")
    known = {"core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout"}
    assert {"null", "urandom"} <= set(text.split()) <= known | {"tty", "urandom", "zero"}


def test_only_its_own_processes_and_files_are_seen(sandbox: Sandbox, tmp_path: Path) -> None:
    _, text = sandbox.run("ls -d /proc/[0-9]*")
    assert len(text.split()) <= 3  # bubblewrap's first process, the shell, ls
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        _, text = sandbox.run("ls /proc/self/fd")
    assert text.split() == ["0", "1", "2", "3"]  # the last is the folder that ls lists


def test_no_capabilities_and_no_new_ones(sandbox: Sandbox) -> None:
    _, text = sandbox.run("grep -E '^(Cap|NoNewPrivs)' /proc/self/status")
    held = dict(line.split(":\t") for line in text.splitlines())
    assert held.pop("NoNewPrivs") == "1"
    assert set(held) == {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}
    assert {int(value, 16) for value in held.values()} == {0}


# What a build writes


def test_tmp_is_private(sandbox: Sandbox, tmp_path: Path) -> None:
    name = f"rocmlock-{tmp_path.name}-{os.getpid()}"
    outside = Path("/tmp") / name
    assert sandbox.run(f"ls -A /tmp; touch /tmp/{name} && test -e /tmp/{name}") == (0, "")
    assert not outside.exists()


def test_binds_are_writable_only_where_they_say_so(sandbox: Sandbox, tmp_path: Path) -> None:
    for name in ("writable", "fixed"):
        (tmp_path / name).mkdir()
    sandbox.binds += [
        Bind(tmp_path / "writable", "/build", writable=True),
        Bind(tmp_path / "fixed", "/build/fixed"),
    ]
    code, _ = sandbox.run("umask; mkdir /build/folder; echo built > /build/out")
    assert code == 0
    assert (tmp_path / "writable/out").read_text() == "built\n"
    assert (tmp_path / "writable/out").stat().st_uid == os.geteuid()
    code, text = sandbox.run("touch /build/fixed/mark")
    assert (code, "Read-only file system" in text) == (1, True)
    assert not list((tmp_path / "fixed").iterdir())


def test_the_umask_is_the_same_for_everyone(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    sandbox.binds.append(Bind(tmp_path / "out", "/build", writable=True))
    before = os.umask(0o077)
    try:
        assert sandbox.run("umask; touch /build/file") == (0, "0022\n")
        assert (tmp_path / "out/file").stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


# How it ends


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -SEGV $$", 128 + signal.SIGSEGV),
        ("kill -9 $$", 137),
        ("/no", 127),
    ],
)
def test_the_exit_code_is_data(sandbox: Sandbox, text: str, code: int) -> None:
    assert sandbox.run(text)[0] == code


def test_output_and_errors_come_in_order_and_by_line(sandbox: Sandbox) -> None:
    log, lines = BytesIO(), list[str]()
    command = sandbox.plan(("/bin/sh", "-c", r"echo one; echo two >&2; printf '\377three'"))
    assert execute(command, log, lines.append) == 0
    assert log.getvalue() == b"one\ntwo\n\xffthree"
    assert lines == ["one", "two", "\ufffdthree"]


def test_a_line_that_never_ends_is_passed_on_in_parts(sandbox: Sandbox) -> None:
    lines: list[str] = []
    log = BytesIO()
    execute(sandbox.plan(("/bin/sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x")), log, lines.append)
    assert len(log.getvalue()) == 200000
    assert len(lines) > 1
    assert "".join(lines) == "x" * 200000


def _is_held(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@pytest.fixture
def lock(sandbox: Sandbox, tmp_path: Path) -> Path:
    """A file that processes of a sandbox hold locked as long as they live (``flock`` of util-linux)."""
    if not Path("/usr/bin/flock").exists():
        pytest.skip("flock is not installed")
    folder = tmp_path / "locks"
    folder.mkdir()
    (folder / "lock").touch()
    sandbox.binds.append(Bind(folder, "/locks", writable=True))
    return folder / "lock"


HOLD = "setsid flock /locks/lock -c 'echo held; exec sleep 1000' "


def test_nothing_of_a_sandbox_outlives_its_command(sandbox: Sandbox, lock: Path) -> None:
    hold = "setsid flock /locks/lock -c 'touch /locks/held; exec sleep 1000' >/dev/null 2>&1 </dev/null &"
    code, _ = sandbox.run(f"{hold} while ! test -e /locks/held; do sleep 0.01; done; exit 3")
    assert code == 3
    assert not _is_held(lock)


def _raise(error: BaseException) -> Callable[[str], None]:
    def on_line(line: str) -> None:
        raise error

    return on_line


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_when_we_stop_the_sandbox_is_gone(sandbox: Sandbox, lock: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        execute(sandbox.plan(("/bin/sh", "-c", HOLD)), BytesIO(), _raise(error))
    assert not _is_held(lock)


RUNNER = """
import json, sys
from rocmlock.store.sandbox import execute
execute(json.loads(sys.argv[1]), sys.stdout.buffer, lambda line: print(line, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_us_ends_the_sandbox(sandbox: Sandbox, lock: Path, number: int) -> None:
    import json

    command = json.dumps(sandbox.plan(("/bin/sh", "-c", HOLD)))
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER, command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    assert _is_held(lock)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in {-number, 1, 130}
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in errors
        assert not _is_held(lock)
    # Without us to wait for it, its end comes from the kernel: soon, not at once.
    with lock.open() as file:
        waiting = threading.Thread(target=fcntl.flock, args=(file, fcntl.LOCK_EX), daemon=True)
        waiting.start()
        waiting.join(60)
        assert not waiting.is_alive()


# When there is none


def test_the_probe_passes_where_sandboxes_work(sandbox: Sandbox) -> None:
    probe(find_bwrap(os.environ["PATH"]), sandbox.scratch)


PROBE = """
import sys
from pathlib import Path
from rocmlock.errors import RocmlockError
from rocmlock.store.sandbox import probe
try:
    probe(sys.argv[1], Path(sys.argv[2]))
except RocmlockError as error:
    print(error.reason.reference, error.message, error.hint, *error.context, sep="\\n")
"""


@pytest.mark.parametrize("kind", ["user", "net", "pid"])
def test_a_kernel_that_allows_no_namespaces_is_named(sandbox: Sandbox, kind: str) -> None:
    # The limit belongs to the new user namespace: the machine's own is as it was.
    switch = f"/proc/sys/user/max_{kind}_namespaces"
    inner = shlex.join([sys.executable, "-c", PROBE, find_bwrap(os.environ["PATH"]), str(sandbox.scratch)])
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", f"echo 0 > {switch} && {inner}"]
    before = Path(switch).read_text()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no user namespace to try it in: {done.stderr.strip()}")
    assert Path(switch).read_text() == before
    reference, message, hint, *said = done.stdout.splitlines()
    assert reference == "sandbox-denied"
    assert f"user.max_{kind}_namespaces is 0" in message
    assert hint == f"sudo sysctl -w user.max_{kind}_namespaces=15000"
    assert any("bwrap: " in line for line in said)


def test_bubblewraps_failure_is_not_the_commands(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.binds.append(Bind(tmp_path / "nowhere", "/build"))
    with pytest.raises(RocmlockError) as caught:
        sandbox.run("exit 0")
    assert caught.value.reason.reference == "sandbox-denied"
    assert any(str(tmp_path / "nowhere") in line for line in caught.value.context)


def test_a_bubblewrap_that_cannot_be_started(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as caught:
        probe(str(tmp_path / "bwrap"), sandbox.scratch)
    assert caught.value.reason.reference == "sandbox-denied"
    assert any(str(tmp_path / "bwrap") in line for line in caught.value.context)
