"""Whether a version range can hold any version at all. Pure."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet
from packaging.version import Version


def is_impossible(specifier: SpecifierSet) -> bool:
    """True where no version is in the range. Decided by trying the versions at and around every bound:
    a range that holds any version holds one of these, as each operator changes only at its bound."""
    candidates: set[str] = {"0", "99999"}
    for clause in specifier:
        text = clause.version.removesuffix(".*")
        version = Version(text)
        base = version.release
        candidates |= {text, f"{text}.0.1", f"{text}.post1", f"{version.public}.post1"}
        candidates.add(".".join(map(str, (*base[:-1], base[-1] + 1))))
        if len(base) > 1:
            candidates.add(".".join(map(str, (*base[:-2], base[-2] + 1))))
        below = [*base]
        position = next((i for i in range(len(below) - 1, -1, -1) if below[i] > 0), None)
        if position is not None:
            below[position] -= 1
            candidates.add(".".join(map(str, (*below[: position + 1], 99999))))
    valid = [text for text in candidates if _is_version(text)]
    return not any(specifier.contains(text, prereleases=True) for text in valid)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:
        return False
    return True
