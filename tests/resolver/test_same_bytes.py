"""Over generated manifests: resolving again gives the same bytes, and the order of a manifest's lines is none.

Choosing is real, over the bundled facts. The real uv answers each Python layer from a small index that has
wheels for whatever upstream asks for; equal questions are asked once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from index_server import sdist, serve, wheel
from lock_samples import digest
from packaging.requirements import Requirement
from resolver_samples import recipes, snapshot, snapshot_sets

from rocmlock.errors import UNSATISFIABLE, RocmlockError
from rocmlock.lockfile.codec import parse_lock, render_lock
from rocmlock.lockfile.demands import Demands
from rocmlock.lockfile.model import Lock, Wheel
from rocmlock.lockfile.satisfy import find_unmet
from rocmlock.manifests.loader import parse_manifest
from rocmlock.resolver import fetch_layers
from rocmlock.resolver.demands import make_demands
from rocmlock.resolver.kept import Kept
from rocmlock.resolver.layers import relabel, without_target
from rocmlock.resolver.own_sources import Surroundings
from rocmlock.resolver.python_layer import LayerContext, LayerRequest, fetch_layer
from rocmlock.resolver.recipe_names import package_names
from rocmlock.resolver.resolve import NOTHING_KEPT, Resolved, resolve

TRITON = "https://github.com/triton-lang/triton"
PROJECT = '[build-system]\nrequires = ["setuptools"]\n'


def every_line() -> Iterator[str]:
    for top in snapshot().tops():
        for tested in snapshot_sets(top):
            for line in (*(tested.requires_run or ()), *(tested.requires_build or ())):
                yield line.text
    for recipe in recipes().values():
        yield from (*recipe.python.run, *recipe.python.build)
    yield from ("ray>=2.9", "idna<3.8", "numpy", "setuptools>=40.8", "wheel", "tool")


def index_files() -> dict[str, bytes]:
    """A wheel for each version that a requirement line of the bundled facts names."""
    versions: dict[str, set[str]] = {}
    for line in every_line():
        requirement = Requirement(line)
        named = versions.setdefault(requirement.name, {"1.0", "2.9"})
        named |= {each.version.removesuffix(".*") for each in requirement.specifier}
    # The index that serves them takes names of one word.
    files = dict(
        wheel(re.sub(r"[-_.]+", "_", name), version) for name, named in versions.items() for version in named
    )
    info = "Metadata-Version: 2.2\nName: tool\nVersion: 1.5\n"
    files["tool-1.5.tar.gz"] = sdist("tool", "1.5", {"pyproject.toml": PROJECT, "PKG-INFO": info})
    return files


Table = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Written:
    """A manifest as tables of lines; arrays stand in lines of their own."""

    tables: tuple[Table, ...]

    @property
    def text(self) -> str:
        parts = [f"{head}\n" + "".join(f"{line}\n" for line in lines) for head, lines in self.tables]
        return 'schema = 1\nname = "x"\n' + "".join(parts)

    def demands(self) -> tuple[Demands, ...]:
        return make_demands(parse_manifest(self.text, "m.toml", package_names()))


@st.composite
def manifests(draw: st.DrawFn) -> Written:
    shared = [f'rocm = "{draw(st.sampled_from([">=7.0,<7.3", ">=7.2", ">=6.3"]))}"', 'python = "3.12"']
    archs = st.lists(st.sampled_from(["gfx942", "gfx90a", "gfx950"]), min_size=1, max_size=2, unique=True)
    targets: list[Table] = [
        (f"[target.{name}]", (f"gfx = {draw(archs)}",))
        for name in draw(st.lists(st.sampled_from(["one", "two"]), unique=True, max_size=2))
    ]
    if not targets:
        shared.append(f"gfx = {draw(archs)}")
    vllm = draw(st.sampled_from(["*", ">=0.20", "<0.25", "==0.27.1", "<0.19"]))
    packages = [f'vllm = "{vllm}"']
    if draw(st.integers(0, 4)) == 4:  # without a tested set
        packages = ['tool = { sdist = ">=1" }', f'triton = {{ git = "{TRITON}", rev = "{"a" * 40}" }}']
        return _written(draw, shared, targets, packages)
    packages += draw(st.lists(st.sampled_from(['triton = "*"', 'torchvision = "*"']), unique=True))
    packages += draw(st.sampled_from([[], ['pytorch = ">=2.8"'], ['pytorch = "<2.11"']]))
    packages += draw(st.sampled_from([[], ['tool = { sdist = ">=1" }']]))
    return _written(draw, shared, targets, packages)


def _written(draw: st.DrawFn, shared: list[str], targets: list[Table], packages: list[str]) -> Written:
    requires = draw(st.lists(st.sampled_from(["ray>=2.9", "numpy"]), unique=True))
    strategy = draw(st.sampled_from(["tested", "tested", "release", "newest"]))
    flags = draw(st.sampled_from([(), ('debug = "line"', 'opt-level = "O2"')]))
    return Written(
        (
            ("[target]", tuple(shared)),
            *targets,
            ("[toolchain]", (f'host = {{ gcc = "{draw(st.sampled_from(["11", "13"]))}" }}',)),
            ("[packages]", tuple(packages)),
            ("[python]", (f"requires = {requires}",)),
            ("[flags]", flags),
            ("[resolve]", (f'strategy = "{strategy}"',)),
        )
    )


@st.composite
def shuffled(draw: st.DrawFn, written: Written) -> Written:
    """The same manifest with its tables, lines and arrays in another order."""

    def line(text: str) -> str:
        found = re.fullmatch(r"(gfx|requires) = \[(.*)\]", text)
        if not found or not found[2]:
            return text
        return f"{found[1]} = [{', '.join(draw(st.permutations(found[2].split(', '))))}]"

    return Written(
        tuple(
            (head, tuple(line(each) for each in draw(st.permutations(lines))))
            for head, lines in draw(st.permutations(written.tables))
        )
    )


class World:
    """Resolving beside the index; every question to uv is asked once."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ
        self.answers: dict[tuple[LayerRequest, tuple[Wheel, ...]], tuple[Wheel, ...]] = {}

    def fetch_layer(self, request: LayerRequest, context: LayerContext) -> tuple[Wheel, ...]:
        key = (without_target(request), relabel(context.preferred, ""))
        if key not in self.answers:
            self.answers[key] = fetch_layer(request, context)
        return relabel(self.answers[key], request.target)

    def resolve(self, written: Written, kept: Kept = NOTHING_KEPT) -> Resolved | str:
        """What comes out, or the words of the conflict."""
        around = Surroundings(Path("/"), Path("/"), self.environ, lambda _: str(digest("a")), lambda _: None)
        try:
            return resolve(written.demands(), snapshot(), recipes(), around, kept)
        except RocmlockError as error:
            assert error.reason is UNSATISFIABLE, error
            return "\n".join((error.message, *error.context, error.hint))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with serve(index_files(), kept_for=3600) as url, pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("uv")
        made = World({**os.environ, "UV_DEFAULT_INDEX": url, "UV_CACHE_DIR": str(cache)})
        patch.setattr(fetch_layers, "fetch_layer", made.fetch_layer)
        yield made


