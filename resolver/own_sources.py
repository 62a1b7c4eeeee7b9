"""Packages whose source the manifest names itself: a local folder, a source distribution, a git commit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import MANIFEST_UNSUPPORTED, RocmlockError
from ..lockfile.demands import Demands, FromGit, FromPath, FromSdist, PackageDemand
from ..lockfile.model import GitSource, Lock, Package, PathSource, Reason, SdistSource
from ..lockfile.names import commit, content_digest
from ..lockfile.satisfy import version_in
from ..package_index import PackageIndex
from .assemble import make_package
from .catalog import Catalog
from .local import read_local_project
from .recipe import Recipe
from .recipe_names import PATH_DEFAULT, SDIST_DEFAULT
from .sdists import fetch_sdist


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What resolving needs of the world, as values: the CLI fills it in.

    ``manifest_folder`` is what ``path`` sources are relative to, ``lock_folder`` where the lock will stand.
    ``tree_digest`` gives the content digest of a folder; ``tell`` gets a line before each long step.
    """

    manifest_folder: Path
    lock_folder: Path
    environ: Mapping[str, str]
    tree_digest: Callable[[Path], str]
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class OwnSources:
    """``held`` as in make_package; ``old`` is the lock that is there, whose sources are kept."""

    demands: Demands
    catalog: Catalog
    recipes: Mapping[str, Recipe]
    around: Surroundings
    old: Lock | None
    held: frozenset[str]

    def packages(self) -> list[Package]:
        """A package for each demand that names its source.

        Raises SOURCE_INVALID, UNSATISFIABLE, OFFLINE_MISSING or MANIFEST_UNSUPPORTED.
        """
        made: list[Package] = []
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

    def _from_path(self, demand: PackageDemand, path: str) -> Package:
        folder = self.around.manifest_folder / path
        project = read_local_project(folder, demand.name)
        relative = os.path.relpath(folder.resolve(), self.around.lock_folder.resolve())
        digest = content_digest(self.around.tree_digest(folder))
        return make_package(
            demand.name,
            self.recipes[PATH_DEFAULT],
            self.demands,
            PathSource(Path(relative).as_posix(), digest),
            distribution=project.distribution,
            version=project.version,
            build=project.build,
            run=project.run,
            reasons=(Reason("manifest", f"{demand.name} is the folder {path}"),),
            held=self.held,
        )

    def _from_sdist(self, demand: PackageDemand, specifier: str) -> Package:
        locked = self.old.package(demand.name) if self.old else None
        if locked and isinstance(locked.source, SdistSource) and version_in(locked.version, specifier):
            version, source = locked.version, locked.source
            build, run, reasons = locked.build.python, locked.run.python, locked.reasons
        else:
            self.around.tell(f"Reading the source distribution of {demand.name}")
            index = PackageIndex(self.around.environ)
            sdist = fetch_sdist(index, demand.name, specifier, self.demands.released_before)
            version, source, build, run = sdist.version, sdist.source, sdist.build, sdist.run
            says = f"{source.file} is the newest source distribution in range"
            reasons = (Reason("package index", says),)
        return make_package(
            demand.name,
            self.recipes[SDIST_DEFAULT],
            self.demands,
            source,
            version=version,
            build=build,
            run=run,
            reasons=reasons,
            held=self.held,
        )

    def _from_git(self, demand: PackageDemand, url: str, rev: str) -> Package:
        repository = re.sub(r"^https://github\.com/|(\.git)?/?$", "", url)
        releases = self.catalog.releases(repository)
        tagged = next((release for release in releases if release.tag == rev and release.commit), None)
        try:
            full = commit(tagged.commit if tagged and tagged.commit else rev)
        except ValueError:
            raise RocmlockError(
                MANIFEST_UNSUPPORTED,
                f"{demand.name}: {rev} of {url} is not among the facts that this version has.",
                hint="Give the full 40-hex commit as rev.",
            ) from None
        reasons = (Reason("manifest", f"{demand.name} is {rev} of {url}"),)
        source = GitSource(url, full)
        if tagged:
            reasons += (Reason(str(tagged.origin), f"tag {rev} is commit {full}", tagged.origin.evidence),)
            source = GitSource(url, full, tagged.tag, tagged.tag_object or "")
        return make_package(
            demand.name,
            self.recipes.get(demand.name, self.recipes[PATH_DEFAULT]),
            self.demands,
            source,
            version=tagged.version if tagged else "",
            reasons=reasons,
            held=self.held,
        )
