"""The live catalog: GitHub's tags and releases, and what the files at a commit say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from packaging.version import Version

from ...errors import COMMIT_AMBIGUOUS, REPOSITORY_MISSING, RocmlockError
from ...versions.tags import DEFAULT, parse_tag
from ..catalog import Catalog, Fact, KnownCommit, Origin, Pick, Pin, Release, RocmRelease, TestedSet
from ..recipe import Recipe
from .checkout import Checkout
from .facts import applies, read_facts
from .tested import read_tested_sets

if TYPE_CHECKING:
    from ..github.client import GitHub, TagRow

_HASH = re.compile(r"[0-9a-f]{7,40}")


class LiveCatalog:
    """Facts from GitHub, each asked for once in a run.

    ``known`` gives what stands in no repository's file: AMD's matrix of GPUs per ROCm release.
    """

    dated: date | None = None

    def __init__(self, github: GitHub, recipes: Mapping[str, Recipe], known: Catalog) -> None:
        self._github, self._recipes, self._known = github, recipes, known
        self._releases: dict[str, tuple[Release, ...]] = {}
        self._sets: dict[tuple[str, str], tuple[TestedSet, ...]] = {}
        self._commits: dict[tuple[str, str], KnownCommit] = {}

    def tops(self) -> tuple[str, ...]:
        ranked = [recipe for recipe in self._recipes.values() if recipe.releases.rank]
        return tuple(each.name for each in sorted(ranked, key=lambda each: -each.releases.rank))

    def candidates(self, top: str) -> tuple[Release, ...]:
        recipe = self._recipes.get(top)
        return self.releases(recipe.repositories[0]) if recipe and recipe.releases.rank else ()

    def releases(self, repository: str) -> tuple[Release, ...]:
        if repository not in self._releases:
            self._releases[repository] = tuple(self._list(repository))
        return self._releases[repository]

    def _list(self, repository: str) -> Iterator[Release]:
        pattern, prefix = self._tags_of(repository)
        published = {row.tag: row for row in self._github.releases(repository)}
        found: list[Release] = []
        for row in self._github.tags(repository, prefix):
            named = parse_tag(row.tag, pattern)
            if named is None or named.variant:
                continue
            release = published.get(row.tag)
            found.append(
                Release(
                    repository=repository,
                    tag=row.tag,
                    version=named.version,
                    commit=row.commit,
                    tag_object=row.tag_object,
                    date=release.published if release else None,
                    prerelease=release.prerelease if release else True,
                    origin=Origin(f"{repository} tag {row.tag}"),
                )
            )
        yield from sorted(found, key=lambda each: Version(each.version), reverse=True)

    def _tags_of(self, repository: str) -> tuple[re.Pattern[str], str]:
        for recipe in self._recipes.values():
            if repository in recipe.repositories:
                return re.compile(recipe.releases.tag), recipe.releases.prefix
        return DEFAULT, ""

    def tested_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
        key = (top, release.tag)
        if key not in self._sets:
            self._sets[key] = self._read_sets(top, release)
        return self._sets[key]

    def _read_sets(self, top: str, release: Release) -> tuple[TestedSet, ...]:
        if release.commit is None:
            return ()
        recipe = self._recipes[top]
        checkout = Checkout(self._github, top, release.repository, release.commit)
        self._prefetch(recipe, checkout, release.version)
        return read_tested_sets(recipe, self._recipes, release, checkout)

    def _prefetch(self, recipe: Recipe, checkout: Checkout, version: str) -> None:
        """The likely files at once: one after the other, each costs a round trip."""
        layouts = [*recipe.tested, *recipe.reads]
        paths = dict.fromkeys(each.paths[0] for each in layouts if applies(each.versions, version))
        with ThreadPoolExecutor(max_workers=8) as pool:
            list(pool.map(checkout.text, paths))

    def expand(self, pin: Pin) -> Pin:
        if pin.wheel is not None or not pin.repository:
            return pin
        known = self.commit(pin.repository, pin.asked)
        return replace(
            pin,
            # A repository that has moved is locked under the name it has now; commits stay what they are.
            repository=self._github.canonical(pin.repository) if known.commit else pin.repository,
            commit=known.commit,
            commit_origin=known.origin,
            tag=known.tag or None,
            tag_object=known.tag_object,
            version=pin.version or known.version or self._version_at(pin, known.commit),
            picks=tuple(self._pick(pin, each) for each in pin.picks),
        )

    def _pick(self, pin: Pin, pick: Pick) -> Pick:
        """A pick may come from any repository of the package: forks are one network of commits."""
        recipe = self._recipes.get(pin.package)
        for repository in dict.fromkeys((pin.repository, *(recipe.repositories if recipe else ()))):
            known = self.commit(repository, pick.asked)
            if known.commit:
                return replace(pick, commit=known.commit, commit_origin=known.origin)
        return pick

    def _version_at(self, pin: Pin, commit: str | None) -> Fact | None:
        recipe = self._recipes.get(pin.package)
        if recipe is None or commit is None:
            return None
        checkout = Checkout(self._github, pin.package, pin.repository, commit)
        return read_facts(recipe, checkout, only=("version",)).one("version")

    def commit(self, repository: str, asked: str) -> KnownCommit:
        key = (repository, asked)
        if key not in self._commits:
            self._commits[key] = self._find(repository, asked)
        return self._commits[key]

    def _find(self, repository: str, asked: str) -> KnownCommit:
        """Nothing is known of a commit in a repository that is gone, or of a short one that means several."""
        try:
            return self._ask(repository, asked)
        except RocmlockError as error:
            if error.reason not in {REPOSITORY_MISSING, COMMIT_AMBIGUOUS}:
                raise
            return KnownCommit(repository, asked, None, None, None, "")

    def _ask(self, repository: str, asked: str) -> KnownCommit:
        if re.fullmatch(r"[0-9a-f]{40}", asked):
            return KnownCommit(repository, asked, asked, None, None, "")
        if _HASH.fullmatch(asked):
            row = self._github.commit(repository, asked)
            origin = Origin(f"{repository} commit {asked}") if row else None
            return KnownCommit(repository, asked, row.commit if row else None, origin, None, "")
        tagged = self._tag(repository, asked)
        if tagged:
            origin = Origin(f"{repository} tag {asked}")
            named = parse_tag(asked, self._tags_of(repository)[0])
            fact = Fact(named.version, origin) if named else None
            return KnownCommit(
                repository, asked, tagged.commit, origin, fact, "", tagged.tag, tagged.tag_object
            )
        commit = self._github.branch(repository, asked)
        origin = Origin(f"{repository} branch {asked}, which moves") if commit else None
        return KnownCommit(repository, asked, commit, origin, None, asked if commit else "")

    def _tag(self, repository: str, name: str) -> TagRow | None:
        if _HASH.fullmatch(name):
            return None
        return next((row for row in self._github.tags(repository, name) if row.tag == name), None)

    def rocm_releases(self) -> tuple[RocmRelease, ...]:
        return self._known.rocm_releases()
