"""Manifest demands -> Lock: wires the catalog, choosing, sources and the Python layer."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from packaging.utils import canonicalize_name

from ..errors import UNSATISFIABLE, RocmlockError
from ..lockfile.demands import Demands, Ranged
from ..lockfile.model import GitSource, Lock, Wheel
from .assemble import make_stack, make_target, make_warnings
from .catalog import Catalog
from .choose import Resolution, World, choose, find_top
from .conflict import explain_conflict
from .explain import conflict_error
from .layers import fill_layers, find_reusable, plan_layers
from .own_sources import OwnSources, Surroundings
from .python_layer import LayerRequest, fetch_layer
from .recipe import Recipe


@dataclass(frozen=True, slots=True)
class Resolved:
    """``layers_run`` names the Python layers that uv had to resolve anew."""

    lock: Lock
    resolution: Resolution | None
    layers_run: tuple[str, ...]


def resolve(
    demands: Demands,
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    around: Surroundings,
    old: Lock | None = None,
) -> Resolved:
    """The lock for ``demands``; what ``old`` pins is kept where it still satisfies.

    Raises UNSATISFIABLE with the explanation, PYTHON_UNSATISFIABLE, OFFLINE_MISSING, SOURCE_INVALID.
    """
    resolution = _choose(demands, catalog, recipes, old)
    held = frozenset(canonicalize_name(recipe.distribution) for recipe in recipes.values())
    packages = make_stack(resolution, demands, recipes, held) if resolution else []
    packages += OwnSources(demands, catalog, recipes, around, old, held).packages()
    target = make_target(demands, resolution)
    draft = Lock(
        name=demands.name,
        targets=(target,),
        packages=tuple(sorted(packages, key=lambda package: package.name)),
        wheels=(),
        flags=demands.flags,
        warnings=make_warnings(resolution) if resolution else (),
    )
    requests = plan_layers(draft, target, demands.released_before)
    layers = find_reusable(old, requests)
    missing = {name: request for name, request in requests.items() if name not in layers}
    layers = {**layers, **_fetch_layers(missing, around)}
    return Resolved(fill_layers(draft, target, layers), resolution, tuple(missing))


def _choose(
    demands: Demands, catalog: Catalog, recipes: Mapping[str, Recipe], old: Lock | None
) -> Resolution | None:
    top = find_top(demands, catalog)
    if top is None:
        _refuse_unpinned(demands)
        return None
    world = World(top, catalog, recipes)
    locked = old.package(top) if old else None
    kept = locked.source.commit if locked and isinstance(locked.source, GitSource) else None
    answer = choose(world, demands, kept)
    if not isinstance(answer, Resolution):
        raise conflict_error(explain_conflict(world, demands, answer), demands)
    return answer


def _refuse_unpinned(demands: Demands) -> None:
    for demand in demands.packages:
        if isinstance(demand.origin, Ranged):
            raise RocmlockError(
                UNSATISFIABLE,
                f"No tested set pins {demand.name} on its own.",
                hint=f'Ask for vllm too, or say where it is: {demand.name} = {{ git = "…", rev = "…" }}',
            )


def _fetch_layers(requests: Mapping[str, LayerRequest], around: Surroundings) -> dict[str, tuple[Wheel, ...]]:
    if not requests:
        return {}
    around.tell(f"Locking the wheels of {len(requests)} Python layers with uv")
    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = pool.map(partial(fetch_layer, environ=around.environ), requests.values())
        return dict(zip(requests, answers, strict=True))
