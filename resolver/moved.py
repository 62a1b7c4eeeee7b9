"""Tags that name another commit than the lock has: an integrity error, as a moved tag may be an attack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import TAG_MOVED, Problem, RocmlockError
from ..lockfile.model import GitSource
from ..lockfile.urls import repository_of
from .catalog import Catalog
from .kept import Kept


@dataclass(frozen=True, slots=True)
class MovedTag:
    """``locked`` is the commit in the lock, ``now`` the one that the tag names. The objects are those of an
    annotated tag, empty for another."""

    package: str
    repository: str
    tag: str
    locked: str
    now: str
    locked_object: str = ""
    now_object: str = ""

    def __str__(self) -> str:
        before = f" (tag object {self.locked_object})" if self.locked_object else ""
        after = f" (tag object {self.now_object})" if self.now_object else ""
        return f"{self.package}: {self.tag} was {self.locked}{before} and is {self.now}{after} now"


def find_moved_tags(kept: Kept, catalog: Catalog) -> Iterator[MovedTag]:
    """Every tag of the old lock that the catalog knows at another commit; one that is gone has not moved.

    A tag that was made anew for the same commit has not moved either: the commit is what is built.
    """
    seen: set[GitSource] = set()
    for package in kept.old.packages if kept.old else ():
        source = package.source
        repository = repository_of(source.url) if isinstance(source, GitSource) and source.tag else None
        if not isinstance(source, GitSource) or repository is None or source in seen:
            continue
        seen.add(source)
        known = catalog.commit(repository, source.tag)
        if known.commit and known.tag and known.commit != source.commit:
            yield MovedTag(
                package.name,
                repository,
                source.tag,
                source.commit,
                known.commit,
                source.tag_object,
                known.tag_object or "",
            )


def require_unmoved(kept: Kept, catalog: Catalog) -> frozenset[MovedTag]:
    """The moved tags that were accepted. Raises TAG_MOVED for the others, all at once."""
    moved = list(find_moved_tags(kept, catalog))
    refused = [each for each in moved if each.package not in kept.accepted]
    if refused:
        names = ", ".join(f"{each.tag} of {each.repository}" for each in refused)
        options = " ".join(f"--accept-moved-tag {each.package}" for each in refused)
        raise RocmlockError(
            TAG_MOVED,
            f"{names} {'name' if len(refused) > 1 else 'names'} another commit than the lock has.",
            problems=[
                Problem(
                    str(each),
                    hint=f"https://github.com/{each.repository}/compare/{each.locked}...{each.now}",
                )
                for each in refused
            ],
            context=[f"the facts at hand are of {catalog.dated}"] if catalog.dated else [],
            hint=f"Look at what changed. To take the new commit: rocmlock resolve {options}",
        )
    return frozenset(moved)
