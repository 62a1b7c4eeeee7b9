"""One build: lay out the inputs, run the action in the sandbox, prove and publish the output."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from ..errors import BUILD_FAILED, BUILD_NETWORK, OUTPUT_INVALID, PROOF_FAILED, RocmlockError
from ..lockfile.model import Package
from .action import BUILD, COMMAND, OUT, SRC, TOOLS, WHEELS, Action, build_variables, render_steps
from .blobs import BlobStore
from .derivation import EPOCH, Derivation, render_derivation
from .digest import Digest, digest_of_file
from .layout import store_errors
from .proof import read_proof, require_proof
from .publish import Publication, remove_folder, scratch_folder
from .realisation import Realisation, render_realisation
from .sandbox import Bind, SandboxSpec, execute, find_network_attempt, plan_bwrap, write_etc
from .trees import add_tree, materialise, read_tree

_TAIL = 20  # lines of the log that an error shows


@frozen
class Tools:
    """Programs of the host that a build needs and that are no input: ``uv`` makes its environment."""

    bwrap: str
    uv: Path
    interpreter: str


@frozen
class BuildInput:
    """Everything for one build. ``wheels`` are file name -> digest; ``jobs`` are the executor's variables."""

    package: Package
    derivation: Derivation
    key: str
    action: Action
    source: Digest
    wheels: dict[str, Digest]
    jobs: dict[str, str]


def build(
    blobs: BlobStore, tools: Tools, given: BuildInput, on_line: Callable[[str], None] | None = None
) -> Realisation:
    """Build, prove and publish.

    Raises BUILD_FAILED, BUILD_NETWORK, PROOF_FAILED or OUTPUT_INVALID; the log is kept either way, and of a
    failed build the tree.
    """
    with scratch_folder(blobs.layout) as scratch:
        with store_errors(blobs.layout.root):
            command = _lay_out(blobs, tools, given, scratch)
            started = time.monotonic()
            with (scratch / "log").open("wb") as log:
                code = execute(command, log, on_line)
            seconds = time.monotonic() - started
        log_path = _publish_log(blobs, given.key, scratch / "log")
        if code:
            kept = _keep_failed(blobs, given.key, scratch, command)
            raise _build_error(given.package, kept, log_path, code)
        return _publish_output(blobs, given, scratch, log_path, seconds)


def _lay_out(blobs: BlobStore, tools: Tools, given: BuildInput, scratch: Path) -> list[str]:
    root = scratch / "build"
    root.mkdir()
    for name in ("wheels", "tools", "out"):
        (root / name).mkdir()
    # A build may write to its source: it is a copy, like all that a build could reach to write.
    materialise(blobs, given.source, root / "src", writable=True, epoch=EPOCH)
    for name, digest in given.wheels.items():
        blobs.copy(digest.hash, root / "wheels" / name, mode=0o444)
    (root / "steps.sh").write_text(render_steps(given.derivation, tools.interpreter))
    (root / "tools" / "uv").touch()
    write_etc(scratch)
    spec = SandboxSpec(
        command=COMMAND,
        environment={**build_variables(given.derivation), **given.jobs},
        binds=(
            Bind(root, BUILD, writable=True),
            Bind(root / "wheels", WHEELS),
            Bind(root / "tools", TOOLS),
            Bind(tools.uv, f"{TOOLS}/uv"),
        ),
        directory=SRC,
    )
    return plan_bwrap(spec, tools.bwrap, scratch)


def _publish_log(blobs: BlobStore, key: str, log: Path) -> Path:
    place = blobs.layout.log(key)
    with Publication(blobs.layout) as publication, store_errors(blobs.layout.root):
        log.replace(publication.stage(place, mode=0o644))
        publication.commit()
    return place


