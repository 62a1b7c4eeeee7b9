"""``python -m tests.support.github --port 8600 --world FILE.json``: a GitHub by hand, until interrupted."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
from datetime import date
from pathlib import Path

from .server import describe, serve
from .world import Commit, Release, Repository, Tag, World, fake_commit, read_world


def sample() -> World:
    """A small world to look at."""
    commit = fake_commit("example", "v1.0.0")
    row = Repository(
        tags=(Tag("v1.0.0", commit, fake_commit("tag", "v1.0.0")),),
        releases=(Release("v1.0.0", date(2026, 1, 2)),),
        branches={"main": commit},
        commits={commit: Commit(date(2026, 1, 1), {"version.txt": "1.0.0\n"})},
    )
    return World({"example/project": row}, {"example/old-name": "example/project"})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.github", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="of the API; raw files and git take the next two")
    parser.add_argument("--world", type=Path, help="a JSON file with repositories and renames")
    parser.add_argument("--token", action="append", default=[], help="a token that is taken for good")
    options = parser.parse_args()
    first: int = options.port
    ports = (first, first + 1, first + 2) if first else (0, 0, 0)
    with serve(read_world(options.world) if options.world else sample(), ports) as server:
        server.tokens |= set(options.token)
        sys.stdout.write(f"{describe(server)}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
