"""What the instructions of a Dockerfile do to sources: clone, check out, pick, patch, edit, with lines."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from .action import Action, Trees
from .docker_lines import Instruction, LineText
from .dockerfile import Dockerfile, Scope, Stage
from .exec_form import shell_text
from .git_actions import GitReader, patch_input
from .shell import Command, join_folder, split_script
from .shell_words import Word
from .variables import CannotExpandError, Lookup

_PREFIXES = frozenset({"sudo", "exec", "command", "env", "nice", "nohup", "time"})
_WRITES = frozenset({">", ">>", "&>", "&>>", ">|"})
_GIT_URL = re.compile(r"((?:https?|git|ssh)://\S+?\.git|git@\S+?)(?:#([^:]*)(?::.*)?)?")


def find_actions(dockerfile: Dockerfile, *, extract: bool = False) -> list[Action]:
    """All actions in the order of the file. ``extract``: as for :func:`.dockerfile.parse_dockerfile`.

    Not followed: scripts that are copied in, changes by other programs than git, patch, sed and perl.
    Raises PIN_UNREADABLE for a command that could change sources and cannot be read.
    """
    readers, found = list[_StageReader](), list[Action]()
    for stage in dockerfile.stages:
        base = readers[stage.base] if stage.base is not None else None
        reader = _StageReader(dockerfile, stage, base, extract=extract)
        for instruction in stage.instructions:
            found += reader.read(instruction)
        readers.append(reader)
    return found


def run_commands(
    dockerfile: Dockerfile,
    stage: Stage,
    instruction: Instruction,
    folder: str | None,
    *,
    extract: bool = False,
) -> list[Command]:
    """The simple commands of one RUN, evaluated in its stage; none of a script for another interpreter."""
    source = shell_text(instruction, dockerfile.path)
    if source is None:
        return []
    # The first line of an extract's command may be missing, and with it the folder.
    start = None if source.text.lstrip().startswith(("&&", "||", ";", "|")) else folder
    return split_script(source, dockerfile.path, _lookup(stage, instruction), start, extract=extract)


def _lookup(stage: Stage, instruction: Instruction) -> Lookup:
    scope: Scope = stage.scope_at(instruction.line)

    def lookup(name: str) -> str | None:
        setting = scope.get(name)
        if setting is None:
            return None
        if setting.value is None or setting.unset:
            raise CannotExpandError(f"{name} is not known from the file alone")
        return setting.value

    return lookup


class _StageReader:
    def __init__(
        self, dockerfile: Dockerfile, stage: Stage, base: _StageReader | None, *, extract: bool
    ) -> None:
        self.dockerfile, self.stage, self.extract = dockerfile, stage, extract
        # Where an image's own WORKDIR is, only the image knows; "/" is what most have.
        self.folder: str | None = base.folder if base else "/"
        self.trees = Trees(stage.name, tuple(base.trees.roots) if base else ())
        self.git = GitReader(self.trees)

    def read(self, instruction: Instruction) -> Iterator[Action]:
        if instruction.keyword == "WORKDIR":
            target = self._words(instruction)
            known = len(target) == 1 and target[0].known
            self.folder = join_folder(self.folder, target[0].text) if known else None
        elif instruction.keyword in ("COPY", "ADD"):
            yield from self._copied(instruction)
        elif instruction.keyword == "RUN":
            for command in run_commands(
                self.dockerfile, self.stage, instruction, self.folder, extract=self.extract
            ):
                yield from self._command(command)

    def _words(self, instruction: Instruction) -> tuple[Word, ...]:
        """The operands of COPY, ADD and WORKDIR; these are read like the words of a command."""
        body = LineText(f": {instruction.body.text}", ((0, instruction.line),))
        lookup = _lookup(self.stage, instruction)
        found = split_script(body, self.dockerfile.path, lookup, None, extract=True)
        words = found[0].words[1:] if found else ()
        return tuple(word for word in words if not word.text.startswith("--"))

    def _copied(self, instruction: Instruction) -> Iterator[Action]:
        words = self._words(instruction)
        if len(words) < 2:
            return
        target = join_folder(self.folder, words[-1].text)
        text, line = f"{instruction.keyword} {instruction.body.text}", instruction.line
        git = _GIT_URL.fullmatch(words[0].text) if instruction.keyword == "ADD" else None
        if git:
            self.trees.add(git[1], target)
            refs = (replace(words[0], text=git[2]),) if git[2] else ()
            url = replace(words[0], text=git[1])
            yield self.trees.action("clone", target, line, text, refs=refs, url=url)
        elif self.trees.find(target):
            yield self.trees.action("edit", target, line, text, files=words[:-1])

    def _command(self, command: Command) -> Iterator[Action]:
        command = replace(command, words=_without_prefix(command.words))
        if command.name == "git":
            yield from self.git.read(command)
        elif command.name == "patch":
            named = (after for word, after in pairwise(command.words) if word.text in ("-i", "--input"))
            files = tuple(named) or patch_input(command)
            yield self.trees.of(command, "patch", command.folder, files=files)
        elif command.name in ("sed", "perl") and any(_in_place(word.text) for word in command.words[1:]):
            yield from self._edited(command)
        for sign, word in command.redirects:
            target = join_folder(command.folder, word.text) if word.known else None
            if sign in _WRITES and self.trees.find(target):
                yield self.trees.of(command, "edit", posixpath.dirname(target or ""), files=(word,))

    def _edited(self, command: Command) -> Iterator[Action]:
        """Edits outside of every tree are the image's own business."""
        files = tuple(word for word in command.words[1:] if not word.text.startswith("-"))[-1:]
        target = join_folder(command.folder, files[0].text) if files and files[0].known else None
        if target is None or self.trees.find(target):
            place = posixpath.dirname(target) if target else None
            yield self.trees.of(command, "edit", place, files=files)


def _without_prefix(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """``sudo -E git …`` as ``git …``."""
    while words and words[0].text in _PREFIXES:
        words = words[1:]
        while words and (words[0].text.startswith("-") or "=" in words[0].text):
            words = words[1:]
    return words


def _in_place(option: str) -> bool:
    return option.startswith("--in-place") or re.match(r"-[a-zA-Z]*i", option) is not None
