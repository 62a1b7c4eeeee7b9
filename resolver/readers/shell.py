"""The shell text of ``RUN`` as simple commands with their lines, folders and evaluated words.

The grammar is tree-sitter's for Bash. Nothing is run: a word that only running could tell is kept as
written and marked. Followed are: plain assignments, ``cd``, ``sh -c``, subshells; what stands in ``if``,
loops, ``case``, functions, or behind ``||`` or a test, is conditional.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from .docker_lines import LineText
from .shell_words import ShellText, Word
from .source_text import refuse
from .variables import CannotExpandError, Lookup

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MAX_DEPTH = 80
_BRANCHES = frozenset({"then", "do", "in"})
_BLOCKS = frozenset(
    {"if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement"}
)
_CHANGES_SOURCES = re.compile(r"\b(?:git|patch|sed|perl)\b")
_SHELLS = frozenset({"sh", "bash", "dash", "/bin/sh", "/bin/bash", "/bin/dash", "/usr/bin/bash"})


@dataclass(frozen=True, slots=True)
class Assignment:
    """``NAME=word`` before a command or by itself. ``pipeline`` are the commands of a value ``$(a | b)``."""

    name: str
    value: Word
    line: int
    conditional: bool
    pipeline: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. ``folder`` is absolute, or None where it is not known.

    ``redirects`` are (operator, target). ``before`` is the command whose output is piped into this one.
    A bare assignment is a command without words.
    """

    words: tuple[Word, ...]
    line: int
    folder: str | None
    conditional: bool
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[tuple[str, Word], ...] = ()
    before: Command | None = None

    @property
    def name(self) -> str:
        """The command's name without its folder; empty for a bare assignment."""
        return posixpath.basename(self.words[0].text) if self.words else ""


def split_script(
    source: LineText, path: str, lookup: Lookup, folder: str | None, *, extract: bool = False
) -> list[Command]:
    """The simple commands of a script in their order, those of ``$(…)`` before the one that uses them.

    ``lookup`` gives the environment, ``folder`` is where the script starts. A text that is no Bash is refused
    (PIN_UNREADABLE) when it could change sources; in an ``extract`` what can be read of it is taken.
    """
    return list(_Script(source, path, lookup, folder, extract=extract).commands())


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


@dataclass(slots=True)
class _State:
    folder: str | None
    # None: assigned, but not to anything that is known.
    variables: dict[str, str | None] = field(default_factory=dict[str, str | None])
    conditional: bool = False
    depth: int = 0


