"""``rocmlock why``: the reasons of a package or a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import DEFAULT_LOCK, examples, json_option, lock_option, shown_target_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock, Package


@click.command("why", epilog=examples("rocmlock why triton", "rocmlock why numpy -l stack.lock"))
@click.argument("package")
@lock_option
@shown_target_option
@json_option
def command(package: str, lock: Path, target: str | None, *, as_json: bool) -> None:
    """Say why PACKAGE is in the lock, at just that commit."""
    from packaging.utils import canonicalize_name

    from ..errors import PACKAGE_NOT_LOCKED, RocmlockError
    from ..lockfile.codec import read_lock
    from .lock_view import show_alone

    option = "" if lock == DEFAULT_LOCK else f" -l {lock}"
    held = show_alone(read_lock(lock), target, f"rocmlock why {package}{option} {{target}}")
    name = canonicalize_name(package)
    found = next((each.name for each in held.packages if name in (each.name, each.distribution)), None)
    if found:
        _answer_package(held, found, _asked_for(found, lock), as_json=as_json)
    elif any(wheel.name == name for wheel in held.wheels):
        _answer_wheel(held, name, as_json=as_json)
    else:
        from difflib import get_close_matches

        known = [each.name for each in (*held.packages, *held.wheels)]
        near = get_close_matches(name, known, 1)
        hint = f"rocmlock why {near[0]}" if near else ""
        raise RocmlockError(PACKAGE_NOT_LOCKED, f"{package} is not in {lock}.", hint=hint)


def _asked_for(name: str, lock: Path) -> str:
    """The line of the manifest beside the lock that asks for a package; empty where none can be read."""
    from ..errors import RocmlockError
    from .inputs import read_demands

    manifest = lock.with_suffix(".toml")
    if not manifest.is_file():
        return ""
    try:
        demand = read_demands(manifest)[0].package(name)
    except RocmlockError:
        return ""  # whoever resolves is told
    return demand.line if demand else ""


def _answer_package(lock: Lock, name: str, asked: str, *, as_json: bool) -> None:
    from .lock_view import group_by_target
    from .render import answer_json

    if as_json:
        entries = [describe_package(lock, each) for each in lock.packages if each.name == name]
        answer_json({"package": name, "asked-by": asked, "entries": entries})
        return
    if asked:
        click.echo(f"the manifest asks for {asked}")
    for line in group_by_target(lock, lambda part: package_lines(part, name)):
        click.echo(line)


def describe_package(lock: Lock, package: Package) -> dict[str, Any]:
    """A package as some targets have it, and its reasons, for ``--json``."""
    from attrs import asdict

    return {
        "targets": list(package.targets),
        "version": package.version,
        "source": asdict(package.source),
        "picks": list(package.picks),
        "reasons": [asdict(reason) for reason in (*package.reasons, *package.gfx_reasons)],
        "needed-by": needed_by(lock, package.name, package.targets),
    }


def package_lines(lock: Lock, name: str) -> list[str]:
    """Why a package is in a lock of one target; none where it is not."""
    from .words import reason_words, source_words

    lines: list[str] = []
    for package in lock.packages:
        if package.name == name:
            lines.append(f"{package.name} {package.version or '?'}  {source_words(package)}")
            reasons = (*package.reasons, *package.gfx_reasons)
            lines += [f"  {reason_words(reason, lock)}" for reason in reasons]
            lines += [f"  needed by {user}" for user in needed_by(lock, name, package.targets)]
    return lines


def needed_by(lock: Lock, name: str, targets: tuple[str, ...]) -> list[str]:
    """``vllm (build, run)`` for each package that needs ``name`` on one of ``targets``."""
    found: list[str] = []
    for package in lock.packages:
        if not {*targets} & {*package.targets}:
            continue
        kinds = [
            kind
            for kind, names in (("build", package.build.packages), ("run", package.run.packages))
            if name in names
        ]
        if kinds:
            found.append(f"{package.name} ({', '.join(kinds)})")
    return list(dict.fromkeys(found))


def _answer_wheel(lock: Lock, name: str, *, as_json: bool) -> None:
    from attrs import asdict

    from .lock_view import group_by_target
    from .render import answer_json

    if as_json:
        wheels = [asdict(wheel) for wheel in lock.wheels if wheel.name == name]
        answer_json({"wheel": name, "wheels": wheels, "asked-by": requirement_lines(lock, name)})
        return
    for line in group_by_target(lock, lambda part: wheel_lines(part, name)):
        click.echo(line)


def wheel_lines(lock: Lock, name: str) -> list[str]:
    """Why a wheel is in a lock of one target; none where it is not."""
    lines = [
        f"{wheel.name} {wheel.version}  {', '.join(file.file for file in wheel.files)}"
        for wheel in lock.wheels
        if wheel.name == name
    ]
    asked = requirement_lines(lock, name) or ["only other wheels need it"]
    return [*lines, *(f"  {line}" for line in asked)] if lines else []


def requirement_lines(lock: Lock, name: str) -> list[str]:
    """Who asks for a wheel by a requirement line of its own."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    def asks(line: str) -> bool:
        return canonicalize_name(Requirement(line).name) == name

    found = [
        f"the manifest asks for {line}"
        for target in lock.targets
        for line in target.python.requires
        if asks(line)
    ]
    for package in lock.packages:
        found += [f"{package.name} needs {line} to run" for line in package.run.python if asks(line)]
        found += [f"{package.name} needs {line} to be built" for line in package.build.python if asks(line)]
    return list(dict.fromkeys(found))
