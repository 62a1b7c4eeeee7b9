"""The plan of a realization: what is in the store, what is to be built, what is lacking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from attrs import field, frozen

from ..doctor.facts import Lack
from ..lockfile.model import GitSource, Lock, Package, Target
from .derivation import Derivation, find_wheels, order_packages, plan_derivations
from .jobs import plan_jobs
from .layout import StoreLayout
from .realisation import Realisation, parse_realisation
from .system import SystemId
from .toolchain import Found


@frozen
class PlannedPackage:
    """``key`` and ``derivation`` are None where the system can't be measured. ``jobs`` are this machine's."""

    package: Package
    state: Literal["in store", "to build", "unmeasured"]
    jobs: int
    derivation: Derivation | None = None
    key: str | None = None
    realisation: Realisation | None = None


@frozen
class Plan:
    """``wheels`` are all files of the lock for the target, ``missing`` those that the store lacks."""

    target: Target
    packages: tuple[PlannedPackage, ...]
    wheels: dict[str, str]
    missing: dict[str, str]
    lacks: tuple[Lack, ...]
    system: SystemId | None = None
    unsupported: tuple[str, ...] = field(default=())


@frozen
class Machine:
    """What is known of this machine: ``memory`` is in MiB; ``system`` is None where something is lacking."""

    found: Found
    system: SystemId | None
    cores: int
    memory: int


def make_plan(lock: Lock, target: Target, layout: StoreLayout, machine: Machine) -> Plan:
    """The plan for the only ``target`` of ``lock`` on a machine."""
    wheels = dict(find_wheels(lock, target, tuple(wheel.id for wheel in lock.wheels)))
    return Plan(
        target=target,
        packages=tuple(_packages(lock, target, layout, machine)),
        wheels=wheels,
        missing={name: digest for name, digest in wheels.items() if not _has_blob(layout, digest)},
        lacks=machine.found.lacks,
        system=machine.system,
        unsupported=tuple(
            f"{package.name}: git sources are not fetched by this version"
            for package in lock.packages
            if isinstance(package.source, GitSource)
        ),
    )


def _has_blob(layout: StoreLayout, digest: str) -> bool:
    return layout.blob(digest.removeprefix("sha256:")).is_file()


def _packages(lock: Lock, target: Target, layout: StoreLayout, machine: Machine) -> Sequence[PlannedPackage]:
    def jobs(package: Package) -> int:
        return plan_jobs(machine.cores, machine.memory, package.memory_per_job)

    if machine.system is None:
        return [PlannedPackage(package, "unmeasured", jobs(package)) for package in order_packages(lock)]
    planned: list[PlannedPackage] = []
    derivations = plan_derivations(lock, target, system=machine.system.fingerprint, words=machine.found.words)
    for package, derivation, key in derivations:
        realisation = read_realisation(layout.realisation(key))
        state = "in store" if realisation else "to build"
        planned.append(PlannedPackage(package, state, jobs(package), derivation, key, realisation))
    return planned


def read_realisation(path: Path) -> Realisation | None:
    """The realisation at ``path``; None where there is none. Raises STORE_CORRUPT where it is damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    return parse_realisation(data, str(path))