class _Script:
    def __init__(
        self, source: LineText, path: str, lookup: Lookup, folder: str | None, *, extract: bool
    ) -> None:
        self.text, self.path, self.environment, self.extract = ShellText(source), path, lookup, extract
        self.state = _State(folder)

    def commands(self) -> Iterator[Command]:
        root = _parser().parse(self.text.bytes).root_node
        if root.has_error and not self.extract and _CHANGES_SOURCES.search(self.text.source.text):
            line = self.text.line(_first_error(root))
            raise refuse(self.path, line, "The command cannot be read as shell text.")
        yield from self._statements(root)

    @contextmanager
    def _nested(self, node: Node, *, conditional: bool = False, own: bool = False) -> Generator[None]:
        """Keep the state: ``own`` is a shell of its own, whose ``cd`` and variables end with it."""
        state, before = self.state, self.state
        if state.depth >= _MAX_DEPTH:
            raise refuse(
                self.path, self.text.line(node), f"The command is nested more than {_MAX_DEPTH} deep."
            )
        variables = dict(state.variables) if own else state.variables
        self.state = _State(state.folder, variables, state.conditional or conditional, state.depth + 1)
        yield
        folder = before.folder if own or conditional else self.state.folder
        self.state = _State(folder, before.variables, before.conditional, before.depth)

    def _statements(self, node: Node) -> Iterator[Command]:
        for child in node.children:
            yield from self._statement(child)

    def _statement(self, node: Node) -> Iterator[Command]:
        handler: Callable[[Node], Iterator[Command]] | None = {
            "command": self._command,
            "redirected_statement": self._redirected,
            "variable_assignment": self._assigned,
            "variable_assignments": self._assigned,
            "declaration_command": self._assigned,
            "pipeline": self._pipeline,
            "list": self._list,
        }.get(node.type)
        if handler:
            with self._nested(node):
                yield from handler(node)
        elif node.type in _BLOCKS:
            yield from self._block(node)
        elif node.type in ("subshell", "command_substitution", "process_substitution"):
            with self._nested(node, own=True):
                yield from self._statements(node)
        elif node.type == "function_definition":
            with self._nested(node, conditional=True):
                yield from self._statements(node)
        elif node.child_count:
            with self._nested(node):
                yield from self._statements(node)

    def _block(self, node: Node) -> Iterator[Command]:
        """The condition runs for certain, what follows ``then``, ``do`` or ``in`` may not."""
        behind = False
        for child in node.children:
            behind = behind or child.type in _BRANCHES or child.type == "do_group"
            with self._nested(child, conditional=behind):
                yield from self._statement(child)

    def _list(self, node: Node) -> Iterator[Command]:
        """``a && b``, ``a || b``: b is conditional behind ``||``, and behind a test."""
        conditional = False
        for child, redirects in _unrolled(node):
            if child.type in ("&&", "||"):
                conditional = conditional or child.type == "||"
                continue
            with self._nested(child, conditional=conditional):
                made = list(self._statement(child))
                yield from self._redirected_to(made, redirects)
            conditional = conditional or _is_test(child)

    def _pipeline(self, node: Node) -> Iterator[Command]:
        before: Command | None = None
        for child in node.named_children:
            with self._nested(child, own=True):
                made = list(self._statement(child))
            if made:
                made[-1] = before = replace(made[-1], before=before)
            yield from made

    def _redirected(self, node: Node) -> Iterator[Command]:
        body, *redirects = node.named_children
        if body.type == "list":
            yield from self._list(node)
            return
        with self._nested(body):
            made = list(self._statement(body))
        yield from self._redirected_to(made, redirects)

    def _redirected_to(self, made: list[Command], redirects: list[Node]) -> list[Command]:
        targets = tuple(self._redirect(node) for node in redirects if _is_redirect(node))
        if made and targets:
            made[-1] = replace(made[-1], redirects=(*made[-1].redirects, *targets))
        return made

    def _assigned(self, node: Node) -> Iterator[Command]:
        nodes = [node] if node.type == "variable_assignment" else node.named_children
        made = list[Assignment]()
        for child in nodes:
            if child.type == "variable_assignment":
                yield from self._substitutions(child)
                made.append(self._assignment(child))
                known = made[-1].value.known and not self.state.conditional
                self.state.variables[made[-1].name] = made[-1].value.text if known else None
        if made:
            yield Command((), self.text.line(node), self.state.folder, self.state.conditional, tuple(made))

    def _assignment(self, node: Node) -> Assignment:
        name, *rest = node.named_children
        value = rest[-1] if rest else None
        inner = _only_substitution(value) if value else None
        pipeline = tuple(self._inner(inner)) if inner else ()
        word = self._word(value) if value else Word("")
        return Assignment(self.text.text(name), word, self.text.line(node), self.state.conditional, pipeline)

    def _inner(self, node: Node) -> Iterator[Command]:
        with self._nested(node, own=True):
            yield from self._statements(node)

    def _substitutions(self, node: Node) -> Iterator[Command]:
        """The commands of ``$(…)`` in a word."""
        for child in node.children:
            if child.type in ("command_substitution", "process_substitution"):
                yield from self._inner(child)
            elif child.child_count:
                with self._nested(child):
                    yield from self._substitutions(child)

    def _command(self, node: Node) -> Iterator[Command]:
        yield from self._substitutions(node)
        words, assignments = list[Word](), list[Assignment]()
        redirects = list[tuple[str, Word]]()
        for child in node.named_children:
            if child.type == "variable_assignment":
                assignments.append(self._assignment(child))
            elif _is_redirect(child):
                redirects.append(self._redirect(child))
            elif child.type != "heredoc_redirect":
                inner = child.named_children[0] if child.type == "command_name" else child
                words.append(self._word(inner))
        state, line = self.state, self.text.line(node)
        made = Command(
            tuple(words), line, state.folder, state.conditional, tuple(assignments), tuple(redirects)
        )
        yield made
        if made.name in ("cd", "pushd", "popd"):
            state.folder = _changed(made, state.folder)
        elif words and words[0].text in _SHELLS:
            yield from self._shell(made)

    def _shell(self, command: Command) -> Iterator[Command]:
        """``sh -c TEXT``: the text is a script, too."""
        options = [word.text for word in command.words]
        at = next((index for index, text in enumerate(options) if re.fullmatch(r"-[a-z]*c", text)), -1)
        if at < 0 or at + 1 >= len(options) or not command.words[at + 1].known:
            return
        inner = LineText(options[at + 1], ((0, command.line),))
        script = _Script(inner, self.path, self._lookup, self.state.folder, extract=self.extract)
        script.state.conditional, script.state.depth = self.state.conditional, self.state.depth + 1
        if script.state.depth >= _MAX_DEPTH:
            raise refuse(self.path, command.line, f"The command is nested more than {_MAX_DEPTH} deep.")
        yield from script.commands()

    def _word(self, node: Node) -> Word:
        return self.text.word(node, self._lookup)

    def _redirect(self, node: Node) -> tuple[str, Word]:
        return node.children[0].type, self._word(node.named_children[-1])

    def _lookup(self, name: str) -> str | None:
        if name in self.state.variables:
            value = self.state.variables[name]
            if value is None:
                raise CannotExpandError(f"{name} is only known when it runs")
            return value
        return self.environment(name)


