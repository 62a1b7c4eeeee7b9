"""One thing that a Dockerfile does to a tree of sources, and which tree a folder belongs to."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from .shell import Command
from .shell_words import Word


@dataclass(frozen=True, slots=True)
class Action:
    """``kind`` is one of ``clone``, ``checkout``, ``cherry-pick``, ``fetch``, ``remote``, ``submodule``,
    ``patch`` (git apply, git am, patch), ``edit`` (sed -i, perl -i, files of another commit, a redirect or
    COPY into the tree), the verb itself for reset, revert, merge, rebase, pull and the like, ``other`` for
    a git verb that is not known.

    ``repository`` is the URL that the tree was cloned from (empty: unknown), ``root`` its folder in the
    image. ``folder`` is the place in the tree: "" is its root, None is not known. ``refs`` are commits,
    branches or ranges; for ``clone`` the ``--branch``. ``files`` are patches or edited files. ``url`` is
    that of a clone, a fetch or a remote. ``note`` says what makes the action unusual.
    """

    kind: str
    stage: str
    line: int
    text: str
    repository: str
    root: str | None
    folder: str | None
    conditional: bool
    refs: tuple[Word, ...] = ()
    files: tuple[Word, ...] = ()
    url: Word | None = None
    note: str = ""


class Trees:
    """The clones of one stage, those of the stages it is built on included."""

    def __init__(self, stage: str, inherited: tuple[tuple[str, str | None], ...] = ()) -> None:
        self.stage = stage
        self.roots = list(inherited)
        """(URL, folder or None) of each clone."""

    def add(self, url: str, root: str | None) -> None:
        """A new clone."""
        self.roots.append((url, root))

    def find(self, folder: str | None) -> tuple[str, str] | None:
        """The innermost clone that holds a folder; of several in one place the last."""
        found: tuple[str, str] | None = None
        for url, root in self.roots:
            inside = (
                folder is not None and root is not None and f"{folder}/".startswith(f"{root.rstrip('/')}/")
            )
            if inside and root is not None and (found is None or len(root) >= len(found[1])):
                found = (url, root)
        return found

    def action(
        self,
        kind: str,
        place: str | None,
        line: int,
        text: str,
        *,
        conditional: bool = False,
        refs: tuple[Word, ...] = (),
        files: tuple[Word, ...] = (),
        url: Word | None = None,
        note: str = "",
    ) -> Action:
        """The action in a folder of the image. Of an unknown folder the last clone is taken, its place
        unknown.
        """
        repository, root, folder = "", None, None
        if held := self.find(place):
            repository, root = held
            inside = posixpath.relpath(place or root, root)
            folder = "" if inside == "." else inside
        elif place is None and self.roots:
            repository, root = self.roots[-1]
        return Action(
            kind, self.stage, line, text, repository, root, folder, conditional, refs, files, url, note
        )

    def of(
        self,
        command: Command,
        kind: str,
        place: str | None,
        *,
        refs: tuple[Word, ...] = (),
        files: tuple[Word, ...] = (),
        url: Word | None = None,
        note: str = "",
    ) -> Action:
        """The action of a command."""
        text = " ".join(word.text for word in command.words)
        return self.action(
            kind,
            place,
            command.line,
            text,
            conditional=command.conditional,
            refs=refs,
            files=files,
            url=url,
            note=note,
        )
