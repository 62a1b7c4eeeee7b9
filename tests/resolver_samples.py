"""Manifests and small worlds for tests of choosing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cache

from rocmlock.lockfile.demands import Demands
from rocmlock.manifests.loader import parse_manifest
from rocmlock.resolver.catalog import Catalog, Fact, KnownCommit, Origin, Pin, Release, RocmRelease, TestedSet
from rocmlock.resolver.choose import Resolution, World, choose, find_top
from rocmlock.resolver.conflict import Conflict, explain_conflict
from rocmlock.resolver.demands import make_demands
from rocmlock.resolver.recipe import read_recipes
from rocmlock.resolver.recipe_names import package_names
from rocmlock.resolver.snapshot import open_bundled

AT = Origin("here")
STACK = 'pytorch = ">=2.8"\ntriton = "*"\nvllm = ">=0.20"'

snapshot = cache(open_bundled)
recipes = cache(read_recipes)


def demands(
    packages: str = STACK,
    *,
    rocm: str = ">=7.0,<7.3",
    gfx: str = '["gfx942"]',
    python: str = "3.12",
    gcc: str = "11",
    more: str = "",
) -> Demands:
    text = (
        f'schema = 1\nname = "x"\n[target]\ngfx = {gfx}\nrocm = "{rocm}"\npython = "{python}"\n'
        f'[toolchain]\nhost = {{ gcc = "{gcc}" }}\n[packages]\n{packages}\n{more}'
    )
    (only,) = make_demands(parse_manifest(text, "m.toml", package_names()))
    return only


def choose_from_snapshot(wanted: Demands, kept: str | None = None) -> Resolution | Conflict:
    catalog = snapshot()
    top = find_top(wanted, catalog)
    assert top is not None
    return decide(World(top, catalog, recipes()), wanted, kept)


def decide(world: World, wanted: Demands, kept: str | None = None) -> Resolution | Conflict:
    """A set, or why there is none."""
    answer = choose(world, wanted, kept)
    return answer if isinstance(answer, Resolution) else explain_conflict(world, wanted, answer)


def snapshot_sets(top: str) -> tuple[TestedSet, ...]:
    return all_sets(snapshot(), top)


def all_sets(catalog: Catalog, top: str) -> tuple[TestedSet, ...]:
    return tuple(tested for each in catalog.candidates(top) for tested in catalog.tested_sets(top, each))


def pin(package: str, version: str | None, commit: str | None = "c" * 40) -> Pin:
    return Pin(
        package, f"org/{package}", "short", AT, commit, AT, version=Fact(version, AT) if version else None
    )


def make_set(
    version: str,
    *,
    rocm: str | None = "7.2",
    gfx: Sequence[str] = ("gfx942",),
    torch: str | None = "2.11.0",
    commit: str | None = "d" * 40,
    day: date | None = date(2026, 1, 1),
    python: Sequence[str] = ("3.12",),
    pins: Sequence[Pin] | None = None,
) -> TestedSet:
    release = Release(
        "vllm-project/vllm", f"v{version}", version, commit, None, day, prerelease=False, origin=AT
    )
    given = (pin("pytorch", torch), pin("triton", "3.6.0"), pin("torchvision", "0.26.0"))
    return TestedSet(
        top="vllm",
        release=release,
        variant="v",
        rocm=Fact(rocm, AT) if rocm else None,
        python=None,
        gfx=tuple(gfx),
        gfx_origin=AT,
        pins=tuple(given if pins is None else pins),
        supported_python=tuple(python),
    )


class SetCatalog:
    """A catalog of given tested sets of vLLM."""

    dated = None

    def __init__(self, sets: Sequence[TestedSet], rocm: Sequence[RocmRelease] = ()) -> None:
        self.sets, self.rocm = tuple(sets), tuple(rocm)
        self.read: list[str] = []
        self.expanded: list[str] = []

    def tops(self) -> tuple[str, ...]:
        return ("vllm",)

    def candidates(self, top: str) -> tuple[Release, ...]:
        return tuple(dict.fromkeys(each.release for each in self.sets))

    def tested_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
        self.read.append(release.version)
        return tuple(each for each in self.sets if each.release == release)

    def expand(self, pin: Pin) -> Pin:
        self.expanded.append(f"{pin.package} of {self.read[-1:]}")
        return pin

    def releases(self, repository: str) -> tuple[Release, ...]:
        return ()

    def commit(self, repository: str, asked: str) -> KnownCommit:
        return KnownCommit(repository, asked, None, None, None, "")

    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        return self.rocm


def world(*sets: TestedSet, rocm: Sequence[RocmRelease] = ()) -> World:
    return World("vllm", SetCatalog(sets, rocm), recipes())
