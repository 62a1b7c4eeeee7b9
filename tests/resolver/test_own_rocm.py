"""Which ROCm a stack is for whose sources the manifest names itself."""

from __future__ import annotations

from datetime import date

import lock_samples
import pytest
from attrs import evolve
from resolver_samples import AT, SetCatalog, demands

from rocmlock.errors import RocmlockError
from rocmlock.lockfile.model import Lock, Reason, Rocm
from rocmlock.resolver.catalog import RocmRelease
from rocmlock.resolver.kept import Kept
from rocmlock.resolver.own_rocm import choose_rocm

OWN = 'x = { path = "x" }'


def release(version: str, *gfx: str, day: date | None = date(2026, 1, 1)) -> RocmRelease:
    return RocmRelease(version, day, gfx, AT)


CATALOG = SetCatalog(
    [],
    [
        release("10.0.0", "gfx950"),
        release("7.14.0a20260521", "gfx942"),
        release("7.2.3", "gfx942", "gfx90a", day=date(2026, 6, 1)),
        release("7.2.0", "gfx942"),
        release("7.1.0", day=None),
    ],
)


def chosen(rocm: str, gfx: str = "gfx942", more: str = "", kept: Kept = Kept()) -> str:  # noqa: B008 -- frozen
    found = choose_rocm(demands(OWN, rocm=rocm, gfx=f'["{gfx}"]', more=more), CATALOG, kept)
    assert found is not None
    assert found.reasons
    return found.version


def locked(version: str) -> Lock:
    lock = lock_samples.small()
    target = evolve(
        lock.targets[0], name="default", rocm=Rocm(version, reasons=(Reason("here", "so it is"),))
    )
    return evolve(lock, targets=(target,), packages=(), wheels=())


def test_the_newest_in_range_that_is_made_for_the_archs() -> None:
    assert chosen(">=7.0") == "7.2.3"
    assert chosen(">=7.0", "gfx942:xnack-") == "7.2.3"
    assert chosen(">=7.0,<7.2") == "7.1.0"
    assert chosen(">=7.0", "gfx950") == "10.0.0"
    assert chosen(">=7.0", more="[resolve]\nreleased-before = 2026-03-01") == "7.2.0"


def test_a_version_that_is_named_is_taken_whether_it_is_known_or_not() -> None:
    assert chosen("==7.2.0") == "7.2.0"
    assert chosen("==6.4.1") == "6.4.1"


def test_what_is_locked_stays_until_everything_is_updated() -> None:
    lock = locked("7.2.0")
    assert chosen(">=7.0", kept=Kept(lock)) == "7.2.0"
    assert chosen(">=7.0", kept=Kept(lock, moving=frozenset({"x"}))) == "7.2.0"
    assert chosen(">=7.0", kept=Kept(lock, moving=None)) == "7.2.3"
    assert chosen(">=7.2.1", kept=Kept(lock)) == "7.2.3"


def test_none_in_range_is_told() -> None:
    with pytest.raises(RocmlockError) as raised:
        chosen(">=11")
    assert raised.value.reason.reference == "unsatisfiable"
