"""The manifest of PyTorch sources that TheRock's builds write and check out. Pure.

An object for each project, with ``commit`` and ``repo``, and ``branch`` where the lock knows a tag
(ROCm/TheRock, external-builds/pytorch). TheRock's other manifest, that of an SDK, names ROCm's own parts by
TheRock's commit: no lock holds those.
"""

from __future__ import annotations

import json

from ...errors import EXPORT_UNSUPPORTED, RocmlockError
from ..model import Lock
from ..urls import public_url
from .exported import Exported, extras_words, git_packages

_NAMES = {"torchvision": "pytorch_vision", "torchaudio": "pytorch_audio"}


def render_therock(lock: Lock) -> Exported:
    """Raises EXPORT_UNSUPPORTED where PyTorch is not built from git: the manifest is about it."""
    packages = list(git_packages(lock))
    if "pytorch" not in {package.name for package, _ in packages}:
        raise RocmlockError(
            EXPORT_UNSUPPORTED,
            "TheRock's manifest is about PyTorch, which this lock does not build from git.",
        )
    manifest: dict[str, dict[str, str]] = {}
    notes: list[str] = []
    for package, source in sorted(packages, key=lambda each: (each[0].name != "pytorch", each[0].name)):
        name = _NAMES.get(package.name, package.name.replace("-", "_"))
        branch = {"branch": source.tag} if source.tag else {}
        manifest[name] = {"commit": source.commit, "repo": public_url(source.url), **branch}
        if words := extras_words(package):
            notes.append(f"{package.name}: the manifest cannot say its {words}.")
    other = sorted({package.name for package in lock.packages} - {package.name for package, _ in packages})
    notes += [f"{name} is left out: it is not built from git." for name in other]
    return Exported(json.dumps(manifest, indent=2) + "\n", tuple(notes))
