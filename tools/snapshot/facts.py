"""The collected data, indexed by repository. The layout of the folder: docs/formats/snapshot.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from .origins import Json, Origin, said, version_of_tag, words

# Repositories whose commits are read in a mirror that carries them.
_MIRRORS = {"triton-lang/triton-windows": "triton-lang/triton"}


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a short commit stands for. ``repository`` is where it was read as a git object, empty where its
    full form stood in a text."""

    commit: str
    repository: str
    where: str


class Facts:
    """The files of the data folder."""

    def __init__(self, folder: Path) -> None:
        def load(name: str) -> Any:
            return json.loads((folder / name).read_text(encoding="utf-8"))

        self.folder = folder
        self.vllm: list[Json] = load("vllm_pins.json")["releases"]
        self.pytorch: list[Json] = load("pytorch_pins.json")["releases"]
        self.rocm: list[Json] = load("rocm.json")["releases"]
        self.combos: list[Json] = load("combos.json")["combos"]
        self.triton: list[Json] = load("triton_pins.json")["pinned_commits"]
        self.companions: dict[str, list[Json]] = load("companions.json")["repositories"]
        self._shorts: list[Json] = load("vllm_pins.json")["resolved_short_pins"]
        repositories: dict[str, Any] = load("releases.json")["repositories"]
        # An entry is a list of tags, or a table with what else is known.
        tables: dict[str, dict[str, list[Json]]] = {
            name: {"tags": entry} if isinstance(entry, list) else entry
            for name, entry in repositories.items()
        }
        self._tags = {name: _newest_first(table.get("tags", [])) for name, table in tables.items()}
        self._pinned = {name: table.get("pinned_commits", []) for name, table in tables.items()}

    def repositories(self) -> list[str]:
        return sorted(self._tags)

    def tags(self, repository: str) -> list[Json]:
        """Rows with tag, commit, date, prerelease and from, newest version first, tags of none last."""
        return list(self._tags.get(repository, {}).values())

    def tag(self, repository: str, name: str) -> Json | None:
        return self._tags.get(repository, {}).get(name)

    def pinned(self, repository: str) -> list[Json]:
        """Commits that others pin without a tag: commit or commit_abbrev, branch, version, from."""
        return self._pinned.get(repository, [])

    def expansion(self, asked: str, arg: str) -> Expansion | None:
        """What the data says that ``asked``, the value of ``arg``, stands for."""
        for row in self._shorts:
            if row["arg"] == arg and row["value"] == asked and row["commit"]:
                # A date is known where the commit was read as a git object.
                said_by = words(row["from"])
                read_in = said_by.split(" pull ")[0] if "date" in row else ""
                where = f"git objects of {said_by}" if read_in == said_by else said_by
                return Expansion(row["commit"], _MIRRORS.get(read_in, read_in), where)
        return None


def _newest_first(rows: list[Json]) -> dict[str, Json]:
    def key(row: Json) -> tuple[bool, Version, str, str]:
        version = version_of_tag(row["tag"])
        return version is not None, Version(version or "0"), str(row.get("date") or ""), row["tag"]

    return {row["tag"]: row for row in sorted(rows, key=key, reverse=True)}


def release_origin(row: Json) -> Origin:
    """Who says which commit a tag is: inferred where a text that nobody can look up had to help."""
    source: Json = row["from"]
    if row.get("tag_evidence"):
        return said(words(row["tag_evidence"]), inferred=True)
    if source.get("full_hash_from"):
        return said(f"{words(source)}; {source['full_hash_from']}", inferred=True)
    return said(words(source))
