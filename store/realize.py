"""Lock -> environment: wires toolchain, sources, builds and composition."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve, frozen

from ..errors import MACHINE_LACKS, OFFLINE_MISSING, SOURCE_UNSUPPORTED, RocmlockError
from ..lockfile.model import Lock, Package, PathSource, Target
from ..lockfile.targets import lock_of
from .action import plan_action
from .blobs import BlobStore
from .builder import BuildInput, Tools, build, publish_realisation
from .derivation import find_wheels
from .digest import Digest
from .environment import compose, environment_id, is_composed, record_name
from .jobs import job_environment, read_machine
from .layout import StoreLayout, open_store, store_errors
from .leases import lease
from .plan import Machine, Plan, PlannedPackage, make_plan, read_realisation
from .proof import require_proof
from .publish import collect_scratch, scratch_folder, write_file
from .realisation import Realisation
from .sandbox import find_bwrap, probe, write_etc
from .sources import add_source, check_path, fetch_files, find_missing, source_files
from .system import HashCache, SystemId, measure_host
from .toolchain import Found, find_toolchain


@frozen
class Report:
    """What hears how a realization goes: phases, files, and the lines of a build by package."""

    phase: Callable[[str], None]
    line: Callable[[str, str], None]


@frozen
class Realized:
    """``built`` are the packages that had to be built; the others were in the store."""

    environment: Path
    target: Target
    built: tuple[str, ...]
    fetched: int
    packages: dict[str, Realisation]


def plan_realization(lock: Lock, target: Target, root: Path) -> tuple[Plan, StoreLayout, Found]:
    """What realizing ``lock`` for ``target`` in the store at ``root`` would do; nothing is done."""
    layout = open_store(root)
    found = find_toolchain(target)
    system = None if found.lacks else _measure(layout, found)
    machine = Machine(found, system, *read_machine())
    return make_plan(lock_of(lock, target.name), target, layout, machine), layout, found


def _measure(layout: StoreLayout, found: Found) -> SystemId:
    cache = HashCache(layout.systems / "hashes.json")
    system = measure_host(found.files, cache)
    if cache.changed:
        write_file(layout, layout.systems / "hashes.json", cache.text().encode())
    return system


@frozen
class Request:
    """A lock to realize for a target of it: its value, its text, and what local sources are relative to.

    ``offline``: nothing is fetched.
    """

    lock: Lock
    text: str
    folder: Path
    target: Target
    offline: bool = False

    @property
    def part(self) -> Lock:
        """What of the lock serves the target."""
        return lock_of(self.lock, self.target.name)

    @property
    def record(self) -> str:
        return record_name(self.text, self.target.name if len(self.lock.targets) > 1 else "")


def realize(request: Request, root: Path, environ: Mapping[str, str], report: Report) -> Realized:
    """Realize a lock for a target in the store at ``root``. What is in the store already is used as it is.

    Raises MACHINE_LACKS, SANDBOX_*, SOURCE_*, BUILD_*, PROOF_FAILED, HASH_MISMATCH, OFFLINE_MISSING, STORE_*.
    """
    lock = request.part
    plan, layout, found = plan_realization(lock, request.target, root)
    _require_possible(plan)
    _require_paths(request)
    collect_scratch(layout)
    blobs = BlobStore(layout)
    todo = [planned for planned in plan.packages if planned.state == "to build"]
    fetched = _fetch(request, blobs, plan, environ, report)
    done = {p.package.name: p.realisation for p in plan.packages if p.realisation is not None}
    for planned in plan.packages:
        if planned.realisation is not None:
            log = str(layout.log(planned.realisation.derivation))
            require_proof(planned.package, planned.realisation.code_objects, planned.realisation.opaque, log)
    if todo:
        builder = _Builder(request, blobs, found, report, environ.get("PATH", os.defpath))
        for planned in todo:
            done[planned.package.name] = builder.build(planned, done)
    environment = _environment(lock, plan, blobs, found, done)
    if not is_composed(environment.place):
        report.phase(f"Composing the environment from {len(environment.files)} wheels")
        _compose(environment, blobs, lock.name)
    place = environment.place
    record = layout.realized_lock(request.record)
    if not record.exists() or record.read_text().strip() != place.name:
        write_file(layout, record, f"{place.name}\n".encode())
    built = tuple(planned.package.name for planned in todo)
    return Realized(place, plan.target, built, fetched, done)


def _require_possible(plan: Plan) -> None:
    if plan.lacks:
        commands = [lack.install for lack in plan.lacks if lack.install]
        raise RocmlockError(
            MACHINE_LACKS,
            f"This machine lacks {', '.join(lack.what for lack in plan.lacks)}.",
            context=[str(lack) for lack in plan.lacks],
            hint="; ".join(commands),
        )
    if plan.unsupported:
        raise RocmlockError(
            SOURCE_UNSUPPORTED,
            "This version does not fetch git sources yet.",
            context=plan.unsupported,
        )


def _require_paths(request: Request) -> None:
    for package in request.part.packages:
        if isinstance(package.source, PathSource):
            check_path(package, request.folder / package.source.path)


def _fetch(request: Request, blobs: BlobStore, plan: Plan, environ: Mapping[str, str], report: Report) -> int:
    """Fetch the environment's wheels and what the builds to come need; nothing for builds that are done."""
    todo = [planned.package for planned in plan.packages if planned.state == "to build"]
    ids = {*plan.target.python.wheels, *(wheel for package in todo for wheel in package.build.wheels)}
    wanted = {**source_files(todo), **dict(find_wheels(request.part, plan.target, tuple(ids)))}
    missing = find_missing(blobs, wanted)
    if missing and request.offline:
        raise RocmlockError(
            OFFLINE_MISSING,
            f"{len(missing)} {'file is' if len(missing) == 1 else 'files are'} not in the store.",
            context=sorted(missing),
            hint="Run the command once without --offline.",
        )
    if missing:
        report.phase(f"Fetching {len(missing)} files from the package index")
        fetch_files(blobs, missing, environ, lambda name: report.line("fetch", name))
    return len(missing)


