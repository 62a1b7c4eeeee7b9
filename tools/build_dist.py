"""Build the source distribution and, from it, the wheel: ``python tools/build_dist.py FOLDER``.

The build runs on a copy of the files that git knows or would add, so that nothing left in the checkout by
an earlier build gets in and nothing is left there by this one. It uses the setuptools of the running Python.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


def read_names(checkout: Path) -> list[str]:
    """The files of the checkout that are there and not ignored, relative to it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
        cwd=checkout,
    ).stdout
    return sorted({name for name in listed.split("\0") if name and (checkout / name).is_file()})


def build(checkout: Path, out: Path) -> None:
    """Write one ``.tar.gz`` and one ``.whl`` to ``out``; the builder's talk goes to stderr when it fails."""
    with tempfile.TemporaryDirectory(prefix="rocmlock-dist-") as scratch:
        for name in read_names(checkout):
            copy = Path(scratch, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout / name, copy)
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), scratch]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


if __name__ == "__main__":
    build(_ROOT, Path(sys.argv[1]).resolve())