def _build_error(package: Package, kept: Path, log: Path, code: int) -> RocmlockError:
    text = log.read_bytes()[-(1 << 20) :].decode("utf-8", "replace")
    context = [*text.splitlines()[-_TAIL:], f"log: {log}", f"tree: {kept}"]
    enter = f"sh {shlex.quote(str(kept / 'enter.sh'))}   (a shell in the failed build's sandbox)"
    attempt = find_network_attempt(text)
    if attempt is not None:
        return RocmlockError(
            BUILD_NETWORK,
            f"{package.name} tried to reach the network, which builds do not have: {attempt}",
            context=context,
            hint=enter,
        )
    # As a shell has it: 128 and the signal that ended the command.
    what = f"signal {code - 128}" if code > 128 else f"exit code {code}"
    message = f"{package.name} failed to build ({what})."
    return RocmlockError(BUILD_FAILED, message, context=context, hint=enter)


def _keep_failed(blobs: BlobStore, key: str, scratch: Path, command: list[str]) -> Path:
    """Move the failed tree to where a user can look at it, with a script that enters its sandbox."""
    kept = blobs.layout.failed(key)
    remove_folder(kept)
    with store_errors(blobs.layout.root):
        scratch.rename(kept)
        shell = [part.replace(str(scratch), str(kept)) for part in command[: -len(COMMAND)]]
        (kept / "enter.sh").write_text(f"#!/bin/sh\nexec {shlex.join([*shell, '/bin/sh'])}\n")
    return kept


def _publish_output(
    blobs: BlobStore, given: BuildInput, scratch: Path, log: Path, seconds: float
) -> Realisation:
    out = scratch / "build" / "out"
    wheel = _single_wheel(out, given.package, log)
    (scratch / "unpacked").mkdir()
    held, opaque = read_proof(wheel, scratch / "unpacked")
    require_proof(given.package, held, opaque, str(log))
    tree = read_tree(out)
    digest = digest_of_file(wheel)
    made = Realisation(
        derivation=given.key,
        action=given.action.digest.hash,
        output=tree.root.hash,
        output_size=tree.root.size,
        wheel=wheel.name,
        wheel_digest=digest.hash,
        wheel_size=digest.size,
        code_objects=held,
        opaque=opaque,
        seconds=round(seconds, 1),
    )
    publish_realisation(blobs, given, made, lambda publication: add_tree(blobs, publication, tree))
    return made


def publish_realisation(
    blobs: BlobStore, given: BuildInput, made: Realisation, stage_output: Callable[[Publication], None]
) -> None:
    """Publish what a derivation came to: content first, what names it last."""
    layout = blobs.layout
    data = render_realisation(made)
    with Publication(layout) as publication, store_errors(layout.root):
        stage_output(publication)
        for message in (*given.action.messages.values(), given.action.data):
            blobs.add_bytes(publication, message)
        publication.stage(layout.derivation(given.key), mode=0o644).write_bytes(
            render_derivation(given.derivation)
        )
        publication.stage(layout.action(given.action.digest.hash), mode=0o644).write_bytes(data)
        publication.stage(layout.realisation(given.key), mode=0o644).write_bytes(data)
        publication.commit()


def _single_wheel(out: Path, package: Package, log: Path) -> Path:
    """The one wheel of an output, of the package's name and version."""
    from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
    from packaging.version import Version

    found = sorted(path for path in out.iterdir() if path.suffix == ".whl")
    if len(found) != 1:
        names = ", ".join(path.name for path in out.iterdir()) or "nothing"
        raise RocmlockError(
            OUTPUT_INVALID,
            f"{package.name} left {names} in {OUT}, not one wheel.",
            context=[f"log: {log}"],
        )
    try:
        name, version, _, _ = parse_wheel_filename(found[0].name)
    except InvalidWheelFilename as error:
        raise RocmlockError(OUTPUT_INVALID, f"{package.name}: {error}.") from None
    wrong_name = name != canonicalize_name(package.distribution)
    if wrong_name or (package.version and version.public != Version(package.version).public):
        raise RocmlockError(
            PROOF_FAILED,
            f"{package.name} came out as {name} {version}, not as {package.distribution} {package.version}.",
            context=[f"log: {log}"],
        )
    return found[0]
