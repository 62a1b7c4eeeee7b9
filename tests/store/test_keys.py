"""Derivation keys and action digests: golden, and moved by what matters alone."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import lock_samples
import pytest
from harness import check_golden

from rocmlock.lockfile.model import Check, GitSource, Lock, Package, PathSource
from rocmlock.lockfile.names import commit
from rocmlock.store.action import plan_action, render_steps
from rocmlock.store.derivation import Derivation, order_packages, plan_derivations, render_derivation
from rocmlock.store.digest import digest_of_bytes

GOLDEN = Path(__file__).parent.parent / "golden" / "keys"
WORDS = {"{cc}": "/usr/bin/gcc-11", "{cxx}": "/usr/bin/g++-11"}
LOCK = lock_samples.full()


def derivations(lock: Lock = LOCK, system: str = "s" * 64) -> dict[str, tuple[Derivation, str]]:
    planned = plan_derivations(lock, lock.targets[0], system=system, words=WORDS)
    return {package.name: (derivation, key) for package, derivation, key in planned}


def key(lock: Lock = LOCK, name: str = "triton", system: str = "s" * 64) -> str:
    return derivations(lock, system)[name][1]


def with_triton(**change: object) -> Lock:
    packages = tuple(attrs.evolve(p, **change) if p.name == "triton" else p for p in LOCK.packages)
    return attrs.evolve(LOCK, packages=packages)


def test_golden_derivation_and_key() -> None:
    derivation, found = derivations()["triton"]
    check_golden(GOLDEN / "derivation.txt", f"{render_derivation(derivation).decode()}{found}\n")


def test_golden_action() -> None:
    derivation, _ = derivations()["triton"]
    action = plan_action(
        derivation,
        digest_of_bytes(b"source"),
        {"cmake-3.31.6-py3-none-any.whl": digest_of_bytes(b"wheel")},
        interpreter="/usr/bin/python3.12",
        uv_version="1.0",
    )
    rows = [f"{digest.hash} {data.hex()}" for digest, data in action.messages.items()]
    check_golden(
        GOLDEN / "action.txt", "\n".join([*sorted(rows), action.data.hex(), action.digest.hash]) + "\n"
    )
    check_golden(GOLDEN / "steps.sh", render_steps(derivation, "/usr/bin/python3.12"))


@pytest.mark.parametrize(
    "change",
    [
        {"source": GitSource("https://x", commit("3" * 40))},
        {"source": PathSource("x", lock_samples.digest("3"))},
        {"picks": ()},
        {"patches": ()},
        {"downloads": ()},
        {"steps": (("{python}", "setup.py"),)},
        {"environment": {"CC": "{cc}", "A": "2"}},
        {"gfx": ("gfx942",)},
        {"version": "3.6.1"},
        {"build": attrs.evolve(LOCK.packages[0].build, wheels=("numpy==2.3.5",))},
    ],
)
def test_what_matters_moves_the_key_and_those_above(change: dict[str, object]) -> None:
    changed = with_triton(**change)
    assert key(changed) != key()
    assert key(changed, "msgspec") != key(LOCK, "msgspec")


@pytest.mark.parametrize(
    "change",
    [
        {"source": GitSource("https://mirror.example/triton", commit("2" * 40), "other-tag")},
        {"memory_per_job": 9000},
        {"reasons": ()},
        {"checks": (Check("equal"),)},
        {"environment": dict(reversed(LOCK.packages[0].environment.items()))},
    ],
)
def test_what_does_not_matter_leaves_the_key(change: dict[str, object]) -> None:
    assert key(with_triton(**change)) == key()


def test_the_system_and_its_words_are_in_the_key() -> None:
    assert key(system="t" * 64) != key()
    target = LOCK.targets[0]
    other = {
        p.name: k
        for p, _, k in plan_derivations(LOCK, target, system="s" * 64, words={"{cc}": "/usr/bin/gcc-12"})
    }
    assert other["triton"] != key()


def test_packages_in_another_order_have_the_same_keys() -> None:
    shuffled = attrs.evolve(LOCK, packages=LOCK.packages[::-1], wheels=LOCK.wheels[::-1])
    assert {name: k for name, (_, k) in derivations(shuffled).items()} == {
        name: k for name, (_, k) in derivations().items()
    }


def test_needs_come_first() -> None:
    assert [package.name for package in order_packages(LOCK)] == ["triton", "msgspec"]


def test_a_derivation_can_be_read_field_by_field() -> None:
    derivation, _ = derivations()["msgspec"]
    prefix, body, _ = render_derivation(derivation).split(b"\n")
    assert prefix == b"rocmlock-derivation-v1"
    fields = json.loads(body)
    assert fields["inputs"] == {"triton": key()}
    assert "url" not in fields["source"]


def test_arguments_are_quoted() -> None:
    package: Package = attrs.evolve(LOCK.packages[0], steps=(("echo", "$(rm -rf /)", "a b", "{src}"),))
    lock = attrs.evolve(LOCK, packages=(package, *LOCK.packages[1:]))
    text = render_steps(derivations(lock)["triton"][0], "/usr/bin/python3.12")
    assert "echo '$(rm -rf /)' 'a b' /build/src" in text.splitlines()
