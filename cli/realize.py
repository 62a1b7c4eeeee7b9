"""``rocmlock realize``: lock to environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import (
    DEFAULT_LOCK,
    examples,
    frozen_option,
    json_option,
    lock_argument,
    locked_option,
    require_one,
    store_folder,
    store_option,
    target_option,
)
from .sources import offline_option

if TYPE_CHECKING:
    from ..store.plan import Plan
    from ..store.realize import Realized


@click.command(
    "realize",
    epilog=examples(
        "rocmlock realize", "rocmlock realize --dry-run shared/stack.lock", "rocmlock realize --target mi250"
    ),
)
@lock_argument
@click.option("--dry-run", is_flag=True, help="Print the plan; build and fetch nothing.")
@locked_option
@frozen_option
@offline_option
@target_option
@store_option
@json_option
def command(
    lock: Path,
    target: str | None,
    store_root: Path | None,
    *,
    dry_run: bool,
    locked: bool,
    frozen: bool,
    offline: bool,
    as_json: bool,
) -> None:
    """Build what LOCK names for a target, and compose the environment.

    Packages are built from source, in a sandbox without network. What is in the store already is used as it
    is. `rocmlock run` then runs commands in the environment.

    The manifest is not read, as with --frozen; with --locked the lock must satisfy the one beside it.
    """
    import os

    from ..lockfile.codec import parse_lock, read_lock_text
    from ..lockfile.targets import pick_target
    from ..store.realize import Report, Request, plan_realization, realize
    from .check import require_locked
    from .progress import Progress
    from .render import answer_json

    require_one(locked=locked, frozen=frozen)
    text = read_lock_text(lock)
    held = parse_lock(text, str(lock))
    if locked:
        require_locked(lock)
    named = "" if lock == DEFAULT_LOCK else f" {lock}"
    chosen = pick_target(held, target, f"rocmlock realize{named} {{target}}")
    root = store_folder(store_root)
    if dry_run:
        plan, _, _ = plan_realization(held, chosen, root)
        if as_json:
            answer_json(describe_plan(plan))
        else:
            _print_plan(plan)
        return
    with Progress() as progress:
        report = Report(progress.phase, progress.line)
        request = Request(held, text, lock.absolute().parent, chosen, offline)
        realized = realize(request, root, os.environ, report)
    if as_json:
        answer_json(_describe(realized))
    else:
        _print_realized(realized, lock, several=len(held.targets) > 1)


def _print_plan(plan: Plan) -> None:
    from .render import table
    from .words import source_words

    rows = [
        (
            planned.package.name,
            planned.package.version or "?",
            source_words(planned.package),
            planned.state if planned.state == "in store" else f"{_state(planned.state)}, {planned.jobs} jobs",
            planned.key[:12] if planned.key else "unmeasured",
        )
        for planned in plan.packages
    ]
    table(("derivation", "version", "source", "plan", "key"), rows)
    click.echo(f"\n{len(plan.wheels)} wheels: {len(plan.wheels) - len(plan.missing)} in the store")
    if plan.system:
        click.echo(f"system {plan.system.fingerprint[:12]}: host, {plan.system.packages} packages")
    for lack in plan.lacks:
        click.echo(f"lacks {lack}" + (f": {lack.install}" if lack.install else ""))
    for words in plan.unsupported:
        click.echo(f"not yet: {words}")


def describe_plan(plan: Plan) -> dict[str, Any]:
    """The plan for ``--json``."""
    return {
        "target": plan.target.name,
        "derivations": [
            {
                "package": planned.package.name,
                "version": planned.package.version,
                "state": planned.state,
                "jobs": planned.jobs,
                "key": planned.key,
            }
            for planned in plan.packages
        ],
        "wheels": {"all": len(plan.wheels), "missing": sorted(plan.missing)},
        "system": plan.system.fingerprint if plan.system else None,
        "lacks": [{"what": lack.what, "install": lack.install, "fact": lack.fact} for lack in plan.lacks],
        "unsupported": list(plan.unsupported),
    }


def _describe(realized: Realized) -> dict[str, Any]:
    packages = {
        name: {
            "key": made.derivation,
            "wheel": made.wheel,
            "code-objects": made.code_objects,
            "built": name in realized.built,
        }
        for name, made in sorted(realized.packages.items())
    }
    return {
        "target": realized.target.name,
        "environment": str(realized.environment),
        "built": list(realized.built),
        "fetched": realized.fetched,
        "packages": packages,
    }


def _state(state: str) -> str:
    return "to build" if state == "unmeasured" else state


def _print_realized(realized: Realized, lock: Path, *, several: bool) -> None:
    from .render import talk

    for name, made in sorted(realized.packages.items()):
        how = f"built in {made.seconds} s" if name in realized.built else "in store"
        targets = sorted({target for held in made.code_objects.values() for target in held})
        proof = f"GPU code: {', '.join(targets)}" if targets else "no GPU code, as asked"
        click.echo(f"{name:20} {made.derivation[:12]}  {how:18} {proof}")
    click.echo(f"environment {realized.environment}")
    option = "" if lock == DEFAULT_LOCK else f"-l {lock} "
    if several:
        option += f"--target {realized.target.name} "
    talk(f"Run something in it: rocmlock run {option}-- python")
