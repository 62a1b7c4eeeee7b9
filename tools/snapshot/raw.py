"""Line numbers of facts in upstream files: the extracts that are read keep true line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement


@dataclass(frozen=True, slots=True)
class RawFiles:
    """The stored files of one release; ``folder`` may not exist, then nothing is known of any line."""

    folder: Path

    def has(self, path: str) -> bool:
        return (self.folder / path).is_file()

    def lines(self, path: str) -> Iterator[tuple[int, str]]:
        """(line from 1, text); nothing where the file is not stored."""
        file = self.folder / path
        return enumerate(file.read_text(encoding="utf-8").splitlines() if file.is_file() else (), 1)

    def find(self, path: str, pattern: str) -> int:
        """The first line (from 1) that matches; 0 where none does."""
        return next((number for number, line in self.lines(path) if re.search(pattern, line)), 0)

    def find_arg(self, path: str, name: str, value: str) -> int:
        """The line of the ARG that gives ``name`` its ``value``: the last one with any, as it overrides."""
        found = [
            (number, match[1].strip("\"'"))
            for number, line in self.lines(path)
            if (match := re.match(rf"\s*ARG\s+{name}=(\"[^\"]*\"|'[^']*'|\S+)", line))
        ]
        if not found:
            return 0
        if found[-1][1] != value:
            raise SystemExit(f"{self.folder}/{path}:{found[-1][0]}: {name} is not {value}, as the data says")
        return found[-1][0]

    def requirements(self, path: str, *, follow: bool) -> dict[str, list[str]]:
        """By file "line text" of each requirement, normalised; ``follow`` reads what ``-r`` includes, too."""
        found: dict[str, list[str]] = {}
        for number, line in self.lines(path):
            text = re.sub(r"(^|\s)#.*$", "", line).strip()
            if match := re.match(r"-r\s+(\S+)", text):
                if follow:
                    found |= self.requirements((Path(path).parent / match[1]).as_posix(), follow=True)
            elif text and not text.startswith("-"):
                try:
                    found.setdefault(path, []).append(f"{number} {Requirement(text)}")
                except InvalidRequirement:
                    raise SystemExit(f"{self.folder}/{path}:{number}: not a requirement: {text}") from None
        return found

    def picks(self, path: str) -> list[tuple[str, str, int]]:
        """(stage, short commit, line) of each ``git cherry-pick`` in a Dockerfile's RUN lines."""
        return self._in_stages(path, r"git cherry-pick(?:\s+-\S+)*\s+([0-9a-f]{7,40})\b")

    def checkouts(self, path: str) -> list[tuple[str, str, int]]:
        """(stage, commit, line) of each ``git checkout`` of a commit that is written there and no ARG."""
        return self._in_stages(path, r"git checkout\s+([0-9a-f]{7,40})\b")

    def _in_stages(self, path: str, pattern: str) -> list[tuple[str, str, int]]:
        stage, found = "", list[tuple[str, str, int]]()
        for number, line in self.lines(path):
            if match := re.match(r"\s*FROM\s+\S+\s+AS\s+(\S+)", line, re.IGNORECASE):
                stage = match[1]
            found += [(stage, commit, number) for commit in re.findall(pattern, line)]
        return found