FEW = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_back(resolved: Resolved) -> Lock:
    return parse_lock(render_lock(resolved.lock), "x.lock")


@FEW
@given(written=manifests())
def test_resolving_again_gives_the_same_bytes_and_the_lock_satisfies(world: World, written: Written) -> None:
    first = world.resolve(written)
    if isinstance(first, str):
        return
    lock, text = read_back(first), render_lock(first.lock)
    assert find_unmet(lock, written.demands()) == []
    again = world.resolve(written, Kept(lock))
    assert isinstance(again, Resolved)
    assert render_lock(again.lock) == text
    assert again.layers_run == ()
    # Nothing is newer, so an update of everything, or of one package, has nothing to move.
    for moving in (None, frozenset({"vllm"}), frozenset({"numpy", "ray"})):
        updated = world.resolve(written, Kept(lock, moving))
        assert isinstance(updated, Resolved)
        assert render_lock(updated.lock) == text


@FEW
@given(data=st.data(), written=manifests())
def test_the_order_of_lines_and_tables_does_not_count(
    world: World, data: st.DataObject, written: Written
) -> None:
    first, other = world.resolve(written), world.resolve(data.draw(shuffled(written)))
    if isinstance(first, str) or isinstance(other, str):
        assert first == other
        return
    assert render_lock(first.lock) == render_lock(other.lock)


@FEW
@given(before=manifests(), after=manifests())
def test_a_lock_for_another_manifest_leads_to_one_that_stays(
    world: World, before: Written, after: Written
) -> None:
    """What is kept of an old lock is no cause to move the next time."""
    old, fresh = world.resolve(before), world.resolve(after)
    if isinstance(old, str) or isinstance(fresh, str):
        return
    moved = world.resolve(after, Kept(read_back(old)))
    assert isinstance(moved, Resolved)
    lock = read_back(moved)
    assert find_unmet(lock, after.demands()) == []
    again = world.resolve(after, Kept(lock))
    assert isinstance(again, Resolved)
    assert render_lock(again.lock) == render_lock(moved.lock)
