"""What git commands do to trees of sources."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from .action import Action, Trees
from .git_commands import GitCommand, parse_git
from .shell import Command, join_folder
from .shell_words import Word

_READ_ONLY = frozenset(
    {
        "add", "archive", "blame", "branch", "bundle", "cat-file", "check-ignore", "commit", "config",
        "count-objects", "describe", "diff", "for-each-ref", "fsck", "gc", "grep", "help", "init", "lfs",
        "log", "ls-files", "ls-remote", "ls-tree", "name-rev", "rev-list", "rev-parse", "show", "status",
        "tag", "version",
    }
)  # fmt: skip
_MOVES = frozenset({"reset", "revert", "merge", "rebase", "pull", "restore", "rm", "mv", "stash", "clean"})
_KEEPING = frozenset({"update", "init", "sync", "status", "foreach", "summary"})
_NO_PICK = frozenset({"--abort", "--continue", "--skip", "--quit"})


class GitReader:
    """Reads the git commands of one stage in their order; remembers what was fetched."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees
        # By folder, what FETCH_HEAD and local branches (of REF:BRANCH) stand for, and from which URL.
        self.fetched: dict[str | None, dict[str, tuple[Word, Word | None]]] = {}

    def read(self, command: Command) -> Iterator[Action]:
        """The actions of a command ``git …``: none, one, or for ``remote add origin`` in a new folder a
        clone.
        """
        git = parse_git(command.words)
        if git is None:
            return
        folder = join_folder(command.folder, git.folder) if git.folder else command.folder
        reader = {
            "clone": self._clone,
            "remote": self._remote,
            "fetch": self._fetch,
            "checkout": self._checkout,
            "switch": self._checkout,
            "cherry-pick": self._pick,
            "apply": self._patch,
            "am": self._patch,
            "submodule": self._submodule,
        }.get(git.verb)
        if reader:
            yield from reader(command, git, folder)
        elif git.verb in _MOVES:
            refs, note = self._named(git.operands, folder)
            yield self.trees.of(command, git.verb, folder, refs=refs, note=note)
        elif git.verb not in _READ_ONLY:
            yield self.trees.of(command, "other", folder, note=f"git {git.verb}")

    def _clone(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        if not git.operands:
            return
        url = git.operands[0]
        name = git.operands[1].text if len(git.operands) > 1 else _clone_folder(url.text)
        root = join_folder(folder, name)
        self.trees.add(url.text, root)
        refs = tuple(git.options[name] for name in ("-b", "--branch", "--revision") if name in git.options)
        yield self.trees.of(command, "clone", root, refs=refs, url=url)

    def _remote(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        if len(git.operands) != 3 or git.operands[0].text not in ("add", "set-url"):
            return
        url, new = git.operands[2], folder is not None and self.trees.find(folder) is None
        if new and git.operands[1].text == "origin":
            self.trees.add(url.text, folder)
            yield self.trees.of(command, "clone", folder, url=url)
        else:
            yield self.trees.of(command, "remote", folder, url=url)

    def _fetch(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        remote, *specs = git.operands or (Word("origin"),)
        url = remote if ":" in remote.text or "/" in remote.text else None
        names = self.fetched.setdefault(folder, {})
        names.pop("FETCH_HEAD", None)
        for spec in specs:
            source, _, target = spec.text.removeprefix("+").partition(":")
            held = (Word(source, spec.known, spec.variables), url)
            names.setdefault("FETCH_HEAD", held)
            if target:
                names[target.removeprefix("refs/heads/")] = held
        yield self.trees.of(command, "fetch", folder, refs=tuple(specs), url=url)

    def _checkout(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        files = git.operands[1:] + git.paths
        if files:
            note = "files from another commit"
            yield self.trees.of(command, "edit", folder, refs=git.operands[:1], files=files, note=note)
        elif git.operands:  # without any, only a branch is made where one stands
            refs, note = self._named(git.operands, folder)
            yield self.trees.of(command, "checkout", folder, refs=refs, note=note)

    def _pick(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        if git.options.keys() & _NO_PICK:
            return
        refs, note = self._named(git.operands, folder)
        yield self.trees.of(command, "cherry-pick", folder, refs=refs, note=note)

    def _patch(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        files = (*git.operands, *git.paths)
        yield self.trees.of(command, "patch", folder, files=files or patch_input(command))

    def _submodule(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        verb = git.operands[0].text if git.operands else "status"
        moving = "--remote" in git.options or verb not in _KEEPING
        note = f"submodule {verb}{' --remote' if '--remote' in git.options else ''}" if moving else ""
        yield self.trees.of(command, "submodule", folder, note=note)

    def _named(self, operands: tuple[Word, ...], folder: str | None) -> tuple[tuple[Word, ...], str]:
        """The operands, local names of what was fetched replaced, and a note where it came by a URL."""
        held = self.fetched.get(folder, {})
        found = [held.get(word.text, (word, None)) for word in operands]
        urls = [url.text for _, url in found if url]
        return tuple(word for word, _ in found), f"fetched from {urls[0]}" if urls else ""


def patch_input(command: Command) -> tuple[Word, ...]:
    """What a command reads from its standard input: a file, or URLs of the command piped into it."""
    files = tuple(word for sign, word in command.redirects if sign == "<")
    if files or command.before is None:
        return files
    return tuple(word for word in command.before.words[1:] if re.match(r"\w+://", word.text))


def _clone_folder(url: str) -> str:
    """The folder that ``git clone URL`` makes."""
    return posixpath.basename(url.rstrip("/")).removesuffix(".git").rpartition(":")[2]
