"""Tags of repositories: which are versions, which are variants of one. Pure.

Tag spaces are dirty: ``proto-v0.3.0``, ``ciflow/trunk/1``, ``v0.5.4-rocm`` (derived, at another commit than
``v0.5.4``), ``v.3.4.0``. Which tags of a project count stands in its recipe, as a regular expression with the
groups ``version`` and, if there are such, ``variant``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.version import Version

# A pre-release has a number. AOTriton ends the tag of each release in b (0.10b): that is no beta. Behind a
# hyphen a single letter with a number makes a variant, though PEP 440 takes it for a beta: b200 is a GPU.
DEFAULT = re.compile(
    r"v?\.?(?P<version>[0-9]+(?:\.[0-9]+)*(?:[ab][0-9]+|[-_.]?(?:rc|alpha|beta|preview)[-_.]?[0-9]+)?"
    r"(?:[-_.]?post[-_.]?[0-9]+|\.r[0-9]+)?(?:[-_.]?dev[0-9]+)?(?:\+[0-9A-Za-z]+(?:[-_.][0-9A-Za-z]+)*)?)"
    r"b?(?P<variant>[-_].+)?"
)
"""For projects whose recipe says nothing."""

_LONGEST = 200
"""Characters. Names that are longer are passed over."""


@dataclass(frozen=True, slots=True)
class TagVersion:
    """``version`` as written in the tag; ``variant`` what stands behind it ("rocm", "cu129"), mostly empty.

    A variant is no pre-release, and not at the commit of the plain tag. A local part (``v0.9.1+rocm``: a
    fork's releases) belongs to the version.
    """

    tag: str
    version: str
    variant: str = ""

    @property
    def is_prerelease(self) -> bool:
        return Version(self.version).is_prerelease


def parse_tag(tag: str, pattern: re.Pattern[str] = DEFAULT) -> TagVersion | None:
    """The version that a tag names; None for a tag that is none, which is never an error."""
    match = pattern.fullmatch(tag) if len(tag) <= _LONGEST else None
    groups = match.groupdict() if match else {}
    version = groups.get("version") or ""
    try:
        Version(version)
    except ValueError:
        return None
    return TagVersion(tag, version, (groups.get("variant") or "").lstrip("-_+"))


def check_pattern(text: str) -> str:
    """``text`` if it is a pattern for tags. ValueError, in a sentence, where it is not."""
    try:
        groups = re.compile(text).groupindex
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    if "version" not in groups:
        raise ValueError(f"{text!r} has no group (?P<version>…)")
    return text
