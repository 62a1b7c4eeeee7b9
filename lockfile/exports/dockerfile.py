"""``ARG`` lines for vLLM's Dockerfile.rocm_base, or for any other that names its sources so. Pure.

Names as there: ``NAME_REPO`` and ``NAME_BRANCH`` (which takes a commit: it is checked out),
``PYTORCH_ROCM_ARCH``, ``PYTHON_VERSION``. For a package that it does not have, NAME is the package's own in
capitals.
"""

from __future__ import annotations

import re

from ...errors import EXPORT_UNSUPPORTED, RocmlockError
from ..model import Lock
from ..urls import public_url
from .exported import Exported, extras_words, git_packages, plain

_NAMES = {
    "torchvision": "PYTORCH_VISION",
    "torchaudio": "PYTORCH_AUDIO",
    "flash-attention": "FA",
}


def render_dockerfile(lock: Lock) -> Exported:
    """The lines for a lock of one target. Raises EXPORT_UNSUPPORTED where it builds nothing from git."""
    (target,) = lock.targets
    lines = [f"# {plain(lock.name)}, target {plain(target.name)}: written by rocmlock export"]
    notes: list[str] = []
    packages = list(git_packages(lock))
    if not packages:
        raise RocmlockError(EXPORT_UNSUPPORTED, "The lock builds nothing from git: there is no ARG to write.")
    lines += [
        f"ARG PYTORCH_ROCM_ARCH={_quoted(';'.join(target.gfx))}",
        f"ARG PYTHON_VERSION={_quoted(target.python.version)}",
    ]
    for package, source in packages:
        name = _arg_name(package.name)
        if words := extras_words(package):
            applied = ", ".join((*package.picks, *(patch.name for patch in package.patches)))
            lines.append(f"# {plain(package.name)}: then {words}, in this order: {plain(applied)}")
            notes.append(f"{package.name}: ARGs do not apply its {words}; the file names them in a comment.")
        lines.append(f"ARG {name}_REPO={_quoted(public_url(source.url))}")
        lines.append(f"ARG {name}_BRANCH={_quoted(source.commit)}")
    other = sorted({package.name for package in lock.packages} - {package.name for package, _ in packages})
    notes += [f"{name} is left out: it is not built from git." for name in other]
    return Exported("\n".join((*lines, "")), tuple(notes))


def _arg_name(package: str) -> str:
    return _NAMES.get(package) or re.sub(r"[^A-Z0-9]+", "_", package.upper()).strip("_")


def _quoted(text: str) -> str:
    r"""A word of a Dockerfile: in double quotes ``\``, ``"`` and ``$`` are escaped (Dockerfile reference)."""
    return '"' + re.sub(r'([\\"$])', r"\\\1", plain(text)) + '"'
