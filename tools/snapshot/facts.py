"""What is known of commits: tags, expansions of short commits, versions of commits."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from packaging.version import InvalidVersion, Version

Json = dict[str, Any]
Origin = list[Any]
"""[where, path, line] or [where, path, line, "inferred"]; short: trailing empties are left out."""


def origin(where: str, path: str = "", line: int = 0, *, inferred: bool = False) -> Origin:
    made: Origin = [where, path, line]
    if inferred:
        return [*made, "inferred"]
    while made[-1] in ("", 0):
        made.pop()
    return made


def words(source: Json | str | None) -> str:
    """A "from" entry of the data in words, without addresses."""
    if isinstance(source, str):
        return re.sub(r"https?://\S+", "", source).strip()[:160]
    if not source:
        return "collected facts"
    if "repo" in source:
        commit = str(source.get("commit", ""))[:12]
        place = str(source.get("path") or source.get("ref") or "")
        return " ".join(filter(None, (str(source["repo"]).split(" (")[0], commit, place)))
    if "package" in source:
        # An abbreviated commit in a package: who gave the full hash is the better witness.
        return str(source.get("full_hash_from") or f"{source['package']} {source.get('path', '')}".strip())
    return "collected facts"


@dataclass(frozen=True, slots=True)
class Known:
    """A full commit with who says so; ``short`` is what it expands."""

    commit: str
    where: str
    inferred: bool


class Facts:
    """The collected data, indexed by repository."""

    def __init__(self, folder: Path) -> None:
        def load(name: str) -> Any:
            return json.loads((folder / name).read_text(encoding="utf-8"))

        self.folder = folder
        self.vllm: Json = load("vllm_pins.json")
        self.pytorch: Json = load("pytorch_pins.json")
        self.rocm: Json = load("rocm.json")
        self._companions: Json = load("companions.json")["repositories"]
        self._triton: Json = load("triton_pins.json")
        self._combos: list[Json] = load("combos.json")["combos"]
        self._repositories: Json = load("releases.json")["repositories"]

    def repositories(self) -> list[str]:
        return sorted(self._repositories)

    def tags(self, repository: str) -> list[Json]:
        """Rows with tag, commit, date, prerelease, from."""
        entry: Any = self._repositories.get(repository, [])
        return cast("list[Json]", entry if isinstance(entry, list) else entry.get("tags", []))

    def tag(self, repository: str, name: str) -> Json | None:
        return next((row for row in self.tags(repository) if row["tag"] == name), None)

    def _pinned(self, repository: str) -> list[Json]:
        entry: Any = self._repositories.get(repository, {})
        rows: list[Json] = [] if isinstance(entry, list) else entry.get("pinned_commits", [])
        return rows

    def expand(self, repository: str, asked: str) -> Known | None:
        """The full commit that a tag, short or full commit names. None where the data cannot tell."""
        row = self.tag(repository, asked)
        if row is not None:
            return Known(row["commit"], words(row["from"]), inferred=False) if row["commit"] else None
        for pin in self.vllm["resolved_short_pins"]:
            if pin["value"] == asked and pin["commit"]:
                # Read as a git object where a date is known; else the full hash stood in a public text.
                return Known(pin["commit"], str(pin["from"]), inferred="date" not in pin)
        if not re.fullmatch(r"[0-9a-f]{7,40}", asked):
            return None
        found = {known.commit: known for known in self._commits(repository) if known.commit.startswith(asked)}
        return next(iter(found.values())) if len(found) == 1 else None

    def _commits(self, repository: str) -> list[Known]:
        rows = [(row["commit"], words(row["from"])) for row in self.tags(repository)]
        rows += [(row.get("commit"), words(row.get("from"))) for row in self._pinned(repository)]
        rows += [(row.get("commit"), words(row.get("from"))) for row in self._companions.get(repository, [])]
        if repository == "triton-lang/triton":
            rows += [(row["commit"], words(row["from"])) for row in self._triton["pinned_commits"]]
        return [Known(commit, where, inferred=False) for commit, where in rows if commit]

    def version(self, repository: str, asked: str, commit: str | None) -> tuple[str, Origin] | None:
        """The PEP 440 version of a pin and where that was read."""
        tagged = version_of_tag(asked)
        if tagged and self.tag(repository, asked):
            return tagged, origin(f"{repository} tag {asked}")
        for row in self._pinned(repository):
            same = row.get("commit") == commit if commit else _same(row.get("commit_abbrev"), asked)
            if same and is_version(row.get("version")):
                return row["version"], origin(words(row["from"]))
        for combo in self._combos:
            for name in ("torch", "triton"):
                part = combo.get(name, {})
                if commit and part.get("commit") == commit and is_version(part.get("version")):
                    return part["version"], origin(words(combo["evidence"]), inferred=True)
        if repository == "triton-lang/triton":
            for row in self._triton["pinned_commits"]:
                if row["commit"] == commit and is_version(row.get("version")):
                    return row["version"], origin(words(row["from"]))
        return None


def _same(abbreviation: str | None, asked: str) -> bool:
    return bool(abbreviation) and (
        asked.startswith(abbreviation or "") or (abbreviation or "").startswith(asked)
    )


def version_of_tag(tag: str) -> str | None:
    """``v0.11.1rc3`` -> ``0.11.1rc3``; None for tags that are no versions."""
    text = tag.removeprefix("v").removeprefix(".")
    return text if is_version(text) else None


def is_version(text: object) -> bool:
    try:
        Version(str(text or ""))
    except InvalidVersion:
        return False
    return True
