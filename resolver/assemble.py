"""Resolution and recipes -> packages of a lock, before their wheels are locked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from ..lockfile import model
from ..lockfile.demands import Demands, PackageDemand
from ..lockfile.model import (
    Check,
    GitSource,
    Package,
    Python,
    Reason,
    Requires,
    Rocm,
    Source,
    Target,
    Toolchain,
)
from ..lockfile.names import commit
from .catalog import Origin, Pick, Pin, PythonRequirement, TestedSet
from .choose import Resolution
from .recipe import Recipe
from .rules import find_needed

# glibc 2.34 is RHEL 9's, the oldest system of the generation that vLLM's images (Ubuntu 22.04) are made for.
PLATFORM = "manylinux_2_34_x86_64"

_DEBUG = {"none": "-g0", "line": "-g1", "full": "-g"}


def make_target(demands: Demands, resolution: Resolution | None, own_rocm: Rocm | None = None) -> Target:
    """The target of a lock; its ROCm is the one that the tested set names, ``own_rocm`` without a set."""
    rocm = resolution.tested.rocm if resolution else None
    return Target(
        name=demands.target,
        gfx=demands.gfx,
        python=Python(
            version=demands.python,
            abi=f"cp{demands.python.replace('.', '')}",
            platform=PLATFORM,
            requires=tuple(sorted(demands.requires)),
        ),
        toolchain=Toolchain(demands.host, demands.device),
        rocm=Rocm(rocm.value, reasons=(_reason(rocm.origin, f"the images are made for ROCm {rocm.value}"),))
        if rocm and demands.rocm
        else own_rocm,
    )


def make_package(
    name: str,
    recipe: Recipe,
    demands: Demands,
    source: Source,
    *,
    distribution: str = "",
    version: str = "",
    picks: tuple[Pick, ...] = (),
    build: Iterable[str] = (),
    run: Iterable[str] = (),
    reasons: tuple[Reason, ...] = (),
    held: frozenset[str] = frozenset(),
) -> Package:
    """One package. ``build``/``run`` are requirement lines beside the recipe's; ``held`` are the canonical
    names of distributions that are never taken from an index and so stand in no requirement line."""
    demand = demands.package(name)
    return Package(
        name=name,
        distribution=distribution or recipe.distribution or name,
        version=version,
        source=source,
        targets=(demands.target,),
        gfx=demands.gfx,
        steps=tuple(tuple(step) for step in recipe.build.steps),
        checks=_checks(recipe, demand),
        environment=_environment(recipe, demands, demand, version),
        picks=tuple(commit(pick.commit) for pick in picks if pick.commit),
        build=Requires(
            packages=tuple(sorted(recipe.needs.build)),
            python=_lines((*recipe.python.build, *build), held),
        ),
        run=Requires(
            packages=tuple(sorted(recipe.needs.run)), python=_lines((*recipe.python.run, *run), held)
        ),
        memory_per_job=recipe.build.memory_per_job,
        reasons=reasons,
    )


def _checks(recipe: Recipe, demand: PackageDemand | None) -> tuple[Check, ...]:
    if demand and demand.gpu:
        paths = recipe.checks[0].paths if recipe.checks else ["**"]
        return (Check(demand.gpu, tuple(paths)),)
    return tuple(Check(rule.match, tuple(rule.paths)) for rule in recipe.checks)


def _environment(
    recipe: Recipe, demands: Demands, demand: PackageDemand | None, version: str
) -> dict[str, str]:
    words = {
        "{gfx}": ";".join(demands.gfx),
        "{opt}": f"-{demands.flags.opt_level}",
        "{debug}": _DEBUG[demands.flags.debug],
        "{version}": version,
    }
    environment = dict(recipe.build.environment)
    for word, value in words.items():
        environment = {name: text.replace(word, value) for name, text in environment.items()}
    environment.update(demand.environment if demand else {})
    return {name: value for name, value in sorted(environment.items()) if value}


def _lines(lines: Iterable[str], held: frozenset[str]) -> tuple[str, ...]:
    kept: set[str] = set()
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue  # options of a requirement file; the reader keeps none, a project's metadata may
        requirement.url = None  # a URL names no file that can be locked by hash: make_warnings tells
        if canonicalize_name(requirement.name) not in held:
            kept.add(str(requirement))
    return tuple(sorted(kept))


def make_stack(
    resolution: Resolution, demands: Demands, recipes: Mapping[str, Recipe], held: frozenset[str]
) -> list[Package]:
    """The packages that a tested set gives: the top one at its release, the others at their pins."""
    tested = resolution.tested
    pins = {pin.package: pin for pin in resolution.members}
    made: list[Package] = []
    for name in find_needed(demands, tested.top, recipes):
        if name == tested.top:
            made.append(_top(tested, demands, recipes[name], held))
        elif (pin := pins.get(name)) is not None:
            made.append(_member(pin, tested, demands, recipes, held))
    return made


def _top(tested: TestedSet, demands: Demands, recipe: Recipe, held: frozenset[str]) -> Package:
    release = tested.release
    return make_package(
        tested.top,
        recipe,
        demands,
        GitSource(
            f"https://github.com/{release.repository}",
            commit(release.commit or ""),
            release.tag,
            release.tag_object or "",
        ),
        version=release.version,
        build=_texts(tested.requires_build),
        run=_texts(tested.requires_run),
        reasons=(_reason(release.origin, f"tag {release.tag} is commit {release.commit}"),),
        held=held,
    )


def _texts(requirements: tuple[PythonRequirement, ...] | None) -> list[str]:
    return [requirement.text for requirement in requirements or ()]


def _member(
    pin: Pin, tested: TestedSet, demands: Demands, recipes: Mapping[str, Recipe], held: frozenset[str]
) -> Package:
    return make_package(
        pin.package,
        recipes[pin.package],
        demands,
        GitSource(
            f"https://github.com/{pin.repository}",
            commit(pin.commit or ""),
            pin.tag or "",
            pin.tag_object or "",
        ),
        version=pin.version.value if pin.version else "",
        picks=pin.picks,
        reasons=tuple(_pin_reasons(pin, tested, demands, recipes)),
        held=held,
    )


def _pin_reasons(
    pin: Pin, tested: TestedSet, demands: Demands, recipes: Mapping[str, Recipe]
) -> Iterable[Reason]:
    tests = f"{tested.top} {tested.release.version} tests {pin.repository} at {pin.asked}"
    yield _reason(pin.origin, pin.says or tests)
    if pin.commit_origin and pin.commit != pin.asked:
        yield _reason(pin.commit_origin, f"{pin.asked} is commit {pin.commit}")
    if pin.version:
        yield _reason(pin.version.origin, f"that commit is version {pin.version.value}")
    for pick in pin.picks:
        yield _reason(pick.origin, f"{pick.asked} is cherry-picked on top")
        if pick.commit_origin and pick.commit != pick.asked:
            yield _reason(pick.commit_origin, f"{pick.asked} is commit {pick.commit}")
    if demands.package(pin.package) is None:
        for name, recipe in sorted(recipes.items()):
            if demands.package(name) and pin.package in (*recipe.needs.build, *recipe.needs.run):
                yield Reason(f"recipe {name}", f"{name} needs {pin.package}")


def _reason(origin: Origin, says: str) -> Reason:
    return Reason(str(origin), says, origin.evidence)


def make_warnings(resolution: Resolution) -> tuple[model.Warning, ...]:
    """The contradictions of the set, and requirements by URL that the lock takes from the index instead."""
    tested = resolution.tested
    by_url = (
        model.Warning(
            f"{tested.top} {tested.release.version} asks for {Requirement(line.text).name} by URL; "
            "the lock takes it from the package index",
            (str(line.origin),),
        )
        for line in (*(tested.requires_run or ()), *(tested.requires_build or ()))
        if " @ " in line.text
    )
    return (*(model.Warning(found.says, found.at) for found in resolution.contradictions), *by_url)
