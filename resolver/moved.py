"""Tags that name another commit than the lock has: an integrity error, as a moved tag may be an attack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import TAG_MOVED, Problem, RocmlockError
from ..lockfile.model import GitSource
from ..lockfile.names import repository_of
from .catalog import Catalog
from .kept import Kept


@dataclass(frozen=True, slots=True)
class MovedTag:
    """``locked`` is the commit in the lock, ``now`` the one that the tag names."""

    package: str
    repository: str
    tag: str
    locked: str
    now: str


def find_moved_tags(kept: Kept, catalog: Catalog) -> Iterator[MovedTag]:
    """Every tag of the old lock that the catalog knows at another commit; one that is gone has not moved."""
    seen: set[tuple[str, str]] = set()
    for package in kept.old.packages if kept.old else ():
        source = package.source
        repository = repository_of(source.url) if isinstance(source, GitSource) and source.tag else None
        if not isinstance(source, GitSource) or repository is None or (repository, source.tag) in seen:
            continue
        seen.add((repository, source.tag))
        now = catalog.commit(repository, source.tag).commit
        if now and now != source.commit:
            yield MovedTag(package.name, repository, source.tag, source.commit, now)


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
                    f"{each.package}: {each.tag} was {each.locked} and is {each.now} now",
                    hint=f"https://github.com/{each.repository}/compare/{each.locked}...{each.now}",
                )
                for each in refused
            ],
            hint=f"Look at what changed. To take the new commit: rocmlock resolve {options}",
        )
    return frozenset(moved)
