"""Actions: a derivation whose inputs are built, as the Remote Execution API has it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from attrs import frozen

from .derivation import EPOCH, SANDBOX_POLICY, Derivation
from .digest import Digest, digest_of_bytes
from .nodes import DirectoryNode, FileNode, Folder

BUILD = "/build"
SRC, WHEELS, OUT, ENV, TOOLS = (f"{BUILD}/{name}" for name in ("src", "wheels", "out", "env", "tools"))
STEPS = "steps.sh"
COMMAND = ("/bin/sh", f"{BUILD}/{STEPS}")


@frozen
class Action:
    """``messages`` are the Command and the input root's folders by digest; ``data`` is the Action itself."""

    digest: Digest
    messages: dict[Digest, bytes]
    data: bytes


def render_steps(derivation: Derivation, interpreter: str) -> str:
    """The shell text that makes the build environment and runs the steps; each argument is quoted."""
    words = {"{python}": f"{ENV}/bin/python", "{src}": SRC, "{out}": OUT}
    uv = f"{TOOLS}/uv"
    options = ["--quiet", "--offline", "--no-config", "--no-cache", "--no-python-downloads"]
    lines = [
        "set -eu",
        "umask 022",
        shlex.join([uv, "venv", *options, "--python", interpreter, ENV]),
        f"{shlex.join([uv, 'pip', 'install', *options, '--no-deps', '--link-mode', 'copy'])} "
        f"--python {ENV}/bin/python {WHEELS}/*.whl",
        f"cd {SRC}",
    ]
    for number, step in enumerate(derivation.steps, 1):
        arguments = list(step)
        for word, value in words.items():
            arguments = [argument.replace(word, value) for argument in arguments]
        lines += [f"echo {shlex.quote(f'[{number}/{len(derivation.steps)}] {shlex.join(arguments)}')}"]
        lines += [shlex.join(arguments)]
    return "\n".join(lines) + "\n"


def build_variables(derivation: Derivation) -> dict[str, str]:
    """The variables of an action: the package's own, and what makes builds the same everywhere."""
    maps = f"-ffile-prefix-map={BUILD}=/usr/src/{derivation.name}"
    flags = {
        name: f"{derivation.environment[name]} {maps}"
        for name in ("CFLAGS", "CXXFLAGS", "HIPFLAGS")
        if name in derivation.environment
    }
    return {
        "HOME": "/tmp",  # noqa: S108 -- the sandbox's own
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PATH": f"{ENV}/bin:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": str(EPOCH),
        "TZ": "UTC",
        "UV_NO_INSTALLER_METADATA": "1",
        "VIRTUAL_ENV": ENV,
        **derivation.environment,
        **flags,
    }


def plan_action(
    derivation: Derivation,
    source: Digest,
    wheels: Mapping[str, Digest],
    *,
    interpreter: str,
    uv_version: str,
) -> Action:
    """The action of a derivation: ``source`` is its tree, ``wheels`` all files of the build environment."""
    from .proto import encode_action, encode_command, encode_folder

    platform = {
        "rocmlock-sandbox": SANDBOX_POLICY,
        "rocmlock-system": derivation.system,
        "rocmlock-uv": uv_version,
    }
    messages: dict[Digest, bytes] = {}

    def add(data: bytes) -> Digest:
        digest = digest_of_bytes(data)
        messages[digest] = data
        return digest

    house = add(
        encode_folder(Folder(files=tuple(FileNode(n, d, executable=False) for n, d in wheels.items())))
    )
    steps = add(render_steps(derivation, interpreter).encode())
    root = add(
        encode_folder(
            Folder(
                files=(FileNode(STEPS, steps, executable=False),),
                directories=(DirectoryNode("src", source), DirectoryNode("wheels", house)),
            )
        )
    )
    command = add(encode_command(COMMAND, build_variables(derivation), platform, ["out"]))
    data = encode_action(command, root, platform)
    return Action(digest_of_bytes(data), messages, data)
