"""What of a lock stays, what moves, and tags that moved by themselves."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import lock_samples
import pytest
from attrs import evolve
from resolver_samples import SetCatalog, demands, make_set, recipes, snapshot

from rocmlock.errors import ExitCode, RocmlockError
from rocmlock.lockfile.demands import FromGit
from rocmlock.lockfile.model import GitSource, Lock, Package, Reason, Requires
from rocmlock.lockfile.names import commit
from rocmlock.lockfile.urls import repository_of
from rocmlock.resolver.catalog import KnownCommit
from rocmlock.resolver.kept import Kept, is_of_set, moves_together
from rocmlock.resolver.moved import require_unmoved
from rocmlock.resolver.own_sources import Surroundings
from rocmlock.resolver.resolve import resolve

OLD, NEW = "a" * 40, "b" * 40
TAG_OBJECT = "c" * 40


def locked(tag: str = "v1.0", at: str = OLD) -> Lock:
    source = GitSource("https://github.com/vllm-project/vllm", commit(at), tag)
    package = evolve(
        next(each for each in lock_samples.full().packages if isinstance(each.source, GitSource)),
        name="vllm",
        source=source,
        build=Requires(),
        run=Requires(),
        reasons=(Reason("vllm-project/vllm tag v1.0", "so it is"),),
    )
    return evolve(lock_samples.full(), packages=(package,), wheels=())


class TagCatalog(SetCatalog):
    """A catalog whose tag v1.0 names one commit."""

    def __init__(self, now: str | None) -> None:
        super().__init__([replace(make_set("1.0", commit=now))])
        self.now = now

    def commit(self, repository: str, asked: str) -> KnownCommit:
        known = KnownCommit(repository, asked, self.now, None, None, "", asked, TAG_OBJECT)
        return known if asked == "v1.0" else replace(known, commit=None)


def test_a_moved_tag_is_an_integrity_error_with_both_commits_and_the_way_on() -> None:
    with pytest.raises(RocmlockError) as raised:
        require_unmoved(Kept(locked()), TagCatalog(NEW))
    error = raised.value
    assert (error.reason.reference, error.reason.code) == ("tag-moved", ExitCode.INTEGRITY)
    (problem,) = error.problems
    assert OLD in problem.message
    assert f"{NEW} (tag object {TAG_OBJECT})" in problem.message
    assert problem.hint.endswith(f"/compare/{OLD}...{NEW}")
    assert "--accept-moved-tag vllm" in error.hint


@pytest.mark.parametrize("now", [OLD, None], ids=["where it was", "gone"])
def test_a_tag_that_stays_or_is_gone_has_not_moved(now: str | None) -> None:
    assert require_unmoved(Kept(locked()), TagCatalog(now)) == frozenset()


def test_every_commit_that_a_lock_has_for_a_tag_is_looked_at() -> None:
    lock = locked(at=NEW)
    other = evolve(lock.packages[0], targets=("other",), source=locked().packages[0].source)
    with pytest.raises(RocmlockError) as raised:
        require_unmoved(Kept(evolve(lock, packages=(*lock.packages, other))), TagCatalog(NEW))
    assert len(raised.value.problems) == 1


def test_a_branch_of_the_same_name_is_no_tag_that_moved() -> None:
    class Branch(TagCatalog):
        def commit(self, repository: str, asked: str) -> KnownCommit:
            return replace(super().commit(repository, asked), tag="", branch=asked)

    assert require_unmoved(Kept(locked()), Branch(NEW)) == frozenset()


def test_an_own_source_at_an_accepted_moved_tag_is_read_anew() -> None:
    origin = FromGit("https://github.com/vllm-project/vllm", "v1.0")
    lock = locked()
    own = evolve(lock.packages[0], reasons=(Reason("manifest", origin.says("vllm")),))
    lock = evolve(lock, packages=(own,))
    assert Kept(lock).git("vllm", origin) == own
    assert Kept(lock, accepted=frozenset({"vllm"})).git("vllm", origin) is None


def test_that_a_set_moves_as_a_whole_is_said() -> None:
    lock = locked()
    triton = evolve(lock.packages[0], name="triton")
    lock = evolve(lock, packages=(triton, lock.packages[0]))
    assert list(moves_together(lock, {"triton"})) == [
        "One tested set gives triton with vllm: they move together."
    ]
    assert not list(moves_together(lock, {"triton", "vllm"}))
    assert not list(moves_together(lock, {"numpy"}))


def test_a_moved_tag_that_is_accepted_is_followed() -> None:
    (moved,) = require_unmoved(Kept(locked(), accepted=frozenset({"vllm"})), TagCatalog(NEW))
    assert (moved.locked, moved.now) == (OLD, NEW)


def test_the_members_of_a_set_move_together_and_own_commits_do_not_move_it() -> None:
    lock = locked()
    own = evolve(lock.packages[0], name="own", reasons=(Reason("manifest", "own is x"),))
    member = evolve(lock.packages[0], name="triton")
    lock = evolve(lock, packages=(*lock.packages, own, member))
    target = lock.packages[0].targets[0]
    assert Kept(lock).top_source("vllm", target) == lock.packages[0].source
    assert Kept(lock, moving=frozenset({"vllm"})).top_source("vllm", target) is None
    assert Kept(lock, moving=frozenset({"triton"})).top_source("vllm", target) is None
    assert Kept(lock, moving=None).top_source("vllm", target) is None
    assert Kept(lock, moving=frozenset({"own"})).top_source("vllm", target) == lock.packages[0].source
    assert [is_of_set(each) for each in lock.packages] == [True, False, True]
    assert Kept().top_source("vllm", target) is None


def test_the_set_of_a_moved_tag_that_is_accepted_is_kept() -> None:
    """Offline the wheels cannot be locked; that far it only comes where the set was found under its new commit."""
    around = Surroundings(Path("/"), Path("/"), dict(os.environ), lambda _: "", lambda _: None, offline=True)
    wanted = demands('vllm = ">=0.20"')
    lock = evolve(locked("v0.26.0"), targets=(evolve(lock_samples.small().targets[0], name=wanted.target),))
    lock = evolve(lock, packages=(evolve(lock.packages[0], targets=(wanted.target,)),))
    with pytest.raises(RocmlockError) as raised:
        resolve([wanted], snapshot(), recipes(), around, Kept(lock))
    assert raised.value.reason.reference == "tag-moved"
    around = replace(around, environ={**os.environ, "UV_NO_CACHE": "1"})
    with pytest.raises(RocmlockError) as raised:
        resolve([wanted], snapshot(), recipes(), around, Kept(lock, accepted=frozenset({"vllm"})))
    assert "wheels" in raised.value.message


def test_facts_that_are_older_than_the_lock_do_not_move_it_back() -> None:
    around = Surroundings(Path("/"), Path("/"), dict(os.environ), lambda _: "", lambda _: None, offline=True)
    wanted = demands('vllm = ">=0.20"')
    lock = evolve(locked("v0.99.0"), targets=(evolve(lock_samples.small().targets[0], name=wanted.target),))
    lock = evolve(lock, packages=(evolve(lock.packages[0], targets=(wanted.target,)),))
    with pytest.raises(RocmlockError) as raised:
        resolve([wanted], snapshot(), recipes(), around, Kept(lock))
    assert raised.value.reason.reference == "offline-missing"
    assert "v0.99.0" in raised.value.message
    assert "rocmlock update" in raised.value.hint


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/ROCm/triton", "ROCm/triton"),
        ("https://github.com/ROCm/triton.git", "ROCm/triton"),
        ("https://github.com/ROCm/triton/", "ROCm/triton"),
        ("https://example.org/ROCm/triton", None),
        ("https://github.com/ROCm", None),
    ],
)
def test_the_repository_of_an_address(url: str, name: str | None) -> None:
    assert repository_of(url) == name


def test_wheels_are_preferred_apart_from_those_that_move() -> None:
    lock = lock_samples.full()
    target = lock.targets[0]
    names = [wheel.partition("==")[0] for wheel in target.python.wheels]
    assert [wheel.name for wheel in Kept(lock).preferred("the environment", target.name)] == names
    first = frozenset(names[:1])
    assert [w.name for w in Kept(lock, moving=first).preferred("the environment", target.name)] == names[1:]
    assert Kept(lock, moving=None).preferred("the environment", target.name) == ()
    assert Kept(lock).preferred("the environment", "another") == ()
    assert Kept(lock).preferred("of no package", target.name) == ()


def test_packages_are_only_kept_as_what_they_are() -> None:
    package: Package = locked().packages[0]
    assert Kept(locked()).sdist(package.name) is None
