"""GPU targets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmlock.gfx import PROCESSORS, nearest, normalise, normalise_held, sort_targets, target_of_elf_flags

MODES = st.dictionaries(st.sampled_from(["sramecc", "xnack"]), st.sampled_from("+-"))


def test_features_have_one_order() -> None:
    assert normalise("gfx90a:xnack-:sramecc+") == "gfx90a:sramecc+:xnack-"


@pytest.mark.parametrize(
    "text",
    [
        "gfx000",
        "gfx943",
        "gfx940",
        "gfx940:xnack+",
        "gfx1100:xnack+",
        "gfx900:sramecc+",
        "gfx90a:xnack",
        "gfx90a:xnack+:xnack-",
        "",
    ],
)
def test_what_is_no_target(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        normalise(text)


def test_order_is_numeric() -> None:
    assert sort_targets(["gfx1100", "gfx942", "gfx90a", "gfx906", "gfx90c"]) == (
        *("gfx906", "gfx90a", "gfx90c", "gfx942", "gfx1100"),
    )


def test_nearest() -> None:
    assert nearest("gfx943") == "gfx942"
    assert nearest("banana") is None


@given(st.sampled_from(sorted(PROCESSORS)), MODES)
def test_normalising_twice_changes_nothing(name: str, modes: dict[str, str]) -> None:
    features = PROCESSORS[name].features
    text = ":".join([name, *(f"{word}{sign}" for word, sign in modes.items() if word in features)])
    assert normalise(normalise(text)) == normalise(text)


@given(st.permutations(sorted(PROCESSORS)))
def test_the_order_is_total(names: list[str]) -> None:
    assert sort_targets(names) == sort_targets(reversed(names))


@given(st.sampled_from(sorted(PROCESSORS)), MODES)
def test_elf_flags_tell_the_target(name: str, modes: dict[str, str]) -> None:
    processor = PROCESSORS[name]
    modes = {word: sign for word, sign in modes.items() if word in processor.features}
    bits = {"-": 2, "+": 3}
    flags = processor.mach
    for word, shift in (("xnack", 8), ("sramecc", 10)):
        flags |= (bits[modes[word]] if word in modes else (1 if word in processor.features else 0)) << shift
    text = ":".join([name, *(f"{word}{sign}" for word, sign in modes.items())])
    assert target_of_elf_flags(flags) == normalise(text)


def test_a_generic_version_is_no_part_of_the_target() -> None:
    assert target_of_elf_flags(0x0100_0351) == "gfx9-generic:xnack+"


def test_a_withdrawn_target_may_be_held_but_not_asked_for() -> None:
    assert normalise_held("gfx941:xnack-:sramecc+") == "gfx941:sramecc+:xnack-"
    assert target_of_elf_flags(0x540) == "gfx940"
    for text in ("gfx000", "gfx943", "gfx940:xnack"):
        with pytest.raises(ValueError, match=r"\w"):
            normalise_held(text)


@given(st.integers(0, 2**32 - 1))
def test_what_elf_flags_name_is_canonical(flags: int) -> None:
    target = target_of_elf_flags(flags)
    assert target is None or normalise_held(target) == target


def test_unknown_flags_are_unknown() -> None:
    assert target_of_elf_flags(0xFF) is None
