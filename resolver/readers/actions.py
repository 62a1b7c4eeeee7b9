"""What the ``RUN`` lines of a Dockerfile do to sources: clone, check out, pick, patch, edit, with lines."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .docker_lines import Instruction, LineText
from .dockerfile import Dockerfile, Scope, Stage
from .exec_form import shell_text
from .git_commands import GitCommand, parse_git
from .shell import Command, Word, join_folder, split_script
from .variables import CannotExpand, Lookup

_PREFIXES = frozenset({"sudo", "exec", "command", "env", "nice", "nohup", "time"})
_READ_ONLY = frozenset(
    "config log status show rev-parse rev-list describe diff ls-files ls-remote ls-tree blame grep gc help "
    "version cat-file for-each-ref fsck count-objects check-ignore name-rev archive bundle init commit add tag "
    "branch lfs".split()
)
_MOVES = frozenset({"reset", "revert", "merge", "rebase", "pull", "restore", "rm", "mv", "stash", "clean"})
_EDITS_FILES = frozenset({">", ">>", "&>", ">|"})


@dataclass(frozen=True, slots=True)
class Action:
    """One thing done to a tree of sources.

    ``kind``: ``clone``, ``checkout``, ``cherry-pick``, ``fetch``, ``submodule``, ``patch`` (git apply, git am,
    patch), ``edit`` (sed -i, perl -i, a redirect or COPY into the tree), the verb itself for reset, revert,
    merge, rebase, pull and the like, ``other`` for git verbs that are not known.

    ``repository`` is the URL that the tree was cloned from (empty: unknown). ``folder`` is the place in the tree:
    "" is its root, None is not known. ``refs`` are commits, branches or ranges; for ``clone`` the ``--branch``.
    ``files`` are patches or edited files. ``note`` says what makes the action unusual.
    """

    kind: str
    stage: str
    line: int
    repository: str
    folder: str | None
    refs: tuple[Word, ...]
    conditional: bool
    text: str
    files: tuple[Word, ...] = ()
    note: str = ""
    url: Word | None = None
    """Of a clone as evaluated, and of a fetch or remote by URL."""
    root: str | None = None
    """Folder of the tree in the image, where known."""


@dataclass(slots=True)
class _Tree:
    url: str
    root: str | None


def find_actions(dockerfile: Dockerfile, *, extract: bool = False) -> list[Action]:
    """All actions in the order of the file. ``extract``: as for :func:`.dockerfile.parse_dockerfile`.

    Not followed: scripts that are copied in, changes by other programs than git, patch, sed and perl.
    Raises PIN_UNREADABLE for a command that could change sources and cannot be read.
    """
    folders, trees = list[str | None](), list[list[_Tree]]()
    found = list[Action]()
    for stage in dockerfile.stages:
        # A stage on an image begins in a folder that only the image knows; "/" is what most have.
        reader = _StageReader(dockerfile, stage, extract=extract)
        if stage.base is not None:
            reader.folder, reader.trees = folders[stage.base], list(trees[stage.base])
        for instruction in stage.instructions:
            found += reader.read(instruction)
        folders.append(reader.folder)
        trees.append(reader.trees)
    return found


def run_commands(
    dockerfile: Dockerfile,
    stage: Stage,
    instruction: Instruction,
    folder: str | None,
    *,
    extract: bool = False,
) -> list[Command]:
    """The simple commands of one RUN, evaluated in its stage."""
    source = shell_text(instruction, dockerfile.escape, dockerfile.path)
    if source is None:
        return []
    # The first line of an extract's command may be missing, and with it the folder.
    start = None if source.text.lstrip().startswith(("&&", "||", ";", "|")) else folder
    lookup = _lookup(stage.scope_at(instruction.line))
    return split_script(source, dockerfile.path, lookup, start, extract=extract)


def _lookup(scope: Scope) -> Lookup:
    def lookup(name: str) -> str | None:
        setting = scope.get(name)
        if setting is None:
            return None
        if setting.value is None or setting.unset:
            raise CannotExpand(f"{name} is not known from the file alone")
        return setting.value

    return lookup


class _StageReader:
    def __init__(self, dockerfile: Dockerfile, stage: Stage, *, extract: bool) -> None:
        self.dockerfile, self.stage, self.extract = dockerfile, stage, extract
        self.folder: str | None = "/"
        self.trees = list[_Tree]()
        self.fetched: dict[str | None, tuple[Word, ...]] = {}

    def read(self, instruction: Instruction) -> Iterator[Action]:
        if instruction.keyword == "WORKDIR":
            target = self._words(instruction)
            self.folder = join_folder(self.folder, target[0].text) if len(target) == 1 else None
        elif instruction.keyword in ("COPY", "ADD"):
            yield from self._copied(instruction)
        elif instruction.keyword == "RUN":
            for command in run_commands(
                self.dockerfile, self.stage, instruction, self.folder, extract=self.extract
            ):
                yield from self._command(command)

    def _words(self, instruction: Instruction) -> tuple[Word, ...]:
        """The operands of COPY, ADD and WORKDIR; these are read like the words of a command."""
        lookup = _lookup(self.stage.scope_at(instruction.line))
        body = LineText(f"x {instruction.body.text}", ((0, instruction.line),))
        found = split_script(body, self.dockerfile.path, lookup, None, extract=True)
        words = found[0].words[1:] if found else ()
        return tuple(word for word in words if not word.text.startswith("--"))

    def _copied(self, instruction: Instruction) -> Iterator[Action]:
        words = self._words(instruction)
        if len(words) < 2:
            return
        target = join_folder(self.folder, words[-1].text)
        git = re.fullmatch(r"((?:https?|git|ssh)://\S+?\.git|git@\S+?)(?:#([^:]*)(?::.*)?)?", words[0].text)
        if instruction.keyword == "ADD" and git:
            self.trees.append(_Tree(git[1], target))
            refs = (Word(git[2], words[0].known, words[0].variables),) if git[2] else ()
            yield self._action(
                "clone", instruction.line, target, refs, text=instruction.body.text, url=words[0]
            )
        elif self._tree(target) and target is not None:
            yield self._action("edit", instruction.line, target, text=instruction.body.text, files=words[:-1])

    def _command(self, command: Command) -> Iterator[Action]:
        words = command.words
        while words and words[0].text in _PREFIXES:
            words = words[1:]
            while words and (words[0].text.startswith("-") or "=" in words[0].text):
                words = words[1:]
        command = replace(command, words=words)
        if command.name == "git":
            git = parse_git(words)
            if git:
                yield from self._git(command, git)
        elif command.name == "patch":
            named = [
                after for word, after in zip(words, words[1:], strict=False) if word.text in ("-i", "--input")
            ]
            files = (*named, *(word for sign, word in command.redirects if sign == "<"))
            yield self._of(command, "patch", files=files or self._piped(command))
        elif command.name in ("sed", "perl") and any(_edits_in_place(word.text) for word in words[1:]):
            yield from self._edited(
                command, tuple(word for word in words[1:] if not word.text.startswith("-"))[-1:]
            )
        for sign, word in command.redirects:
            target = join_folder(command.folder, word.text)
            if sign in _EDITS_FILES and target and self._tree(target) and not target.startswith("/dev/"):
                yield self._of(command, "edit", files=(word,), folder=posixpath.dirname(target))

    def _edited(self, command: Command, files: tuple[Word, ...]) -> Iterator[Action]:
        """Edits outside of every tree are the image's own business."""
        target = join_folder(command.folder, files[0].text) if files and files[0].known else None
        if target is None or self._tree(target):
            folder = posixpath.dirname(target) if target else None
            absolute = bool(files) and files[0].text.startswith(("/", '"/'))
            if not (absolute and target is None):
                yield self._of(command, "edit", files=files, folder=folder)

    def _git(self, command: Command, git: GitCommand) -> Iterator[Action]:
        folder = join_folder(command.folder, git.folder) if git.folder else command.folder
        if git.verb == "clone":
            yield from self._clone(command, git, folder)
        elif git.verb == "remote":
            if git.operands and git.operands[0].text in ("add", "set-url") and len(git.operands) == 3:
                if self._tree(folder) is None and folder is not None and git.operands[1].text == "origin":
                    self.trees.append(_Tree(git.operands[2].text, folder))
                    yield self._of(command, "clone", folder=folder, url=git.operands[2])
                else:
                    yield self._of(command, "remote", folder=folder, url=git.operands[2])
        elif git.verb == "fetch":
            remote, *refs = git.operands or (Word("origin"),)
            self.fetched[folder] = tuple(refs)
            url = remote if ":" in remote.text or "/" in remote.text else None
            yield self._of(command, "fetch", refs=tuple(refs), folder=folder, url=url)
        elif git.verb in ("checkout", "switch"):
            yield self._checkout(command, git, folder)
        elif git.verb == "cherry-pick":
            if git.operands or not git.options.keys() & {"--abort", "--continue", "--skip", "--quit"}:
                yield self._of(command, "cherry-pick", refs=self._named(git.operands, folder), folder=folder)
        elif git.verb in ("apply", "am"):
            files = (*git.operands, *git.paths, *(word for sign, word in command.redirects if sign == "<"))
            yield self._of(command, "patch", files=files or self._piped(command), folder=folder)
        elif git.verb == "submodule":
            verb = git.operands[0].text if git.operands else "status"
            moving = "--remote" in git.options or verb not in (
                "update",
                "init",
                "sync",
                "status",
                "foreach",
                "summary",
            )
            note = f"submodule {verb}{' --remote' if '--remote' in git.options else ''}" if moving else ""
            yield self._of(command, "submodule", folder=folder, note=note)
        elif git.verb in _MOVES:
            yield self._of(command, git.verb, refs=self._named(git.operands, folder), folder=folder)
        elif git.verb not in _READ_ONLY:
            yield self._of(command, "other", folder=folder, note=f"git {git.verb}")

    def _clone(self, command: Command, git: GitCommand, folder: str | None) -> Iterator[Action]:
        if not git.operands:
            return
        url = git.operands[0]
        name = git.operands[1].text if len(git.operands) > 1 else _clone_folder(url.text)
        root = join_folder(folder, name)
        self.trees.append(_Tree(url.text, root))
        named = [git.options[name] for name in ("-b", "--branch", "--revision") if name in git.options]
        yield self._of(command, "clone", refs=tuple(named), folder=root, url=url)

    def _checkout(self, command: Command, git: GitCommand, folder: str | None) -> Action:
        new = next((name for name in ("-b", "-B", "-c", "-C", "--orphan") if name in git.options), "")
        note = f"a new branch {git.options[new].text}" if new else ""
        if git.paths or len(git.operands) > 1:
            return self._of(
                command, "edit", refs=git.operands[:1], files=git.operands[1:] + git.paths, folder=folder,
                note="files from another commit",
            )  # fmt: skip
        return self._of(command, "checkout", refs=self._named(git.operands, folder), folder=folder, note=note)

    def _named(self, operands: tuple[Word, ...], folder: str | None) -> tuple[Word, ...]:
        """``FETCH_HEAD`` is what the last fetch in that folder named."""
        fetched = self.fetched.get(folder, ())
        return tuple(fetched[0] if word.text == "FETCH_HEAD" and fetched else word for word in operands)

    def _piped(self, command: Command) -> tuple[Word, ...]:
        before = command.before
        if before is None:
            return ()
        return tuple(word for word in before.words[1:] if re.match(r"\w+://", word.text))

    def _tree(self, folder: str | None) -> _Tree | None:
        """The innermost tree that holds a folder; of an unknown folder, None."""
        if folder is None:
            return None
        held = [
            tree
            for tree in self.trees
            if tree.root and (folder == tree.root or folder.startswith(tree.root + "/"))
        ]
        return max(held, key=lambda tree: len(tree.root or ""), default=None)

    def _of(
        self,
        command: Command,
        kind: str,
        *,
        refs: tuple[Word, ...] = (),
        files: tuple[Word, ...] = (),
        folder: str | None = "",
        note: str = "",
        url: Word | None = None,
    ) -> Action:
        text = " ".join(word.text for word in command.words)
        place = command.folder if folder == "" else folder
        action = self._action(kind, command.line, place, refs, text=text, files=files, url=url)
        return replace(action, conditional=command.conditional, note=note)

    def _action(
        self,
        kind: str,
        line: int,
        place: str | None,
        refs: tuple[Word, ...] = (),
        *,
        text: str,
        files: tuple[Word, ...] = (),
        url: Word | None = None,
    ) -> Action:
        tree = self._tree(place) or (self.trees[-1] if place is None and self.trees else None)
        inside = (
            None
            if place is None or tree is None or tree.root is None
            else posixpath.relpath(place, tree.root)
        )
        where = "" if inside == "." else inside
        repository, root = (tree.url, tree.root) if tree else ("", None)
        return Action(kind, self.stage.name, line, repository, where, refs, False, text, files, "", url, root)


def _clone_folder(url: str) -> str:
    """The folder that ``git clone URL`` makes."""
    return posixpath.basename(url.rstrip("/")).removesuffix(".git").rpartition(":")[2]


def _edits_in_place(option: str) -> bool:
    return option.startswith("--in-place") or re.match(r"-[a-zA-Z]*i", option) is not None
