"""Choosing by ``release`` and ``newest``: releases of each package, by resolvelib.

What a tested set pairs is not looked at. Hard are a project's own pins of its partners (PyTorch's Triton),
the lines of its requirement files, the versions that a recipe pairs, and every rule of ``rules``. resolvelib
reads candidates as it comes to them; where it does not end soon, all are read and a SAT solver decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from packaging.version import Version
from resolvelib import BaseReporter, ResolutionImpossible, Resolver
from resolvelib.resolvers import ResolutionTooDeep

from ..lockfile.demands import Demands
from .catalog import Catalog, Fact, Pin, Release, TestedSet
from .choose import PassedOver, Resolution
from .provider import Candidate, Provider, Read
from .recipe import Recipe

# Real stacks are decided within some dozen rounds; without learning, a conflict can take any number of them.
_ROUNDS = 300


def make_provider(
    top: str,
    demands: Demands,
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    kept: Mapping[str, str] | None = None,
) -> Provider:
    """``kept`` are commits by package that come before newer ones: those of the lock that is there."""
    provider = Provider(top, demands, catalog, recipes, Read())
    provider.kept = kept or {}
    return provider


def search(provider: Provider) -> Resolution | tuple[PassedOver, ...]:
    """The newest releases that fit together, or what rules each candidate out."""
    try:
        found = Resolver(provider, BaseReporter()).resolve(provider.roots(), max_rounds=_ROUNDS)
    except ResolutionImpossible:
        return tuple(provider.read.passed.values())
    except ResolutionTooDeep:
        from .proof import Proof

        proof = Proof(provider)
        chosen = proof.solve(proof.lines)
        return make_resolution(chosen, provider) if chosen else tuple(provider.read.passed.values())
    return make_resolution(dict(found.mapping), provider)


def _is_newer(release: Release, chosen: Candidate | None) -> bool:
    """Whether a release was passed over on the way to what was chosen."""
    if chosen is None or chosen.release is None:
        return False
    return Version(release.version) > Version(chosen.version)


def make_resolution(chosen: Mapping[str, Candidate], provider: Provider) -> Resolution:
    """The answer in the shape of a tested set, which assembling takes."""
    top = provider.top
    best = chosen[top]
    release = best.release
    assert release is not None  # noqa: S101 -- nobody pins the package on top
    own = best.own or TestedSet(top, release, "", None, None, (), None, ())
    members = tuple(_member(each, provider) for name, each in sorted(chosen.items()) if name != top)
    rocm, strategy = provider.rocm(chosen), provider.demands.strategy
    tested = replace(own, variant=strategy, rocm=rocm, pins=members, statements=())
    passed = provider.read.passed.values()
    newer = tuple(item for item in passed if _is_newer(item.release, chosen.get(item.top)))
    return Resolution(tested, members, (), newer)


def _member(candidate: Candidate, provider: Provider) -> Pin:
    if candidate.pin:
        return candidate.pin
    release = candidate.release
    assert release is not None  # noqa: S101 -- a candidate is one or the other
    strategy = provider.demands.strategy
    word = "newest release" if strategy == "release" else "newest version"
    return Pin(
        candidate.package,
        release.repository,
        release.tag,
        release.origin,
        commit=release.commit,
        commit_origin=release.origin,
        tag=release.tag,
        tag_object=release.tag_object,
        version=Fact(release.version, release.origin),
        says=f"{release.tag} is the {word} that fits the others",
    )
