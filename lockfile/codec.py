"""Reading and writing rocmlock.lock: version dispatch, faults with their places, atomic writing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from ..errors import (
    FILE_UNREADABLE,
    LOCK_CONFLICT,
    LOCK_INVALID,
    LOCK_MISSING,
    LOCK_TOO_NEW,
    Place,
    Problem,
    RocmlockError,
)
from .checks import find_inconsistencies
from .model import REVISION, VERSION, Lock

_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)", re.MULTILINE)
_HEADER = (
    "# Written by rocmlock: commit this file, do not edit it. `rocmlock show` and `rocmlock why` read it.\n\n"
)


def render_lock(lock: Lock) -> str:
    """The text of a lock: the same bytes for equal locks, on any machine."""
    import tomli_w

    from .wire_v1 import render_document

    return _HEADER + tomli_w.dumps(render_document(lock), multiline_strings=True)


def parse_lock(text: str, file: str) -> Lock:
    """The lock in ``text``; ``file`` is its name in errors.

    Raises LOCK_CONFLICT, LOCK_TOO_NEW or LOCK_INVALID, the last with every fault and its place.
    """
    conflict = _CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        raise RocmlockError(
            LOCK_CONFLICT,
            f"{file} holds merge-conflict markers.",
            problems=[Problem(f"marker {conflict[1]!r}", Place(file, line, 1))],
            hint=f"Take one side (git checkout --ours {file}), then run: rocmlock resolve",
        )
    document = _parse_toml(text, file)
    _check_version(document, file)
    from .wire_v1 import parse_document

    revision = document.get("revision", 0)
    strict = not (isinstance(revision, int) and revision > REVISION)
    lock, faults = parse_document(document, strict=strict)
    if lock is not None:
        faults = find_inconsistencies(lock)
    if lock is None or faults:
        from ..toml_places import find_place

        problems = [Problem(sentence, Place(file, *find_place(text, path))) for path, sentence in faults]
        raise RocmlockError(LOCK_INVALID, f"{file} is not a whole lock.", problems=problems)
    return lock


def _parse_toml(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        from ..toml_places import syntax_place

        place = Place(file, *syntax_place(error, text))
        raise RocmlockError(
            LOCK_INVALID, f"{file} is cut off or not TOML.", problems=[Problem(str(error), place)]
        ) from None


def _check_version(document: dict[str, Any], file: str) -> None:
    version = document.get("version")
    if not isinstance(version, int) or version < 1:
        raise RocmlockError(LOCK_INVALID, f"{file} does not say which version of the format it is.")
    if version > VERSION:
        raise RocmlockError(
            LOCK_TOO_NEW,
            f"{file} is written in version {version} of the format; this rocmlock reads up to {VERSION}.",
        )


def read_lock(path: Path) -> Lock:
    """The lock at ``path``. Raises as parse_lock, and LOCK_MISSING or FILE_UNREADABLE."""
    return parse_lock(read_lock_text(path), str(path))


def read_lock_text(path: Path) -> str:
    """The text of the lock at ``path``. Raises LOCK_MISSING, LOCK_INVALID (not UTF-8) or FILE_UNREADABLE."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise RocmlockError(LOCK_MISSING, f"There is no lock at {path}.") from None
    except UnicodeDecodeError:
        raise RocmlockError(LOCK_INVALID, f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise RocmlockError(FILE_UNREADABLE, f"{path} cannot be read: {error.strerror}.") from None
