"""Small pin files: one commit, one version, ``related_commits``, and what comes out of a reference to a
commit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from .source_text import Stated, check_text, is_placeholder, refuse

_HEX = re.compile(r"[0-9a-f]{7,40}")
# git's rules for names (git-check-ref-format), as far as a pin file can break them.
_REF = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[A-Za-z0-9._/+@#-]+(?<![./])")
_VERSION = re.compile(r"v?\d[0-9A-Za-z.+_-]*")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a file names where a commit is expected.

    ``kind``: ``commit`` (40 hex), ``short`` (7 to 39 hex, to be expanded), ``name`` (a branch or tag; a
    branch moves). A name of only hexadecimal digits is taken for a short commit, as git does.
    """

    value: str
    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class RelatedCommit:
    """One row of ``related_commits``. ``branch`` is for information: the commit counts."""

    system: str
    project: str
    component: str
    branch: str
    commit: str
    url: str
    line: int


def parse_reference(value: str, path: str, line: int) -> Reference:
    """Tell commit, short commit and name apart. A placeholder, or what git takes for no name, is refused."""
    if is_placeholder(value):
        raise refuse(path, line, f"{value} is a placeholder, not a commit.")
    if _HEX.fullmatch(value.lower()):
        return Reference(value.lower(), "commit" if len(value) == 40 else "short", line)
    if not _REF.fullmatch(value):
        raise refuse(path, line, f"{value[:80]!r} is neither a commit nor a name in git.")
    return Reference(value, "name", line)


def parse_commit_file(text: str, path: str) -> Reference:
    """``ci_commit_pins/triton.txt``, ``triton-rocm.txt``, ``aotriton.txt``, ``llvm-hash.txt``: one
    reference.
    """
    stated = _one_line(text, path)
    return parse_reference(stated.value, path, stated.line)


def parse_version_file(text: str, path: str) -> Stated:
    """``triton_version.txt``, ``version.txt``, ``json-version.txt``: one version (``2.9.0a0``,
    ``v3.11.3``).
    """
    stated = _one_line(text, path)
    if not _VERSION.fullmatch(stated.value):
        raise refuse(path, stated.line, f"{stated.value[:80]!r} is no version.")
    try:
        Version(stated.value)
    except InvalidVersion:
        raise refuse(path, stated.line, f"{stated.value[:80]!r} is no version.") from None
    return stated


def _one_line(text: str, path: str) -> Stated:
    """The one line that holds something; comments with ``#`` and empty lines may stand around it."""
    lines = [
        Stated(line.strip(), number)
        for number, line in enumerate(check_text(text, path).split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise refuse(path, 1, "There is nothing but comments in it.")
    if len(lines) > 1:
        raise refuse(path, lines[1].line, "There is more than one line in it, where one value is expected.")
    return lines[0]


def parse_related_commits(text: str, path: str) -> tuple[RelatedCommit, ...]:
    """ROCm/pytorch's ``related_commits``: ``system|project|component|branch|commit|url``, a line each."""
    rows = list[RelatedCommit]()
    for number, line in enumerate(check_text(text, path).split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != 6 or not all(cells):
            raise refuse(path, number, f"There are {len(cells)} parts where six are expected.")
        if parse_reference(cells[4], path, number).kind != "commit":
            raise refuse(path, number, f"{cells[4][:80]!r} is no commit of 40 hexadecimal digits.")
        system, project, component, branch, commit, url = cells
        row = RelatedCommit(system, project, component, branch, commit.lower(), url, number)
        twin = next((one for one in rows if (one.system, one.component) == (row.system, row.component)), None)
        if twin and (twin.commit, twin.url) != (row.commit, row.url):
            raise refuse(path, number, f"{row.component} for {row.system} differs from line {twin.line}.")
        rows.append(row)
    if not rows:
        raise refuse(path, 0, "There is no row in it.")
    return tuple(rows)


def choose_related(
    rows: Sequence[RelatedCommit], component: str, system: str
) -> tuple[RelatedCommit | None, tuple[RelatedCommit, ...]]:
    """The row of a component for a system (``ubuntu``), and the rows of other systems that name another
    commit.
    """
    found = [row for row in rows if row.component == component]
    chosen = next((row for row in found if row.system == system), None)
    differing = tuple(row for row in found if chosen and (row.commit, row.url) != (chosen.commit, chosen.url))
    return chosen, differing
