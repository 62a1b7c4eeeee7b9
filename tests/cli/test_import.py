"""``rocmlock import`` as its users run it."""

from __future__ import annotations

from typing import Any

from harness import Cli
from index_server import serve, wheel

COMMIT = "0f380657dbf3ee86eb57558ff71df24f03b5d4e7"
MACHINE = ("--gfx", "gfx942", "--rocm", ">=7.0", "--python", "3.12", "--gcc", "11")
WHEELS = (
    ("cmake", "3.31"),
    ("ninja", "1.11.1"),
    ("pybind11", "2.13.1"),
    ("setuptools", "79"),
    ("wheel", "0.45"),
)
FILES = dict(
    [
        *(wheel(*each) for each in WHEELS),
        wheel("build", "1.2"),
        wheel("idna", "3.7"),
        wheel("nanobind", "2.0"),
    ]
)


def test_a_requirements_file_becomes_a_manifest_and_its_lock(cli: Cli) -> None:
    (cli.cwd / "r.txt").write_text(f"git+https://github.com/ROCm/triton@{COMMIT[:8]}\n-r more.txt\n./local\n")
    (cli.cwd / "more.txt").write_text("idna<3.8\n-r r.txt\n")
    with serve(FILES) as url:
        done = cli("import", "r.txt", *MACHINE, "--json", env={"UV_DEFAULT_INDEX": url, "UV_NO_CACHE": "1"})
    assert done.code == 0, done.stdout + done.stderr
    told: Any = done.json()
    assert told["packages"] == {"triton": COMMIT}
    assert [note["at"] for note in told["notes"]] == ["r.txt:3"]
    assert COMMIT in (cli.cwd / "rocmlock.lock").read_text()
    assert cli("check").code == 0
    again = cli("import", "r.txt", *MACHINE)
    assert (again.code, again.stderr.split()[0]) == (1, "error[file-unwritable]")


def test_what_is_not_said_is_asked_for_and_nothing_is_written(cli: Cli) -> None:
    (cli.cwd / "r.txt").write_text("vllm\n")
    assert "--python 3.12" in cli("import", "r.txt").stderr
    told = cli("import", "r.txt", "--python", "3.12")
    assert told.code == 2
    assert "give --gfx gfx942 --rocm '>=7.0,<7.3' --gcc 11" in told.stderr
    wrong = cli("import", "r.txt", *MACHINE[:-1], "eleven")
    assert (wrong.code, wrong.stderr.split()[0]) == (2, "error[manifest-invalid]")
    assert "gfx" in cli("import", "r.txt", "--gfx", "gfx000").stderr
    (cli.cwd / "none.txt").write_text("idna\n")
    none = cli("import", "none.txt", *MACHINE)
    assert (none.code, none.stderr.split()[0]) == (2, "error[source-invalid]")
    assert cli("import", "missing", *MACHINE).stderr.startswith("error[file-unreadable]")
    forbidden = cli("import", "r.txt", *MACHINE, env={"ROCMLOCK_LOCKED": "1"})
    assert (forbidden.code, "--no-lock" in forbidden.stderr) == (2, True)
    assert not list(cli.cwd.glob("rocmlock.*"))
    assert cli("import", "r.txt", *MACHINE, "--no-lock").code == 0
    assert [path.name for path in cli.cwd.glob("rocmlock.*")] == ["rocmlock.toml"]
