"""The files of one commit, as far as facts stand in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol


class Files(Protocol):
    """Whoever gives a file of a commit; None where the commit has no such file."""

    def file(self, repository: str, commit: str, path: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Checkout:
    """``where`` is how origins name it: ``package@commit``. A file is asked for once."""

    files: Files
    package: str
    repository: str
    commit: str
    _texts: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    @property
    def where(self) -> str:
        return f"{self.package}@{self.commit}"

    def name_file(self, path: str) -> str:
        """How errors name a file of the commit."""
        return f"{self.repository}@{self.commit[:12]}:{path}"

    def text(self, path: str) -> str | None:
        if path not in self._texts:
            self._texts[path] = self.files.file(self.repository, self.commit, path)
        return self._texts[path]

    def first(self, paths: Iterable[str]) -> tuple[str, str] | None:
        """The path and the text of the first of ``paths`` that is there."""
        for path in paths:
            text = self.text(path)
            if text is not None:
                return path, text
        return None
