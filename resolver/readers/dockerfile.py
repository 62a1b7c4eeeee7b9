"""Dockerfiles: stages, and the value of every ``ARG`` and ``ENV`` with the line that sets it.

Evaluated as ``docker build`` without ``--build-arg``. Source of the rules: the Dockerfile reference ("ARG",
"ENV", "Understand how ARG and FROM interact"). Nothing is run, and no image is looked at: a variable that
only the base image could set is named in :attr:`Setting.unset`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .docker_lines import DockerLines, Instruction, parse_lines
from .images import Image, parse_image
from .source_text import refuse
from .variables import CannotExpandError, expand, references, split_words

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
GLOBAL = -1
"""The stage of what stands before the first ``FROM``."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One ``ARG`` or ``ENV`` that gives a name its value.

    ``raw`` is as written; ``value`` is None where it is not computed (``problem`` says why). ``line`` is
    the line that states the value: for ``ENV X=${Y}`` and for an ``ARG X`` without default, that of the
    original. ``comment`` is what follows a ``#`` behind an ARG. To Docker these words are further ARGs that
    nobody uses, so ``ARG X="y" # comment`` works.
    """

    name: str
    value: str | None
    line: int
    keyword: str
    stage: int
    raw: str
    comment: str = ""
    unset: tuple[str, ...] = ()
    problem: str = ""


Scope = Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Stage:
    """``reference`` is the image or stage that ``FROM`` names, evaluated; ``base`` is the index of that
    stage.

    ``scopes`` are (line, what an instruction from that line on sees), in order of lines.
    """

    index: int
    name: str
    reference: str
    line: int
    base: int | None
    image: Image | None
    instructions: tuple[Instruction, ...]
    scopes: tuple[tuple[int, Scope], ...]

    def scope_at(self, line: int = 1 << 30) -> Scope:
        """What an instruction on ``line`` sees; by default, what is set at the end of the stage."""
        return [scope for start, scope in self.scopes if start <= line or start == self.line][-1]


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """``settings`` are in the order of the file, the global ones first."""

    path: str
    escape: str
    global_scope: Scope
    stages: tuple[Stage, ...]
    settings: tuple[Setting, ...]

    def stage(self, name: str) -> Stage | None:
        """The last stage of that name; names have no case."""
        found = [stage for stage in self.stages if stage.name == name.lower()]
        return found[-1] if found else None

    def args(self) -> dict[str, Setting]:
        """The last ``ARG`` of each name that states a value of its own, wherever it stands."""
        return {setting.name: setting for setting in self.settings if setting.keyword == "ARG"}

    def base_images(self) -> list[tuple[int, Image]]:
        """(line, image) of each stage that begins with an image instead of another stage."""
        return [(stage.line, stage.image) for stage in self.stages if stage.image]


def parse_dockerfile(text: str, path: str, *, extract: bool = False) -> Dockerfile:
    """Read a Dockerfile. ``extract``: see :func:`.docker_lines.parse_lines`.

    Raises PIN_UNREADABLE with file and line for what Docker would refuse.
    """
    lines = parse_lines(text, path, extract=extract)
    reader = _Reader(path, lines)
    for instruction in lines.instructions:
        reader.take(instruction)
    return reader.finish()


class _Reader:
    def __init__(self, path: str, lines: DockerLines) -> None:
        self.path, self.escape = path, lines.escape
        self.args: dict[str, Setting] = {}
        self.env: dict[str, Setting] = {}
        self.globals: Scope = {}
        self.stages = list[Stage]()
        self.instructions = list[Instruction]()
        self.scopes = list[tuple[int, Scope]]()
        self.settings = list[Setting]()
        # By stage, what the stages built on it inherit.
        self.ends = list[tuple[dict[str, Setting], dict[str, Setting]]]()

    def finish(self) -> Dockerfile:
        if not self.stages:
            raise refuse(self.path, 0, "There is no FROM in it.")
        self._close()
        return Dockerfile(self.path, self.escape, self.globals, tuple(self.stages), tuple(self.settings))

    def take(self, instruction: Instruction) -> None:
        if instruction.keyword == "FROM":
            self._from(instruction)
            return
        if self.stages:
            self.instructions.append(instruction)
        elif instruction.keyword != "ARG":
            raise refuse(self.path, instruction.line, f"{instruction.keyword} stands before the first FROM.")
        if instruction.keyword == "ARG":
            self._arg(instruction)
        elif instruction.keyword == "ENV":
            self._env(instruction)
        else:
            return
        self.scopes.append((instruction.end + 1, self._scope()))

    def _scope(self) -> Scope:
        """ENV wins over ARG of the same name, whichever comes first."""
        return {**self.args, **self.env}

    def _close(self) -> None:
        if self.stages:
            self.stages[-1] = replace(
                self.stages[-1], instructions=tuple(self.instructions), scopes=tuple(self.scopes)
            )
            self.ends.append((self.args, self.env))
        else:
            self.globals = self._scope()
        self.instructions, self.scopes, self.args, self.env = [], [], {}, {}

    def _from(self, instruction: Instruction) -> None:
        self._close()
        words = [word for word in instruction.body.text.split() if not word.startswith("--")]
        if len(words) not in (1, 3) or (len(words) == 3 and words[1].lower() != "as"):
            raise refuse(self.path, instruction.line, "FROM needs an image, and may give it a name with AS.")
        try:
            reference, _ = expand(words[0], lambda name: _value(self.globals, name), self.escape)
        except CannotExpandError as error:
            raise refuse(self.path, instruction.line, f"The image is not computed: {error}.") from None
        if not reference:
            raise refuse(self.path, instruction.line, f"FROM {words[0]} names no image.")
        name = words[2].lower() if len(words) == 3 else ""
        base = next((stage.index for stage in reversed(self.stages) if stage.name == reference.lower()), None)
        if base is not None:
            self.args, self.env = (dict(held) for held in self.ends[base])
        image = parse_image(reference) if base is None else None
        line = instruction.line
        self.stages.append(Stage(len(self.stages), name, reference, line, base, image, (), ()))
        self.scopes.append((line, self._scope()))

    def _arg(self, instruction: Instruction) -> None:
        words, comment = _without_comment(list(split_words(instruction.body.text, self.escape)))
        if not words:
            raise refuse(self.path, instruction.line, "ARG names nothing.")
        for word in words:
            name, equals, raw = word.partition("=")
            name = name.strip("\"'")
            if not _NAME.fullmatch(name):
                raise refuse(self.path, instruction.line, f"{name[:40]!r} is no name for an ARG.")
            if equals:
                self.args[name] = self._set(name, raw, instruction, word, comment=comment)
            elif name in self.globals and self.stages:
                self.args[name] = self.globals[name]

    def _env(self, instruction: Instruction) -> None:
        words = list(split_words(instruction.body.text, self.escape))
        if not words:
            raise refuse(self.path, instruction.line, "ENV names nothing.")
        if "=" not in words[0]:  # the old form: ENV NAME the rest of the line
            name, *rest = instruction.body.text.strip().split(maxsplit=1)
            if not rest:
                raise refuse(self.path, instruction.line, f"ENV {name} has no value.")
            words = [f"{name}={rest[0]}"]
        made = dict[str, Setting]()
        for word in words:
            name, equals, raw = word.partition("=")
            if not equals or not name:
                raise refuse(
                    self.path, self._line_of(instruction, word), f"{word[:40]!r} gives no name a value."
                )
            made[name.strip("\"'")] = self._set(name.strip("\"'"), raw, instruction, word)
        self.env |= made

    def _line_of(self, instruction: Instruction, word: str) -> int:
        return instruction.body.line_at(max(instruction.body.text.find(word), 0))

    def _set(
        self,
        name: str,
        raw: str,
        instruction: Instruction,
        word: str,
        *,
        comment: str = "",
    ) -> Setting:
        seen = self._scope()
        line, stage = self._line_of(instruction, word), len(self.stages) - 1
        setting = Setting(name, None, line, instruction.keyword, stage, raw.strip("\"'"), comment)
        try:
            value, unset = expand(raw, lambda used: _value(seen, used), self.escape)
        except CannotExpandError as error:
            setting = replace(setting, problem=str(error))
        else:
            origin = _copied_from(raw, seen)
            place = (origin.line, origin.comment) if origin and not comment else (line, comment)
            setting = replace(setting, value=value, unset=unset, line=place[0], comment=place[1])
        self.settings.append(setting)
        return setting


def _value(scope: Scope, name: str) -> str | None:
    setting = scope.get(name)
    if setting is None:
        return None
    if setting.value is None:
        raise CannotExpandError(setting.problem)
    return setting.value


def _copied_from(raw: str, scope: Scope) -> Setting | None:
    """The setting that a value is a plain copy of."""
    names = references(raw)
    if len(names) == 1 and raw.strip('"') in (f"${names[0]}", f"${{{names[0]}}}"):
        return scope.get(names[0])
    return None


def _without_comment(words: list[str]) -> tuple[list[str], str]:
    """The words before the first that begins with ``#``, and the text from there on."""
    at = next((index for index, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:at], " ".join(words[at:]).lstrip("#").strip()
