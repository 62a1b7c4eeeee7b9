"""The Python layer: requirement lines in, exact wheels with hashes out. uv does the resolving."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from ..errors import OFFLINE_MISSING, PYTHON_UNSATISFIABLE, UPSTREAM_UNREADABLE, RocmlockError
from ..lockfile.model import Wheel, WheelFile
from ..lockfile.names import content_digest, file_name
from .stubs import MARK, HeldOut, write_stub
from .wheel_tags import choose_wheel, parse_platform

# What an index would bring for CUDA: never taken from there, whoever asks for it.
_GUARDED = re.compile(r"torch|torchvision|torchaudio|triton|(pytorch-)?triton-rocm|vllm|nvidia-.*|flash-attn")
OUTPUT = "pylock.layer.toml"
_NO_NETWORK = re.compile(
    r"dns error|failed to lookup|error sending request|Connection refused|Network is unreachable"
    r"|timed? ?out|connect error|Could not connect|network was disabled|connectivity is disabled",
    re.IGNORECASE,
)
# An index that fails, or refuses a package, which uv then takes for one that is not there.
_REFUSED = re.compile(
    r"HTTP status \w+ error \((\d{3})|was not found in the package registry.*\b(40[13]) ", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class LayerRequest:
    """``requirements`` are PEP 508 lines; ``held`` are built from source; ``platform`` as in the lock."""

    name: str
    requirements: tuple[str, ...]
    held: tuple[HeldOut, ...]
    python: str
    platform: str
    target: str
    released_before: date | None = None


def find_uv() -> str:
    """The uv that was installed with rocmlock."""
    import uv

    return uv.find_uv_bin()


@dataclass(frozen=True, slots=True)
class LayerContext:
    """How a layer is locked, which is no part of what it asks: ``preferred`` wheels stay at their versions
    where they can; ``offline`` lets uv use its cache alone."""

    environ: Mapping[str, str]
    preferred: tuple[Wheel, ...] = ()
    offline: bool = False


def fetch_layer(request: LayerRequest, context: LayerContext) -> tuple[Wheel, ...]:
    """The wheels that meet ``request``, sorted by name.

    Raises PYTHON_UNSATISFIABLE (with uv's explanation), OFFLINE_MISSING or UPSTREAM_UNREADABLE.
    """
    with tempfile.TemporaryDirectory(prefix="rocmlock-layer-") as name:
        folder = Path(name)
        _write_inputs(folder, request)
        _write_preferences(folder / OUTPUT, context.preferred)
        command = plan_command(request, find_uv())
        done = subprocess.run(
            [*command, "--offline"] if context.offline else command,
            cwd=folder,
            env={**context.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise _failure(request, done.stderr)
        text = (folder / OUTPUT).read_text()
    return parse_layer(text, request)


def _write_inputs(folder: Path, request: LayerRequest) -> None:
    (folder / "links").mkdir()
    for held in request.held:
        write_stub(folder / "links", held)
    (folder / "requirements.in").write_text("".join(f"{line}\n" for line in request.requirements))
    constraints = "".join(f"{held.distribution}=={held.stub_version}\n" for held in request.held)
    (folder / "constraints.txt").write_text(constraints)


def _write_preferences(file: Path, preferred: Iterable[Wheel]) -> None:
    """uv takes an earlier answer in its output file as what to keep where it can."""
    lines = ['lock-version = "1.0"', 'created-by = "rocmlock"']
    for wheel in preferred:
        lines += ["", "[[packages]]", f'name = "{wheel.name}"', f'version = "{wheel.version}"']
    if len(lines) > 2:
        file.write_text("\n".join(lines) + "\n")


def plan_command(request: LayerRequest, uv: str) -> list[str]:
    """The uv command for a request; files are relative to the folder that holds its inputs."""
    minor, architecture = parse_platform(request.platform)
    command = [
        *(uv, "pip", "compile", "requirements.in", "--quiet", "--no-header"),
        *("--constraint", "constraints.txt", "--find-links", "links", "--only-binary", ":all:"),
        *("--format", "pylock.toml", "--output-file", OUTPUT),
        *("--python", sys.executable, "--no-python-downloads", "--python-version", request.python),
        *("--python-platform", f"{architecture}-manylinux_2_{minor}"),
        *("--resolution", "highest", "--prerelease", "if-necessary-or-explicit"),
    ]
    for held in request.held:
        command += ["--no-emit-package", held.distribution]
    if request.released_before:
        command += ["--exclude-newer", request.released_before.isoformat()]
    return command


def parse_layer(text: str, request: LayerRequest) -> tuple[Wheel, ...]:
    """The wheels of a pylock document (PEP 751) that uv wrote for ``request``."""
    try:
        packages: list[dict[str, Any]] = tomllib.loads(text).get("packages", [])
        wheels = [_wheel(package, request) for package in packages]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RocmlockError(UPSTREAM_UNREADABLE, f"uv's answer for {request.name} is odd: {error}.") from None
    guarded = [wheel.id for wheel in wheels if _GUARDED.fullmatch(wheel.name)]
    if guarded:
        raise RocmlockError(
            PYTHON_UNSATISFIABLE,
            f"{request.name} would take {', '.join(guarded)} from the package index, built for CUDA.",
            hint="Ask for it in [packages], so that it is built from source, or leave out what needs it.",
        )
    return tuple(sorted(wheels, key=lambda wheel: wheel.name))


def _wheel(package: dict[str, Any], request: LayerRequest) -> Wheel:
    """uv keeps every file that could be installed; a lock names the one that is taken."""
    files: dict[str, dict[str, Any]] = {
        row.get("name") or unquote(urlsplit(str(row["url"])).path.rsplit("/", 1)[1]): row
        for row in package["wheels"]
    }
    name = choose_wheel(files, request.python, request.platform)
    if name is None:
        raise ValueError(f"no file of {package['name']} fits {request.platform}")
    chosen = files[name]
    digest = content_digest(f"sha256:{chosen['hashes']['sha256']}")
    return Wheel(
        canonicalize_name(package["name"]),
        package["version"],
        (WheelFile(file_name(name), digest, (request.target,), int(chosen.get("size", 0))),),
    )


def _failure(request: LayerRequest, talk: str) -> RocmlockError:
    words = re.sub(r"https?://\S+", "the index", talk.replace(f"+{MARK}", "")).strip()
    lines = [line for line in words.splitlines() if line.strip()]
    if _NO_NETWORK.search(talk):
        return RocmlockError(
            OFFLINE_MISSING,
            f"The wheels of {request.name} cannot be locked: the package index cannot be reached.",
            context=lines[-6:],
        )
    if refused := _REFUSED.search(talk):
        return RocmlockError(
            UPSTREAM_UNREADABLE,
            f"The wheels of {request.name} cannot be locked: the package index answers "
            f"{refused[1] or refused[2]}.",
            context=lines[-6:],
        )
    return RocmlockError(
        PYTHON_UNSATISFIABLE,
        f"The Python requirements of {request.name} cannot be met together.",
        context=lines[:40],
    )