def _first_error(node: Node) -> Node:
    while True:
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None or node.type == "ERROR":
            return node
        node = inner


def _unrolled(node: Node) -> list[tuple[Node, list[Node]]]:
    """The operands and operators of a chain, from left to right, with the redirects of each operand.

    The tree nests a chain to the left, one level for each operator, and hangs the redirect of its last
    command on the whole: without unrolling, an ordinary RUN would be nested dozens deep.
    """
    chain, redirects = list[tuple["Node", list["Node"]]](), list["Node"]()
    while True:
        if node.type == "redirected_statement" and node.named_children[0].type == "list":
            redirects = [*node.named_children[1:], *redirects]
            node = node.named_children[0]
        elif node.type == "list" and node.child_count:
            left, *operators, right = node.children
            chain.append((right, redirects))
            chain += ((operator, []) for operator in reversed(operators))
            node, redirects = left, []
        else:
            chain.append((node, redirects))
            return chain[::-1]


def _is_redirect(node: Node) -> bool:
    return node.type in ("file_redirect", "herestring_redirect") and bool(node.named_children)


def _is_test(node: Node) -> bool:
    if node.type == "negated_command":
        return any(_is_test(child) for child in node.named_children)
    name = node.child_by_field_name("name") if node.type == "command" else None
    return node.type == "test_command" or (name is not None and name.text == b"test")


def _only_substitution(node: Node) -> Node | None:
    """The ``$(…)`` that is the whole of a value, quoted or not."""
    while node.type == "string" and len(node.named_children) == 1 and node.child_count == 3:
        node = node.named_children[0]
    return node if node.type == "command_substitution" else None


def _changed(command: Command, folder: str | None) -> str | None:
    targets = [word for word in command.words[1:] if not word.text.startswith("-") or not word.known]
    if command.name == "popd" or len(targets) != 1 or not targets[0].known:
        return None
    return join_folder(folder, targets[0].text)


def join_folder(folder: str | None, path: str) -> str | None:
    """``path`` as seen from ``folder``, normalised; None where that is not known."""
    if path.startswith("/"):
        return posixpath.normpath(path)
    if folder is None or path.startswith("~"):
        return None
    return posixpath.normpath(posixpath.join(folder, path))
