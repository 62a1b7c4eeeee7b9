"""Python layers of all targets: equal requests are asked once; what cannot be had is told together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ..errors import OFFLINE_MISSING, RocmlockError
from ..lockfile.model import Wheel
from .kept import Kept
from .layers import relabel, without_target
from .own_sources import Surroundings
from .python_layer import LayerContext, LayerRequest, fetch_layer

_WORKERS = 4


def fetch_missing(
    requests: Sequence[Mapping[str, LayerRequest]],
    layers: Sequence[dict[str, tuple[Wheel, ...]]],
    around: Surroundings,
    kept: Kept,
) -> tuple[str, ...]:
    """Fill in the layers that are missing (both by target); returns their names.

    Targets that ask for the same have one answer, so that they share its wheels. Raises as fetch_layer does;
    OFFLINE_MISSING names all layers that lack something.
    """
    missing = {
        without_target(request): (name, request)
        for wanted, have in zip(requests, layers, strict=True)
        for name, request in wanted.items()
        if name not in have
    }
    if not missing:
        return ()
    around.tell(f"Locking the wheels of {len(missing)} Python layers with uv")
    with ThreadPoolExecutor(_WORKERS) as pool:
        fetched = list(pool.map(partial(_fetch, around=around, kept=kept), missing.values()))
    failed = [answer for answer in fetched if isinstance(answer, RocmlockError)]
    if failed:
        raise _together(failed)
    answers = {
        key: answer
        for key, answer in zip(missing, fetched, strict=True)
        if not isinstance(answer, RocmlockError)
    }
    for wanted, have in zip(requests, layers, strict=True):
        for name, request in wanted.items():
            if name not in have:
                have[name] = relabel(answers[without_target(request)], request.target)
    return tuple(dict.fromkeys(request.name for _, request in missing.values()))


def _fetch(
    layer: tuple[str, LayerRequest], around: Surroundings, kept: Kept
) -> tuple[Wheel, ...] | RocmlockError:
    name, request = layer
    preferred = kept.preferred(name, request.target)
    try:
        return fetch_layer(request, LayerContext(around.environ, preferred, around.offline))
    except RocmlockError as error:
        return error


def _together(failed: Sequence[RocmlockError]) -> RocmlockError:
    """The error to tell of several: what no network would mend first, else all that is out of reach."""
    other = [error for error in failed if error.reason is not OFFLINE_MISSING]
    if other or len(failed) == 1:
        return (other or failed)[0]
    lines = [line for error in failed for line in (error.message, *(f"  {each}" for each in error.context))]
    return RocmlockError(
        OFFLINE_MISSING,
        f"The wheels of {len(failed)} Python layers cannot be locked: the package index cannot be reached.",
        context=lines,
        hint=failed[0].hint,
    )
