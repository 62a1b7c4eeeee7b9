"""The sources that a Dockerfile builds from, as pins and picks; and what these two cannot say, by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .action import Action
from .actions import find_actions, run_commands
from .dockerfile import Dockerfile
from .sed import CannotComputeError, apply_sed
from .shell import Assignment, Command

_QUIET = frozenset({"clone", "fetch", "remote"})


@dataclass(frozen=True, slots=True)
class Ref:
    """A commit, branch or tag. ``line`` is that of the command; ``variables`` are the ARGs that name it."""

    value: str
    line: int
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceTree:
    """One clone and what is done to it.

    ``ref`` is None where nothing is checked out: the default branch. ``remotes`` are other URLs that
    commits are fetched from: a pick may be found there only. ``unsaid`` is what pins and picks cannot
    express: a patch, an edit, a checkout in a sub-folder, a revert, anything that only happens under a
    condition.
    """

    stage: str
    url: str
    url_variables: tuple[str, ...]
    line: int
    ref: Ref | None
    picks: tuple[Ref, ...]
    remotes: tuple[str, ...]
    unsaid: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Environment:
    """A variable that one command is given. ``value`` is None where it is not computed (``problem``).

    ``original`` is what an edit by ``sed`` began with; empty where nothing was edited.
    """

    stage: str
    name: str
    value: str | None
    line: int
    variables: tuple[str, ...]
    original: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Sources:
    """``trees`` in the order of their clones; ``stray`` are actions on trees that the file does not clone."""

    trees: tuple[SourceTree, ...]
    stray: tuple[Action, ...]


def find_sources(dockerfile: Dockerfile, *, extract: bool = False) -> Sources:
    """Every clone, and what is done to it. ``extract``: as for :func:`.dockerfile.parse_dockerfile`.

    In an extract the folder of a command may be lost; then it is taken for the root of the last clone,
    unless a second checkout shows that it cannot be.
    """
    trees, stray = list[SourceTree](), list[Action]()
    for action in find_actions(dockerfile, extract=extract):
        if action.kind == "clone":
            trees.append(_cloned(action))
            continue
        # A stage continues the trees of the stage it is built on: the last clone of that URL counts.
        at = next(
            (
                at
                for at in reversed(range(len(trees)))
                if action.repository and trees[at].url == action.repository
            ),
            None,
        )
        if at is not None:
            trees[at] = _applied(trees[at], action)
        else:
            stray.append(action)
    return Sources(tuple(trees), tuple(stray))


def _cloned(action: Action) -> SourceTree:
    url = action.url.text if action.url else action.repository
    ref = _ref(action) if action.refs else None
    tree = SourceTree(
        action.stage, url, action.url.variables if action.url else (), action.line, ref, (), (), ()
    )
    certain = not action.conditional and (action.url is None or action.url.known)
    return tree if certain and all(word.known for word in action.refs) else replace(tree, unsaid=(action,))


def _ref(action: Action) -> Ref:
    return Ref(action.refs[0].text, action.line, action.refs[0].variables)


def _applied(tree: SourceTree, action: Action) -> SourceTree:
    if action.url is not None and action.kind in _QUIET and action.folder in ("", None):
        return replace(tree, remotes=(*tree.remotes, action.url.text))
    certain = not action.conditional and not action.note and all(word.known for word in action.refs)
    if action.kind in _QUIET or (action.kind == "submodule" and not action.note):
        return tree
    if action.kind == "checkout" and certain and len(action.refs) == 1 and _at_root(tree, action):
        return replace(tree, ref=_ref(action), picks=())
    single = bool(action.refs) and not any(".." in word.text or "^" in word.text for word in action.refs)
    if action.kind == "cherry-pick" and certain and single and action.folder in ("", None):
        picks = tuple(Ref(word.text, action.line, word.variables) for word in action.refs)
        return replace(tree, picks=(*tree.picks, *picks))
    return replace(tree, unsaid=(*tree.unsaid, action))


def _at_root(tree: SourceTree, action: Action) -> bool:
    """A fixed commit checked out after the pin, in a folder that the extract lost, is a sub-folder's."""
    return action.folder == "" or (
        action.folder is None and (tree.ref is None or bool(action.refs[0].variables))
    )


def find_environment(
    dockerfile: Dockerfile, names: Sequence[str], *, extract: bool = False
) -> tuple[Environment, ...]:
    """What RUN lines set one of ``names`` to, for one command (``GPU_ARCHS=… python3 setup.py``) or with
    export.
    """
    found = list[Environment]()
    for stage in dockerfile.stages:
        for instruction in stage.instructions:
            if instruction.keyword != "RUN":
                continue
            for command in run_commands(dockerfile, stage, instruction, None, extract=extract):
                found += (
                    _environment(stage.name, assignment)
                    for assignment in command.assignments
                    if assignment.name in names
                )
    return tuple(found)


def _environment(stage: str, assignment: Assignment) -> Environment:
    made = Environment(stage, assignment.name, None, assignment.line, assignment.value.variables)
    if assignment.conditional:
        return replace(made, problem="it is only set under a condition")
    if assignment.value.known:
        return replace(made, value=assignment.value.text)
    try:
        original, value = _computed(assignment.pipeline)
    except CannotComputeError as error:
        return replace(made, problem=f"it is edited, and not computed: {error}")
    return replace(made, value=value, original=original)


def _computed(pipeline: tuple[Command, ...]) -> tuple[str, str]:
    """(what is echoed, what the pipeline makes of it)."""
    if not pipeline or pipeline[0].name != "echo" or len(pipeline[0].words) < 2:
        raise CannotComputeError("it is the output of a program")
    previous: Command | None = None
    for command in pipeline:
        if (
            command.before is not previous
            or command.redirects
            or not all(word.known for word in command.words)
        ):
            raise CannotComputeError(" ".join(word.text for word in command.words))
        previous = command
    original = value = " ".join(word.text for word in pipeline[0].words[1:])
    for command in pipeline[1:]:
        arguments = [word.text for word in command.words[1:]]
        if command.name == "sed":
            value = apply_sed(arguments, value)
        elif command.name == "tr" and len(arguments) == 2 and all(len(one) == 1 for one in arguments):
            value = value.replace(arguments[0], arguments[1])
        else:
            raise CannotComputeError(command.name)
    return original, value
