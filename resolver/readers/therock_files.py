"""TheRock's manifests.

Layouts: ``version.json`` of the repository; ``share/therock/therock_manifest.json`` of an installed SDK
(TheRock's build_tools/generate_therock_manifest.py writes it: the commit, and a row for each submodule);
the PyTorch manifest of its wheels (external-builds/pytorch, an object for each project).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from .json_text import JsonObject, line_of_key, object_at, parse_object, text_at
from .source_text import Stated, check_digest, refuse

_FLAT = frozenset({"schema_version", "schema"})


@dataclass(frozen=True, slots=True)
class ManifestPin:
    """One source. ``patches`` are files in TheRock's own repository that are applied to it."""

    name: str
    url: str
    commit: str
    line: int
    path: str = ""
    branch: str = ""
    version: str = ""
    patches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TherockManifest:
    """``commit`` is TheRock's own. ``rocm`` is the release, ``package`` the full version
    (``7.15.0a20260727``).
    """

    commit: Stated | None
    rocm: str
    package: str
    pins: tuple[ManifestPin, ...]


def parse_therock_version(text: str, path: str) -> Stated:
    """``version.json``: the ROCm version that this commit of TheRock builds."""
    held, text = parse_object(text, path)
    return Stated(text_at(held, "rocm-version", text, path), line_of_key(text, "rocm-version"))


def parse_therock_manifest(text: str, path: str) -> TherockManifest:
    """Either manifest; which one it is, is told by its keys. Another layout is refused."""
    held, text = parse_object(text, path)
    if "the_rock_commit" in held:
        return _sdk(held, text, path)
    if "pytorch" in held and isinstance(held["pytorch"], dict):
        return _projects(held, text, path)
    raise refuse(path, 1, "This is neither TheRock's manifest of an SDK nor that of its PyTorch wheels.")


def _sdk(held: JsonObject, text: str, path: str) -> TherockManifest:
    line = line_of_key(text, "the_rock_commit")
    own = text_at(held, "the_rock_commit", text, path)
    rows = held.get("submodules")
    if not isinstance(rows, list) or not rows:
        raise refuse(path, line_of_key(text, "submodules"), "submodules is missing, or no list.")
    # The rows have the same keys in the same order: each row's lines follow those of the one before.
    at, pins = line_of_key(text, "submodules"), list[ManifestPin]()
    for row in cast("list[object]", rows):
        if not isinstance(row, dict):
            raise refuse(path, at, "A submodule is no object.")
        entry = cast("JsonObject", row)
        start = line_of_key(text, "submodule_name", at + 1)
        name = text_at(entry, "submodule_name", text, path, after=start)
        at = line_of_key(text, "pin_sha", start)
        commit = text_at(entry, "pin_sha", text, path, after=start)
        patches = entry.get("patches", [])
        if not isinstance(patches, list):
            raise refuse(path, line_of_key(text, "patches", start), "patches is no list.")
        pins.append(
            ManifestPin(
                name,
                text_at(entry, "submodule_url", text, path, after=start),
                check_digest(commit, 40, path, at, what=f"pin_sha of {name}"),
                at,
                text_at(entry, "submodule_path", text, path, after=start),
                patches=tuple(str(one) for one in cast("list[object]", patches)),
            )
        )
    return TherockManifest(
        Stated(check_digest(own, 40, path, line, what="the_rock_commit"), line),
        text_at(held, "rocm_version", text, path, needed=False),
        text_at(held, "rocm_package_version", text, path, needed=False),
        tuple(pins),
    )


def _projects(held: JsonObject, text: str, path: str) -> TherockManifest:
    pins = list[ManifestPin]()
    for name in held:
        if name in _FLAT:
            continue
        entry = object_at(held, name, text, path)
        start = line_of_key(text, name)
        at = line_of_key(text, "commit", start)
        commit = text_at(entry, "commit", text, path, after=start)
        pins.append(
            ManifestPin(
                name,
                text_at(entry, "repo", text, path, after=start),
                check_digest(commit, 40, path, at, what=f"The commit of {name}"),
                at,
                branch=text_at(entry, "branch", text, path, after=start, needed=False),
                version=text_at(entry, "version", text, path, after=start, needed=False),
            )
        )
    own = next((pin for pin in pins if pin.name == "therock"), None)
    return TherockManifest(
        Stated(own.commit, own.line) if own else None,
        own.version if own else "",
        "",
        tuple(pin for pin in pins if pin is not own),
    )
