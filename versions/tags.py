"""Tags of repositories: which are versions, which are variants of one. Pure.

Tag spaces are dirty: ``proto-v0.3.0``, ``ciflow/trunk/1``, ``v0.5.4-rocm`` (derived, at another commit than
``v0.5.4``), ``v.3.4.0``. Which tags of a project count stands in its recipe, as a regular expression with the
groups ``version`` and, if there are such, ``variant``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

DEFAULT = re.compile(
    r"v?\.?(?P<version>\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?(?:\.?post\d+)?(?:\.?dev\d+)?)(?P<variant>[-+].+)?"
)
"""For projects whose recipe says nothing."""


@dataclass(frozen=True, slots=True)
class TagVersion:
    """``version`` as written in the tag; ``variant`` what stands behind it ("rocm", "cu129"), mostly empty.

    A variant is no pre-release, and not at the commit of the plain tag.
    """

    tag: str
    version: str
    variant: str = ""

    @property
    def is_prerelease(self) -> bool:
        return Version(self.version).is_prerelease


def parse_tag(tag: str, pattern: re.Pattern[str] = DEFAULT) -> TagVersion | None:
    """The version that a tag names; None for a tag that is none, which is never an error."""
    match = pattern.fullmatch(tag)
    if match is None:
        return None
    try:
        Version(match["version"])
    except InvalidVersion:
        return None
    variant = match.groupdict().get("variant") or ""
    return TagVersion(tag, match["version"], variant.lstrip("-+"))


def check_pattern(text: str) -> str:
    """``text`` if it is a pattern for tags. ValueError, in a sentence, where it is not."""
    try:
        groups = re.compile(text).groupindex
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    if "version" not in groups:
        raise ValueError(f"{text!r} has no group (?P<version>…)")
    return text
