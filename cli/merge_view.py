"""What clashes in a merge, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve

from ..lockfile.diff import Change, diff_locks
from ..lockfile.merge_picks import Clash
from ..lockfile.model import Lock
from .diff_view import change_words

_SOURCE = ("version", "distribution", "source", "picks", "patches", "downloads")
_GROUPS = {
    "source": _SOURCE,
    "python.wheels": ("python.wheels", "python.requires"),
    "python": ("python.version", "python.abi", "python.platform", "python.implementation"),
    "requires.build.wheels": ("requires.build.wheels", "requires.build.python"),
    "requires.run.wheels": ("requires.run.wheels", "requires.run.python"),
}
_WORDS = {
    "": "",
    "source": "its source",
    "python": "the interpreter",
    "python.wheels": "the wheels of the environment",
    "requires.build.wheels": "the wheels of its build",
    "requires.run.wheels": "what it needs to run",
}


def clash_lines(clashes: Iterable[Clash], base: Lock | None, ours: Lock, theirs: Lock) -> list[str]:
    """A line for each clash: what it is about, and what each side did."""
    had = base or evolve(ours, targets=(), packages=(), wheels=(), warnings=())
    sides = {word: diff_locks(had, lock) for word, lock in (("ours", ours), ("theirs", theirs))}
    several = len({target.name for lock in (ours, theirs) for target in lock.targets}) > 1
    lines: list[str] = []
    for clash in clashes:
        did = [
            f"{word}: {told}"
            for word, changes in sides.items()
            if (told := _told(clash, changes, _prefixes(clash)) or _circumstances(clash, changes))
        ]
        lines.append(". ".join((f"{_subject(clash, several=several)}: {_sentence(clash)}", *did)))
    return list(dict.fromkeys(lines))


def _subject(clash: Clash, *, several: bool) -> str:
    name = {"lock": "the lock", "target": f"target {clash.name}"}.get(clash.kind, clash.name)
    return f"{name} ({clash.target})" if several and clash.target and clash.kind != "target" else name


def _sentence(clash: Clash) -> str:
    if clash.says:
        return clash.says
    field = clash.field.replace("_", "-")
    what = _WORDS.get(clash.field, field)
    return f"both sides changed {what}" if what else "each side did something else with it"


def _prefixes(clash: Clash) -> tuple[str, ...]:
    field = clash.field.replace("_", "-")
    return _GROUPS.get(clash.field, (field,)) if field else ()


def _told(clash: Clash, changes: Sequence[Change], prefixes: tuple[str, ...]) -> str:
    """What a side did to the fields of a clash."""
    mine = [
        change
        for change in changes
        if change.kind == clash.kind
        and (change.name == clash.name or clash.name.startswith(f"{change.name}=="))
        and (not clash.target or clash.target in change.targets)
        and (not change.field or not prefixes or _is_below(change.field, prefixes))
    ]
    return change_words(mine)


def _circumstances(clash: Clash, changes: Sequence[Change]) -> str:
    """What a side did to the target or the flags that the other side's choice was made for."""
    if not clash.says.endswith(("another target", "other flags")):
        return ""
    wheels = ("python.wheels", "python.requires")
    return change_words(
        [
            change
            for change in changes
            if (change.kind == "target" and change.name == clash.target and change.field not in wheels)
            or (change.kind == "lock" and clash.says.endswith("flags"))
        ]
    )


def _is_below(field: str, prefixes: tuple[str, ...]) -> bool:
    return any(field == prefix or field.startswith(f"{prefix}.") for prefix in prefixes)
