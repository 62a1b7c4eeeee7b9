"""Packages whose source the manifest names itself: a local folder, a source distribution, a git commit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import OFFLINE_MISSING, REVISION_UNKNOWN, RocmlockError
from ..lockfile.demands import Demands, FromGit, FromPath, FromSdist, PackageDemand
from ..lockfile.model import GitSource, Package, PathSource, Reason, Source
from ..lockfile.names import commit, content_digest, is_commit
from ..lockfile.satisfy import version_in
from ..lockfile.urls import repository_of
from .assemble import make_package
from .catalog import Catalog
from .kept import Kept
from .recipe import Recipe
from .recipe_names import PATH_DEFAULT, SDIST_DEFAULT


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What resolving needs of the world, as values: the CLI fills it in.

    ``manifest_folder`` is what ``path`` sources are relative to, ``lock_folder`` where the lock will stand.
    ``tree_digest`` gives the content digest of a folder; ``tell`` gets a line before each long step.
    ``offline``: no network is used.
    """

    manifest_folder: Path
    lock_folder: Path
    environ: Mapping[str, str]
    tree_digest: Callable[[Path], str]
    tell: Callable[[str], None]
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """A package as the manifest gives it, on whichever target: ``build`` and ``run`` as in make_package."""

    name: str
    recipe: Recipe
    source: Source
    distribution: str = ""
    version: str = ""
    build: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()


def make_given(given: Given, demands: Demands, held: frozenset[str]) -> Package:
    """The package for a target; ``held`` as in make_package."""
    return make_package(
        given.name,
        given.recipe,
        demands,
        given.source,
        distribution=given.distribution,
        version=given.version,
        build=given.build,
        run=given.run,
        reasons=given.reasons,
        held=held,
    )


@dataclass(frozen=True, slots=True)
class OwnSources:
    """``demands`` are those of any target: packages are the same for all. Sources
    that are ``kept`` stay."""

    demands: Demands
    catalog: Catalog
    recipes: Mapping[str, Recipe]
    around: Surroundings
    kept: Kept

    def read(self) -> list[Given]:
        """What is given for each demand that names its source.

        Raises SOURCE_INVALID, UNSATISFIABLE, OFFLINE_MISSING or MANIFEST_UNSUPPORTED.
        """
        if self.around.offline:
            self._require_locked_sdists()
        made: list[Given] = []
        for demand in self.demands.packages:
            match demand.origin:
                case FromPath(path):
                    made.append(self._from_path(demand, path))
                case FromSdist(specifier):
                    made.append(self._from_sdist(demand, specifier))
                case FromGit(url, rev):
                    made.append(self._from_git(demand, url, rev))
                case _:
                    pass  # a tested set gives it
        return made

    def _require_locked_sdists(self) -> None:
        """Raises OFFLINE_MISSING with every source distribution that would have to be asked for."""
        missing = [
            f'{demand.name} in "{demand.origin.specifier or "*"}"'
            for demand in self.demands.packages
            if isinstance(demand.origin, FromSdist)
            and not self._kept_sdist(demand.name, demand.origin.specifier)
        ]
        if missing:
            raise RocmlockError(
                OFFLINE_MISSING,
                f"No source distribution is locked, and none can be looked for, of {', '.join(missing)}.",
                hint="Run the command again without --offline.",
            )

    def _kept_sdist(self, name: str, specifier: str) -> Package | None:
        locked = self.kept.sdist(name)
        return locked if locked and version_in(locked.version, specifier) else None

    def _from_path(self, demand: PackageDemand, path: str) -> Given:
        from .local import read_local_project

        folder = self.around.manifest_folder / path
        project = read_local_project(folder, demand.name)
        relative = os.path.relpath(folder.resolve(), self.around.lock_folder.resolve())
        digest = content_digest(self.around.tree_digest(folder))
        return Given(
            demand.name,
            self.recipes[PATH_DEFAULT],
            PathSource(Path(relative).as_posix(), digest),
            distribution=project.distribution,
            version=project.version,
            build=project.build,
            run=project.run,
            reasons=(Reason("manifest", f"{demand.name} is the folder {path}"),),
        )

    def _from_sdist(self, demand: PackageDemand, specifier: str) -> Given:
        recipe = self.recipes[SDIST_DEFAULT]
        locked = self._kept_sdist(demand.name, specifier)
        if locked:
            return Given(
                demand.name,
                recipe,
                locked.source,
                version=locked.version,
                build=locked.build.python,
                run=locked.run.python,
                reasons=locked.reasons,
            )
        from ..package_index import PackageIndex
        from .sdists import fetch_sdist

        self.around.tell(f"Reading the source distribution of {demand.name}")
        index = PackageIndex(self.around.environ)
        sdist = fetch_sdist(index, demand.name, specifier, self.demands.released_before)
        says = f"{sdist.source.file} is the newest source distribution in range"
        return Given(
            demand.name,
            recipe,
            sdist.source,
            version=sdist.version,
            build=sdist.build,
            run=sdist.run,
            reasons=(Reason("package index", says),),
        )

    def _from_git(self, demand: PackageDemand, url: str, rev: str) -> Given:
        """A tag, a commit (short ones are expanded) or a branch, which is taken where it is now."""
        given = Reason("manifest", FromGit(url, rev).says(demand.name))
        recipe = self.recipes.get(demand.name, self.recipes[PATH_DEFAULT])
        if is_commit(rev):
            return Given(demand.name, recipe, GitSource(url, commit(rev)), reasons=(given,))
        kept = self.kept.git(demand.name, FromGit(url, rev))
        if kept:
            return Given(demand.name, recipe, kept.source, version=kept.version, reasons=kept.reasons)
        repository = repository_of(url)
        known = self.catalog.commit(repository, rev) if repository else None
        if known is None or known.commit is None or known.origin is None:
            raise RocmlockError(
                REVISION_UNKNOWN,
                f"{demand.name}: {rev} of {url} is no tag, branch or commit that is known.",
                hint="Give the full 40-hex commit as rev, or resolve where GitHub can be reached.",
            )
        kind = "branch" if known.moves else "tag" if known.tag else "commit"
        says = f"{kind} {rev} is commit {known.commit}" + (" when it was resolved" if known.moves else "")
        return Given(
            demand.name,
            recipe,
            GitSource(url, commit(known.commit), known.tag, known.tag_object or ""),
            version=known.version.value if known.version else "",
            reasons=(given, Reason(str(known.origin), says, known.origin.evidence)),
        )
