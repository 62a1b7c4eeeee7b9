"""Line numbers of facts in upstream files: the extracts that are read keep true line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement


@dataclass(frozen=True, slots=True)
class RawFiles:
    """The stored files of one release; ``folder`` may not exist, then nothing is known of any line."""

    folder: Path

    def has(self, path: str) -> bool:
        return (self.folder / path).is_file()

    def lines(self, path: str) -> list[str]:
        file = self.folder / path
        return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []

    def find(self, path: str, pattern: str) -> int:
        """The first line (from 1) that matches; 0 where none does."""
        for number, line in enumerate(self.lines(path), 1):
            if re.search(pattern, line):
                return number
        return 0

    def find_arg(self, path: str, name: str) -> int:
        """The line of the ARG that sets ``name``: the last one with a value, as later ones override."""
        numbers = [
            number for number, line in enumerate(self.lines(path), 1) if re.match(rf"\s*ARG\s+{name}=", line)
        ]
        return numbers[-1] if numbers else 0

    def requirements(self, path: str, *, follow: bool) -> list[tuple[str, str, int]] | None:
        """(PEP 508 text, file, line) of a requirement file; ``follow`` reads what ``-r`` includes, too.

        None where the file is not stored.
        """
        if not self.has(path):
            return None
        found: list[tuple[str, str, int]] = []
        for number, line in enumerate(self.lines(path), 1):
            text = re.sub(r"(^|\s)#.*$", "", line).strip()
            if match := re.match(r"-r\s+(\S+)", text):
                if follow:
                    inner = (Path(path).parent / match[1]).as_posix()
                    found += self.requirements(str(Path(inner)), follow=True) or []
            elif text and not text.startswith("-"):
                try:
                    found.append((str(Requirement(text)), path, number))
                except InvalidRequirement:
                    raise SystemExit(f"{self.folder}/{path}:{number}: not a requirement: {text}") from None
        return found

    def picks(self, path: str) -> list[tuple[str, str, int]]:
        """(package stage, short commit, line) of every ``git cherry-pick`` in a Dockerfile's RUN lines."""
        stage, found = "", list[tuple[str, str, int]]()
        for number, line in enumerate(self.lines(path), 1):
            if match := re.match(r"\s*FROM\s+\S+\s+AS\s+(\S+)", line, re.IGNORECASE):
                stage = match[1]
            for commit in re.findall(r"git cherry-pick(?:\s+-\S+)*\s+([0-9a-f]{7,40})", line):
                found.append((stage, commit, number))
        return found
