"""Packages whose source the manifest names: folders, source distributions, git commits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from index_server import sdist, serve
from lock_samples import digest, small
from resolver_samples import demands, recipes, snapshot

from rocmlock.errors import RocmlockError
from rocmlock.lockfile.model import GitSource, Lock, Package, PathSource, SdistSource
from rocmlock.lockfile.names import commit, file_name
from rocmlock.lockfile.satisfy import find_unmet
from rocmlock.resolver.catalog import KnownCommit, Origin
from rocmlock.resolver.kept import Kept
from rocmlock.resolver.own_sources import OwnSources, Surroundings, make_given

TRITON = "https://github.com/triton-lang/triton"
COMMIT = "0f380657dbf3ee86eb57558ff71df24f03b5d4e7"
INFO = "Metadata-Version: 2.2\nName: thing\nVersion: 1.0\nRequires-Dist: numpy>=2\nRequires-Dist: torch\n"


def packages(line: str, folder: Path, *, old: Lock | None = None, index: str = "") -> list[Package]:
    around = Surroundings(
        manifest_folder=folder,
        lock_folder=folder,
        environ={"ROCMLOCK_INDEX_URL": index or "http://127.0.0.1:9/simple/"},
        tree_digest=lambda _: str(digest("a")),
        tell=lambda _: None,
    )
    held = frozenset({"torch"})
    wanted = demands(line)
    given = OwnSources(wanted, snapshot(), recipes(), around, Kept(old)).read()
    return [make_given(one, wanted, held) for one in given]


def package(line: str, folder: Path, **more) -> Package:
    (made,) = packages(line, folder, **more)
    return made


def git(rev: str, url: str = TRITON) -> str:
    return f'triton = {{ git = "{url}", rev = "{rev}" }}'


@pytest.mark.parametrize("url", [TRITON, f"{TRITON}.git", f"{TRITON}/"])
def test_a_tag_that_the_facts_know_becomes_its_commit(tmp_path: Path, url: str) -> None:
    known = next(release for release in snapshot().releases("triton-lang/triton") if release.tag == "v3.6.0")
    made = package(git("v3.6.0", url), tmp_path)
    assert isinstance(made.source, GitSource)
    assert (made.source.url, made.source.commit, made.source.tag) == (url, known.commit, "v3.6.0")
    assert made.source.tag_object == (known.tag_object or "")
    assert made.version == "3.6.0"
    assert [reason.at for reason in made.reasons] == ["manifest", str(known.origin)]


def test_a_full_commit_needs_no_fact(tmp_path: Path) -> None:
    made = package(git(COMMIT, "https://example.org/own.git"), tmp_path)
    assert made.source == GitSource("https://example.org/own.git", commit(COMMIT))
    assert (made.version, len(made.reasons)) == ("", 1)
    assert made.steps == tuple(tuple(step) for step in recipes()["triton"].build.steps)


def test_a_project_without_a_recipe_is_built_by_the_default_one(tmp_path: Path) -> None:
    made = package(f'own = {{ git = "https://example.org/own", rev = "{COMMIT}" }}', tmp_path)
    assert made.distribution == "own"
    assert made.steps == tuple(tuple(step) for step in recipes()["default-path"].build.steps)


@pytest.mark.parametrize("rev", ["main", "v99.0", COMMIT[:8], COMMIT.upper(), "0" * 40])
def test_a_rev_that_cannot_be_known_is_never_guessed(tmp_path: Path, rev: str) -> None:
    with pytest.raises(RocmlockError) as raised:
        packages(git(rev), tmp_path)
    assert raised.value.reason.reference == "revision-unknown"
    assert rev in raised.value.message


def test_a_folder_stands_in_the_lock_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "pyproject.toml").write_text(
        '[project]\nname = "my-kernels"\nversion = "2"\ndependencies = ["numpy", "torch>=2"]\n'
    )
    made = package('kernels = { path = "kernels" }', tmp_path)
    assert made.source == PathSource("kernels", digest("a"))
    assert (made.distribution, made.version) == ("my-kernels", "2")
    # torch is built from source: no requirement line asks an index for it.
    assert made.run.python == ("numpy",)


def test_a_folder_without_a_project_is_told(tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as raised:
        packages('kernels = { path = "kernels" }', tmp_path)
    assert raised.value.reason.reference == "source-invalid"


def test_a_source_distribution_comes_from_the_index(tmp_path: Path) -> None:
    data = sdist("thing", "1.0", {"PKG-INFO": INFO})
    with serve({"thing-1.0.tar.gz": data}) as url:
        made = package('thing = { sdist = "*" }', tmp_path, index=url)
    assert isinstance(made.source, SdistSource)
    assert (made.source.file, made.source.size, made.version) == ("thing-1.0.tar.gz", len(data), "1.0")
    assert made.run.python == ("numpy>=2",)


def test_a_source_distribution_is_kept_while_it_is_in_range(tmp_path: Path) -> None:
    (sample,) = small().packages
    source = SdistSource(file_name("thing-1.0.tar.gz"), digest("7"), 5)
    locked = evolve(sample, name="thing", distribution="thing", version="1.0", source=source)
    old = evolve(small(), packages=(locked,))
    # No index can be reached: what is locked needs none.
    made = package('thing = { sdist = "<2" }', tmp_path, old=old)
    assert (made.source, made.version) == (source, "1.0")
    with pytest.raises(RocmlockError) as raised:
        packages('thing = { sdist = ">=2" }', tmp_path, old=old)
    assert raised.value.reason.reference == "offline-missing"


def test_what_a_tested_set_gives_is_left_to_it(tmp_path: Path) -> None:
    assert packages('vllm = "*"\npytorch = "*"', tmp_path) == []


class Moving:
    """A catalog in which ``main`` is a branch and ``0f380657`` a short commit of ROCm/triton."""

    dated = None

    def commit(self, repository: str, asked: str) -> KnownCommit:
        assert repository == "ROCm/triton"
        at = Origin(f"{repository} {asked}")
        if asked == "main":
            return KnownCommit(repository, asked, "b" * 40, at, None, "main")
        return KnownCommit(repository, asked, COMMIT if COMMIT.startswith(asked) else None, at, None, "")


def from_git(rev: str, tmp_path: Path, kept: Kept | None = None) -> Package:
    wanted = demands(git(rev, "https://github.com/ROCm/triton"))
    around = Surroundings(tmp_path, tmp_path, {}, lambda _: "", lambda _: None)
    catalog: Any = Moving()
    (given,) = OwnSources(wanted, catalog, recipes(), around, kept or Kept()).read()
    return make_given(given, wanted, frozenset())


def test_a_short_commit_is_expanded_and_a_branch_is_locked_where_it_is(tmp_path: Path) -> None:
    assert from_git("0f380657", tmp_path).source == GitSource(
        "https://github.com/ROCm/triton", commit(COMMIT)
    )
    made = from_git("main", tmp_path)
    assert isinstance(made.source, GitSource)
    assert made.source.commit == "b" * 40
    assert made.reasons[1].says == f"branch main is commit {'b' * 40} when it was resolved"


def test_a_branch_stays_where_it_was_locked_until_it_is_updated(tmp_path: Path) -> None:
    made = from_git("main", tmp_path)
    assert isinstance(made.source, GitSource)
    before = evolve(made, source=evolve(made.source, commit=commit("c" * 40)))
    lock = evolve(small(), packages=(before,))
    assert from_git("main", tmp_path, Kept(lock)).source == before.source
    assert from_git("main", tmp_path, Kept(lock, moving=frozenset({"triton"}))).source == made.source
    wanted = demands(git("main", "https://github.com/ROCm/triton"))
    lock = evolve(lock, packages=(evolve(before, targets=(wanted.target,), gfx=wanted.gfx),))
    assert not [line for line in find_unmet(lock, [wanted]) if "main" in line]
