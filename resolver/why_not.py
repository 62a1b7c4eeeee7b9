"""What rules a version out: its line is put in place of the manifest's, and chosen anew. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attrs import evolve

from ..errors import UNSATISFIABLE, RocmlockError
from ..lockfile.demands import Demands, PackageDemand, Ranged
from ..lockfile.satisfy import version_in
from .catalog import Catalog
from .decide import decide
from .recipe import Recipe


@dataclass(frozen=True, slots=True)
class Answer:
    """``chosen`` are "package version" of what would be taken, ``by_line`` the manifest's own line where that
    alone rules it out. Where ``chosen`` is empty, ``sentence`` and ``ruled_out`` say why not, and ``instead``
    which changes of the manifest help."""

    target: str
    chosen: tuple[str, ...] = ()
    by_line: str = ""
    sentence: str = ""
    ruled_out: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()


def why_not(
    name: str, specifier: str, demands: Demands, catalog: Catalog, recipes: Mapping[str, Recipe]
) -> Answer:
    """The answer for one target."""
    wanted = with_range(demands, name, specifier)
    try:
        resolution = decide(wanted, catalog, recipes)
    except RocmlockError as error:
        if error.reason is not UNSATISFIABLE:
            raise
        instead = (error.hint,) if error.hint != error.reason.remedy else ()
        return Answer(demands.target, sentence=error.message, ruled_out=error.context, instead=instead)
    if resolution is None:
        return Answer(demands.target, sentence=f"{name} is given by the manifest itself, not chosen.")
    top = resolution.tested
    members = (
        f"{pin.package} {pin.version.value if pin.version else pin.asked}" for pin in resolution.members
    )
    versions = {top.top: top.release.version}
    versions |= {pin.package: pin.version.value for pin in resolution.members if pin.version}
    asked = demands.package(name)
    by_line = ""
    if (
        asked
        and isinstance(asked.origin, Ranged)
        and not version_in(versions.get(name, ""), asked.origin.specifier)
    ):
        by_line = asked.line
    return Answer(demands.target, (f"{top.top} {top.release.version}", *members), by_line)


def with_range(demands: Demands, name: str, specifier: str) -> Demands:
    """The demands with another range of a package, which need not have been asked for."""
    line = f'{name} = "{specifier or "*"}"'
    asked = demands.package(name)
    changed = PackageDemand(name, Ranged(specifier), line)
    if asked is not None:
        changed = evolve(asked, origin=Ranged(specifier), line=line)
    others = tuple(package for package in demands.packages if package.name != name)
    return evolve(demands, packages=tuple(sorted((*others, changed), key=lambda each: each.name)))
