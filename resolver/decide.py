"""A manifest's strategy applied: what is chosen for a target, or the error that explains why nothing is."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from ..errors import UNSATISFIABLE, RocmlockError
from ..lockfile.demands import Demands, Ranged
from ..lockfile.model import Compiler
from .catalog import Catalog
from .choose import PassedOver, Resolution, World, choose, find_top
from .conflict import explain_conflict, forbid_line, line_of, with_range
from .explain import conflict_error, group_lines
from .recipe import Recipe
from .search import search


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
    answer = search(top, demands, catalog, recipes, kept)
    if isinstance(answer, Resolution):
        return answer
    lines = _impossible(top, demands, catalog, recipes)
    words = [line_of(demands, line) for line in lines]
    message = f"No releases fit together by {demands.strategy!r}."
    if words:
        message = f"No releases meet {' and '.join(words)}{' together' if len(words) > 1 else ''}."
    hints = list(_helps(top, demands, catalog, recipes, lines))
    hint = "Changes that were tried and help: " + "; ".join(hints) if hints else ""
    raise RocmlockError(UNSATISFIABLE, message, context=_grouped(answer), hint=hint)


def _grouped(passed: tuple[PassedOver, ...]) -> list[str]:
    """Candidates by package, grouped by the fact that rules them out."""
    found: list[str] = []
    for package in dict.fromkeys(item.top for item in passed):
        found += group_lines(item for item in passed if item.top == package)
    return found


def _lines(demands: Demands) -> list[str]:
    """The lines of a manifest that can rule something out."""
    lines = [f"package:{each.name}" for each in demands.packages if isinstance(each.origin, Ranged)]
    lines += ["gfx", "python", "host"]
    lines += ["rocm"] if demands.rocm is not None else []
    lines += ["released-before"] if demands.released_before else []
    return [*lines, *(forbid_line(each) for each in demands.forbidden)]


def _impossible(
    top: str, demands: Demands, catalog: Catalog, recipes: Mapping[str, Recipe]
) -> tuple[str, ...]:
    """Lines that are impossible together, of which none can be left out; none where nothing helps."""
    kept = _lines(demands)
    if not isinstance(search(top, without(demands, kept), catalog, recipes), tuple):
        for line in list(kept):
            fewer = [each for each in kept if each != line]
            dropped = [each for each in _lines(demands) if each not in fewer]
            if isinstance(search(top, without(demands, dropped), catalog, recipes), tuple):
                kept = fewer
        return tuple(sorted(kept))
    return ()


def _helps(
    top: str,
    demands: Demands,
    catalog: Catalog,
    recipes: Mapping[str, Recipe],
    lines: tuple[str, ...],
) -> list[str]:
    """What the search finds when one line is left out, written as the line that gives it."""
    found: list[str] = []
    for line in lines:
        answer = search(top, without(demands, [line]), catalog, recipes)
        if not isinstance(answer, Resolution):
            continue
        changed = _as_found(demands, line, answer)
        if changed and isinstance(search(top, changed, catalog, recipes), Resolution):
            release = answer.tested.release
            found.append(f"{line_of(changed, line)} gives {answer.tested.top} {release.version}")
    return found


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
        return without(demands, [line])
    return None


def without(demands: Demands, lines: list[str]) -> Demands:
    """The demands as if ``lines`` asked for nothing."""
    for line in lines:
        if line.startswith("package:"):
            demands = with_range(demands, line.removeprefix("package:"), "")
        elif line.startswith("forbid:"):
            kept = tuple(each for each in demands.forbidden if forbid_line(each) != line)
            demands = evolve(demands, forbidden=kept)
        elif line == "rocm":
            demands = evolve(demands, rocm=">=0")
        elif line == "gfx":
            demands = evolve(demands, gfx=())
        elif line == "python":
            demands = evolve(demands, python="")
        elif line == "host":
            demands = evolve(demands, host=Compiler("gcc"))
        elif line == "released-before":
            demands = evolve(demands, released_before=None)
    return demands
