"""``rocmlock why``: the reasons of a package or a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import examples, json_option, lock_option

if TYPE_CHECKING:
    from ..lockfile.model import Lock, Package


@click.command("why", epilog=examples("rocmlock why triton", "rocmlock why numpy -l stack.lock"))
@click.argument("package")
@lock_option
@json_option
def command(package: str, lock: Path, *, as_json: bool) -> None:
    """Say why PACKAGE is in the lock, at just that commit."""
    from packaging.utils import canonicalize_name

    from ..errors import PACKAGE_NOT_LOCKED, RocmlockError
    from ..lockfile.codec import read_lock

    held = read_lock(lock)
    name = canonicalize_name(package)
    found = next((each for each in held.packages if name in (each.name, each.distribution)), None)
    if found:
        _answer_package(held, found, as_json=as_json)
    elif any(wheel.name == name for wheel in held.wheels):
        _answer_wheel(held, name, as_json=as_json)
    else:
        from difflib import get_close_matches

        known = [each.name for each in (*held.packages, *held.wheels)]
        near = get_close_matches(name, known, 1)
        hint = f"rocmlock why {near[0]}" if near else ""
        raise RocmlockError(PACKAGE_NOT_LOCKED, f"{package} is not in {lock}.", hint=hint)


def _answer_package(lock: Lock, package: Package, *, as_json: bool) -> None:
    from attrs import asdict

    from .render import answer_json
    from .words import reason_words, source_words

    users = needed_by(lock, package.name)
    if as_json:
        reasons = [asdict(reason) for reason in (*package.reasons, *package.gfx_reasons)]
        body = {"package": package.name, "version": package.version, "source": asdict(package.source)}
        answer_json({**body, "picks": list(package.picks), "reasons": reasons, "needed-by": users})
        return
    click.echo(f"{package.name} {package.version or '?'}  {source_words(package)}")
    for reason in (*package.reasons, *package.gfx_reasons):
        click.echo(f"  {reason_words(reason, lock)}")
    for user in users:
        click.echo(f"  needed by {user}")


def needed_by(lock: Lock, name: str) -> list[str]:
    """``vllm (build, run)`` for each package that needs ``name``."""
    found: list[str] = []
    for package in lock.packages:
        kinds = [
            kind
            for kind, names in (("build", package.build.packages), ("run", package.run.packages))
            if name in names
        ]
        if kinds:
            found.append(f"{package.name} ({', '.join(kinds)})")
    return found


def _answer_wheel(lock: Lock, name: str, *, as_json: bool) -> None:
    from attrs import asdict

    from .render import answer_json

    wheels = [wheel for wheel in lock.wheels if wheel.name == name]
    asked = requirement_lines(lock, name)
    if as_json:
        answer_json({"wheel": name, "wheels": [asdict(wheel) for wheel in wheels], "asked-by": asked})
        return
    for wheel in wheels:
        click.echo(f"{wheel.name} {wheel.version}  {', '.join(file.file for file in wheel.files)}")
    for line in asked or ["  only other wheels need it"]:
        click.echo(f"  {line.strip()}")


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
    return found
