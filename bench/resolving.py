"""Figures of the resolver that are no ratios: requests to GitHub, choosing in a large world, large locks.

Requests are counted at a server on this machine that holds the facts of the bundled snapshot.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def resolving_figures(rocmlock: Path, env: Mapping[str, str], scratch: Path) -> Iterator[str]:
    """Every figure on a line, with its mark where it has one."""
    sys.path.insert(0, str(ROOT / "tests"))
    yield from _requests(rocmlock, env, scratch)
    yield from _choosing()
    yield from _locks()


def _mark(value: float, most: float, unit: str) -> str:
    return f"{value:8.1f} {unit:3} <= {most:g} {unit}  {'ok' if value <= most else 'OVER'}"


def _requests(rocmlock: Path, env: Mapping[str, str], scratch: Path) -> Iterator[str]:
    from resolver_samples import recipes, snapshot
    from support import github
    from upstream_world import make_world

    folder = scratch / "github"
    folder.mkdir()
    manifest = folder / "rocmlock.toml"
    manifest.write_bytes((ROOT / "manifests/stock/mi300x-vllm.toml").read_bytes())
    with github.serve(make_world(snapshot(), recipes())) as server:
        own = {
            **env,
            **server.environ(),
            "ROCMLOCK_SOURCE": "github",
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        for name in ("cold", "warm", "warm, with a token"):
            if name.endswith("token"):
                server.tokens.add("any")
                own["GH_ENTERPRISE_TOKEN"] = "any"
            before, quota = server.counts(), server.remaining
            subprocess.run([rocmlock, "resolve"], cwd=folder, env=own, check=True, capture_output=True)
            made = {kind: count - before.get(kind, 0) for kind, count in server.counts().items()}
            most = {"cold": 15, "warm, with a token": 0}.get(name)
            spent = quota - server.remaining
            mark = f"<= {most} {'ok' if spent <= most else 'OVER'}" if most is not None else ""
            yield (
                f"requests of the stock manifest, {name}: {spent} that cost quota {mark} "
                f"({made.get('api', 0)} api, {made.get('raw', 0)} raw, {made.get('git', 0)} git)"
            )


def _choosing() -> Iterator[str]:
    """A chain of packages of which the last pair cannot go together: every candidate has to be looked at."""
    from rocmlock.errors import RocmlockError
    from rocmlock.resolver.decide import search_or_explain

    for packages, releases in ((15, 50), (15, 100), (15, 200), (15, 400), (30, 200)):
        world, demands, recipes = _large_world(packages, releases)
        start = time.perf_counter()
        with suppress(RocmlockError):  # the conflict is the figure
            search_or_explain("p0", demands, world, recipes)
        seconds = time.perf_counter() - start
        words = f"explaining a conflict among {packages} packages x {releases} releases"
        mark = _mark(seconds, 2, "s") if (packages, releases) == (15, 200) else f"{seconds:8.1f} s"
        yield f"{words}: {mark}"


def _large_world(packages: int, releases: int) -> tuple[Any, Any, Any]:
    from dataclasses import replace
    from datetime import date

    from resolver_samples import AT, demands, recipes

    from rocmlock.lockfile.demands import PackageDemand, Ranged
    from rocmlock.resolver.catalog import KnownCommit, PythonRequirement, Release, Statement, TestedSet

    names = [f"p{index}" for index in range(packages)]
    triton = recipes()["triton"]
    made = {
        name: triton.model_copy(
            update={
                "name": name,
                "distribution": name,
                "repositories": [f"o/{name}"],
                "known_bad": [],
                "needs": triton.needs.model_copy(update={"run": names[index + 1 : index + 2]}),
                "releases": triton.releases.model_copy(update={"rank": packages - index}),
            }
        )
        for index, name in enumerate(names)
    }

    class World:
        dated = None

        def tops(self) -> tuple[str, ...]:
            return tuple(names)

        def releases(self, repository: str) -> tuple[Release, ...]:
            day = date(2026, 1, 1)
            return tuple(
                Release(repository, f"v{n}.0", f"{n}.0", "a" * 40, None, day, prerelease=False, origin=AT)
                for n in range(releases, 0, -1)
            )

        candidates = releases

        def tested_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
            own = TestedSet(top, release, "own", None, None, (), None, ())
            after = made[top].needs.run
            if not after:
                return (own,)
            number = release.version.split(".")[0]
            line = f">={number}" if after[0] != names[-1] else f">{releases}"
            needs = PythonRequirement(f"{after[0]}{line}", AT)
            return (replace(own, statements=(Statement(after[0], line, AT),), requires_run=(needs,)),)

        def expand(self, pin: Any) -> Any:
            return pin

        def commit(self, repository: str, asked: str) -> KnownCommit:
            return KnownCommit(repository, asked, None, None, None, "")

        def rocm_releases(self) -> tuple[Any, ...]:
            return ()

    from attrs import evolve

    asked = tuple(PackageDemand(name, Ranged(""), f'{name} = "*"') for name in names)
    return World(), evolve(demands('vllm = "*"'), packages=asked, strategy="release", rocm=None), made


def _locks() -> Iterator[str]:
    """A lock of 250 packages and 250 wheels."""
    import lock_samples
    from attrs import evolve

    from rocmlock.lockfile.codec import parse_lock, render_lock
    from rocmlock.lockfile.diff import diff_locks

    sample = lock_samples.full()
    package, wheel = sample.packages[0], sample.wheels[0]
    target = sample.targets[0]
    alone = evolve(package.run, packages=(), wheels=())
    packages = tuple(
        evolve(package, name=f"p{n}", distribution=f"p{n}", build=alone, run=alone, targets=(target.name,))
        for n in range(250)
    )
    wheels = tuple(evolve(wheel, name=f"w{n}") for n in range(250))
    python = evolve(target.python, wheels=tuple(each.id for each in wheels), requires=())
    lock = evolve(sample, packages=packages, wheels=wheels, targets=(evolve(target, python=python),))
    text = render_lock(lock)
    other = evolve(lock, wheels=tuple(evolve(each, version="99") for each in wheels[:50]) + wheels[50:])
    parse_lock(text, "warm.lock")  # what is imported and made once is start-up
    figures = (
        ("read", lambda: parse_lock(text, "large.lock"), 100.0),
        ("write", lambda: render_lock(lock), None),
        ("diff", lambda: diff_locks(lock, other), None),
    )
    for name, act, most in figures:
        times: list[float] = []
        for _ in range(7):
            start = time.perf_counter()
            act()
            times.append((time.perf_counter() - start) * 1000)
        took = median(times)
        shown = _mark(took, most, "ms") if most else f"{took:8.1f} ms"
        yield f"lock of 500 packages and wheels, {len(text) // 1024} KiB, {name}: {shown}"
    tracemalloc.start()
    parse_lock(text, "large.lock")
    yield f"memory to read it: {_mark(tracemalloc.get_traced_memory()[1] / 2**20, 150, 'MB')}"
    tracemalloc.stop()