class _Builder:
    """Builds packages one after the other in build order."""

    def __init__(self, request: Request, blobs: BlobStore, found: Found, report: Report, path: str) -> None:
        import uv

        self._lock, self._lock_folder = request.part, request.folder
        self._target = request.target
        self._blobs, self._report = blobs, report
        interpreter = found.interpreter
        assert interpreter is not None  # noqa: S101 -- nothing is lacking, or we were not here
        self._tools = Tools(find_bwrap(path), Path(uv.find_uv_bin()), str(interpreter.path))
        self._uv_version = uv_version()
        with scratch_folder(blobs.layout) as scratch, store_errors(blobs.layout.root):
            write_etc(scratch)
            probe(self._tools.bwrap, scratch)

    def build(self, planned: PlannedPackage, done: Mapping[str, Realisation]) -> Realisation:
        """Build ``planned``, unless another process or an equal action has it already."""
        layout, name, key = self._blobs.layout, planned.package.name, planned.key or ""

        def wait(holder: str) -> None:
            self._report.phase(f"Waiting for {name}: {holder} builds it")

        with lease(layout, key, wait):
            made = read_realisation(layout.realisation(key))
            if made is not None:
                return made
            given = self._input(planned, done)
            equal = read_realisation(layout.action(given.action.digest.hash))
            if equal is not None:
                # Early cut-off: the inputs came to the same bytes as before, so the output is the same, too.
                made = evolve(equal, derivation=key)
                require_proof(planned.package, made.code_objects, made.opaque, str(layout.log(key)))
                publish_realisation(self._blobs, given, made, lambda _: None)
                return made
            self._report.phase(f"Building {name} {planned.package.version} ({planned.jobs} jobs)")
            made = build(self._blobs, self._tools, given, lambda line: self._report.line(name, line))
            self._report.phase(f"Built {name} in {made.seconds} s")
            return made

    def _input(self, planned: PlannedPackage, done: Mapping[str, Realisation]) -> BuildInput:
        package, derivation = planned.package, planned.derivation
        assert derivation is not None  # noqa: S101 -- a package to build has been measured
        source = add_source(self._blobs, package, self._lock_folder)
        wheels = self._locked_wheels(package)
        for name in derivation.inputs:
            wheels[done[name].wheel] = Digest(done[name].wheel_digest, done[name].wheel_size)
        action = plan_action(
            derivation,
            source,
            wheels,
            interpreter=self._tools.interpreter,
            uv_version=self._uv_version,
        )
        return BuildInput(
            package=package,
            derivation=derivation,
            key=planned.key or "",
            action=action,
            source=source,
            wheels=wheels,
            jobs=job_environment(planned.jobs),
        )

    def _locked_wheels(self, package: Package) -> dict[str, Digest]:
        found: dict[str, Digest] = {}
        for file, digest in find_wheels(self._lock, self._target, package.build.wheels):
            hash_ = digest.removeprefix("sha256:")
            found[file] = Digest(hash_, self._blobs.layout.blob(hash_).stat().st_size)
        return found


def uv_version() -> str:
    """The version of the uv that makes environments."""
    from importlib.metadata import version

    return version("uv")


@frozen
class _Environment:
    """An environment to be: where it will be, and its wheels (file name -> ``sha256:…``)."""

    place: Path
    files: dict[str, str]
    interpreter: Path


def _environment(
    lock: Lock, plan: Plan, blobs: BlobStore, found: Found, done: Mapping[str, Realisation]
) -> _Environment:
    interpreter = found.interpreter
    assert interpreter is not None  # noqa: S101 -- nothing is lacking, or we were not here
    files = dict(find_wheels(lock, plan.target, plan.target.python.wheels))
    files |= {made.wheel: f"sha256:{made.wheel_digest}" for made in done.values()}
    name = environment_id(files, f"{interpreter.path} {interpreter.version}")
    return _Environment(blobs.layout.environments / name, files, interpreter.path)


def _compose(environment: _Environment, blobs: BlobStore, name: str) -> None:
    with scratch_folder(blobs.layout) as scratch, store_errors(blobs.layout.root):
        (scratch / "wheels").mkdir()
        wheels = {file: scratch / "wheels" / file for file in environment.files}
        for file, digest in environment.files.items():
            # A copy that is checked: what is damaged in the store never gets into an environment.
            blobs.copy(digest.removeprefix("sha256:"), wheels[file], mode=0o444)
        about = {"name": name, "wheels": environment.files}
        compose(environment.place, scratch, environment.interpreter, wheels, about)
