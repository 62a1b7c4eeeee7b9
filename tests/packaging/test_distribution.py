"""The wheel and the source distribution hold the product and nothing else, and the wheel works by itself."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("distribution")  # built once, by one worker

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]
# Rooms whose tests need no more than the installed package and the data files shipped in it.
ROOMS_TESTED = ("lockfile", "manifests", "resolver")
WHERE = """\
import sys
from pathlib import Path

import rocmlock


def test_the_wheel_is_what_is_tested():
    assert Path(rocmlock.__file__).is_relative_to(sys.prefix)
"""


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel, and an empty folder beside it; both outside the checkout."""

    bin: Path
    folder: Path

    def run(self, command: str, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.bin / command, *args], check=False, capture_output=True, text=True, cwd=self.folder
        )


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built wheel and source distribution."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, ROOT / "tools/build_dist.py", out], check=True)
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with the dependencies that it declares itself, at the versions of the development lock."""
    place = tmp_path_factory.mktemp("installed")
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, place / "venv"], check=True)
    lock = ROOT / "requirements-dev.lock"
    install = [*uv, "pip", "install", "--python", place / "venv", "--constraint", lock]
    subprocess.run([*install, wheel], check=True)
    folder = place / "elsewhere"
    folder.mkdir()
    return Installed(place / "venv/bin", folder)


def product_files() -> set[str]:
    """The files in the folders of the packages that pyproject.toml lists, relative to the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout.splitlines()
    folders = {"/".join(name.split(".")[1:]) for name in PROJECT["tool"]["setuptools"]["packages"]}
    in_rooms = {name for name in listed if "/" in name and name.rpartition("/")[0] in folders}
    at_top = {name for name in listed if "/" not in name and name.endswith((".py", ".typed"))}
    return {name for name in in_rooms | at_top if (ROOT / name).exists()} - {
        "manifests/stock/first-light.toml"
    }


def test_every_room_is_listed_as_a_package() -> None:
    rooms = {f"rocmlock.{path.parent.name}" for path in ROOT.glob("*/__init__.py")}
    # the bench is a package too, but runs from a checkout only
    assert rooms - {"rocmlock.bench"} <= set(PROJECT["tool"]["setuptools"]["packages"])


def test_the_wheel_holds_the_product_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"rocmlock", f"rocmlock-{VERSION}.dist-info"}
    held = {name.removeprefix("rocmlock/") for name in names if name.startswith("rocmlock/")}
    assert held == product_files()


def test_the_source_distribution_holds_the_product_and_nothing_else(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()}
    own = {"LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
    assert {name for name in names if not name.startswith("rocmlock.egg-info/")} - own == product_files()
    assert own <= names


@pytest.mark.requires("network")
@pytest.mark.parametrize("command", [["rocmlock"], ["python", "-m", "rocmlock"]], ids=["script", "module"])
def test_the_installed_command_tells_its_version(installed: Installed, command: list[str]) -> None:
    done = installed.run(*command, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert VERSION in done.stdout.split()[-1]


@pytest.mark.requires("network")
def test_the_suite_passes_against_the_wheel(installed: Installed) -> None:
    tests = installed.folder / "tests"
    tests.mkdir()
    helpers = [path.name for path in (ROOT / "tests").glob("*.py") if not path.name.startswith("test_")]
    for name in (*helpers, "golden", *ROOMS_TESTED):
        source = ROOT / "tests" / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tests / name)
    shutil.copytree(
        ROOT / "tests/support", tests / "support", ignore=shutil.ignore_patterns("test_*", "__pycache__")
    )
    (tests / "test_where.py").write_text(WHERE)
    shutil.copy2(ROOT / "pyproject.toml", installed.folder)
    lock = ROOT / "requirements-dev.lock"
    install = [
        "pip",
        "install",
        "--quiet",
        "--python",
        str(installed.bin / "python"),
        "--constraint",
        str(lock),
    ]
    subprocess.run([sys.executable, "-m", "uv", *install, "pytest", "pytest-xdist", "hypothesis"], check=True)
    done = installed.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed, done.stdout
    assert int(passed[1]) > 1, "only the test of the place ran"
