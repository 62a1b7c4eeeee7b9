"""Manifest demands -> Lock: wires the catalog, choosing, sources and the Python layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from ..errors import OFFLINE_MISSING, RocmlockError
from ..lockfile.demands import Demands
from ..lockfile.model import Lock, Package, Rocm
from ..lockfile.targets import join_locks
from .assemble import make_stack, make_target, make_warnings
from .catalog import Catalog
from .choose import Resolution, World, find_top
from .conflict import explain_conflict
from .explain import conflict_error
from .fetch_layers import fetch_missing
from .joint import choose_for_all
from .kept import Kept
from .layers import fill_layers, find_reusable, plan_layers
from .moved import MovedTag, require_unmoved
from .own_rocm import choose_rocm
from .own_sources import OwnSources, Surroundings, make_given
from .recipe import Recipe

NOTHING_KEPT = Kept()


@dataclass(frozen=True, slots=True)
class Resolved:
    """``resolutions`` are by target, none where the manifest asks for no tested package; ``layers_run`` names
    the Python layers that uv had to resolve anew."""

    lock: Lock
    resolutions: dict[str, Resolution]
    layers_run: tuple[str, ...]


def resolve(
    demands: Sequence[Demands],
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    around: Surroundings,
    kept: Kept = NOTHING_KEPT,
) -> Resolved:
    """The lock for the ``demands`` of each target; what is ``kept`` stays where it still satisfies.

    Raises UNSATISFIABLE with the explanation, PYTHON_UNSATISFIABLE, OFFLINE_MISSING, SOURCE_INVALID,
    TAG_MOVED or MANIFEST_UNSUPPORTED.
    """
    demands = sorted(demands, key=lambda each: each.target)
    moved = require_unmoved(kept, catalog)
    resolutions = choose_targets(demands, catalog, recipes, kept, moved)
    held = frozenset(canonicalize_name(recipe.distribution) for recipe in recipes.values())
    given = OwnSources(demands[0], catalog, recipes, around, kept).read()
    drafts: list[Lock] = []
    for each in demands:
        resolution = resolutions.get(each.target)
        packages = make_stack(resolution, each, recipes, held) if resolution else []
        packages += [make_given(one, each, held) for one in given]
        own_rocm = None if resolution else choose_rocm(each, catalog, kept)
        drafts.append(_draft(each, resolution, packages, own_rocm))
    requests = [
        plan_layers(draft, draft.targets[0], each.released_before)
        for draft, each in zip(drafts, demands, strict=True)
    ]
    layers = [find_reusable(kept.old, wanted, kept.moves) for wanted in requests]
    ran = fetch_missing(requests, layers, around, kept)
    locks = [
        fill_layers(draft, draft.targets[0], filled) for draft, filled in zip(drafts, layers, strict=True)
    ]
    return Resolved(join_locks(locks), resolutions, ran)


def _draft(
    demands: Demands, resolution: Resolution | None, packages: Sequence[Package], own_rocm: Rocm | None
) -> Lock:
    """The lock of one target before its wheels are locked."""
    return Lock(
        name=demands.name,
        targets=(make_target(demands, resolution, own_rocm),),
        packages=tuple(sorted(packages, key=lambda package: package.name)),
        wheels=(),
        flags=demands.flags,
        warnings=make_warnings(resolution) if resolution else (),
    )


def choose_targets(
    demands: Sequence[Demands],
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    kept: Kept,
    moved: frozenset[MovedTag],
) -> dict[str, Resolution]:
    """The sets by target. Packages are the same for all targets, and so is the top one."""
    top = find_top(demands[0], catalog)
    if top is None:
        from .decide import refuse_unpinned

        refuse_unpinned(demands[0])
        return {}
    if demands[0].strategy != "tested":
        return _search(top, demands, catalog, recipes, kept)
    world = World(top, catalog, recipes)
    stays = {each.target: _kept_commit(kept, world, each.target, moved) for each in demands}
    found: dict[str, Resolution] = {}
    for each, answer in zip(demands, choose_for_all(world, demands, stays), strict=True):
        if not isinstance(answer, Resolution):
            error = conflict_error(explain_conflict(world, each, answer), each)
            raise _of_target(error, each.target) if len(demands) > 1 else error
        found[each.target] = answer
    return found


def _search(
    top: str,
    demands: Sequence[Demands],
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    kept: Kept,
) -> dict[str, Resolution]:
    from .decide import search_or_explain

    found: dict[str, Resolution] = {}
    for each in demands:
        try:
            found[each.target] = search_or_explain(top, each, catalog, recipes, kept.commits(each.target))
        except RocmlockError as error:
            raise _of_target(error, each.target) if len(demands) > 1 else error from None
    return found


def _kept_commit(kept: Kept, world: World, target: str, moved: frozenset[MovedTag]) -> str | None:
    """The commit of the top package that stays.

    Raises OFFLINE_MISSING where the catalog does not know it: the facts at hand are older than the lock, and
    choosing among them would move the pins back.
    """
    source = kept.top_source(world.top, target)
    if source is None:
        return None
    now = next((each.now for each in moved if each.locked == source.commit), source.commit)
    if all(release.commit != now for release in world.catalog.candidates(world.top)):
        raise RocmlockError(
            OFFLINE_MISSING,
            f"{world.top} {source.tag or source.commit} of the lock is not among the facts at hand.",
            context=[f"they are of {world.catalog.dated}"] if world.catalog.dated else [],
            hint="Resolve where GitHub can be reached, or choose among these facts anew: rocmlock update",
        )
    return now


def _of_target(error: RocmlockError, target: str) -> RocmlockError:
    return RocmlockError(
        error.reason,
        f"Target {target}: {error.message}",
        context=error.context,
        problems=error.problems,
        hint=error.hint,
    )
