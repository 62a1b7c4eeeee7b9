"""A manifest's strategy applied: what is chosen for a target, or the error that explains why nothing is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve

from ..errors import UNSATISFIABLE, RocmlockError
from ..lockfile.demands import Demands, Ranged
from .catalog import Catalog
from .choose import PassedOver, Resolution, World, choose, find_top
from .conflict import explain_conflict, forbid_line, line_of, with_range
from .explain import conflict_error, group_lines
from .proof import Proof
from .provider import Provider
from .recipe import Recipe
from .search import make_provider, make_resolution, search


def decide(demands: Demands, catalog: Catalog, recipes: Mapping[str, Recipe]) -> Resolution | None:
    """What is chosen for one target; None where the manifest gives all sources itself.

    Raises UNSATISFIABLE with the explanation.
    """
    top = find_top(demands, catalog)
    if top is None:
        refuse_unpinned(demands)
        return None
    if demands.strategy != "tested":
        return search_or_explain(top, demands, catalog, recipes)
    world = World(top, catalog, recipes)
    answer = choose(world, demands)
    if not isinstance(answer, Resolution):
        raise conflict_error(explain_conflict(world, demands, answer), demands)
    return answer


def refuse_unpinned(demands: Demands) -> None:
    """Raises UNSATISFIABLE where a range is asked for of a package that no tested set pins on its own."""
    for demand in demands.packages:
        if isinstance(demand.origin, Ranged):
            raise RocmlockError(
                UNSATISFIABLE,
                f"No tested set pins {demand.name} on its own.",
                hint=f'Ask for vllm too, or say where it is: {demand.name} = {{ git = "…", rev = "…" }}',
            )


def search_or_explain(
    top: str,
    demands: Demands,
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    kept: Mapping[str, str] | None = None,
) -> Resolution:
    """What the search finds; ``kept`` as there.

    Raises UNSATISFIABLE with the lines that are impossible together, of which each was left out to see, and
    with what the search finds without one of them.
    """
    provider = make_provider(top, demands, catalog, recipes, kept)
    answer = search(provider)
    if isinstance(answer, Resolution):
        return answer
    proof = Proof(provider)
    lines = proof.impossible()
    words = [line_of(demands, line) for line in lines]
    message = f"No releases fit together by {demands.strategy!r}."
    if words:
        message = f"No releases meet {' and '.join(words)}{' together' if len(words) > 1 else ''}."
    hints = list(_helps(proof, provider, lines))
    hint = "Changes that were tried and help: " + "; ".join(hints) if hints else ""
    passed = tuple(provider.read.passed.values())
    raise RocmlockError(UNSATISFIABLE, message, context=_grouped(passed), hint=hint)


def _grouped(passed: tuple[PassedOver, ...]) -> list[str]:
    """Candidates by package, grouped by the fact that rules them out."""
    found: list[str] = []
    for package in dict.fromkeys(item.top for item in passed):
        found += group_lines(item for item in passed if item.top == package)
    return found


def _helps(proof: Proof, provider: Provider, lines: tuple[str, ...]) -> Iterator[str]:
    """What fits when one line is left out, written as the line that gives it."""
    for line in lines:
        chosen = proof.solve([each for each in proof.lines if each != line])
        if chosen is None:
            continue
        answer = make_resolution(chosen, provider)
        changed = _as_found(provider.demands, line, answer)
        if changed is None:
            continue
        again = search(make_provider(provider.top, changed, provider.catalog, provider.recipes))
        if isinstance(again, Resolution):
            yield f"{line_of(changed, line)} gives {again.tested.top} {again.tested.release.version}"


def _as_found(demands: Demands, line: str, answer: Resolution) -> Demands | None:
    """The demands with ``line`` written as what was found without it."""
    if line.startswith("package:"):
        name = line.removeprefix("package:")
        members = {pin.package: pin.version.value for pin in answer.members if pin.version}
        version = answer.tested.release.version if name == answer.tested.top else members.get(name)
        return with_range(demands, name, f"=={version}") if version else None
    if line == "rocm":
        return evolve(demands, rocm=f"=={answer.tested.rocm.value}") if answer.tested.rocm else None
    if line == "python":
        pythons = answer.tested.supported_python
        return evolve(demands, python=pythons[-1]) if pythons else None
    if line == "released-before" or line.startswith("forbid:"):
        return without(demands, line)
    return None


def without(demands: Demands, line: str) -> Demands:
    """The demands without a date, or without one of the forbidden ranges."""
    if line == "released-before":
        return evolve(demands, released_before=None)
    kept = tuple(each for each in demands.forbidden if forbid_line(each) != line)
    return evolve(demands, forbidden=kept)
