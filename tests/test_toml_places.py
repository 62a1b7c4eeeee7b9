"""Places of keys in TOML text."""

from __future__ import annotations

import tomllib

import pytest

from rocmlock.toml_places import find_place, syntax_place

TEXT = """\
a = 1
"q k".b = [1, {x = 2}]
[t.u]
k = "ü"
[[arr]]
n = 1
[[arr]]
n = 2
[arr.sub]
z = {y = {w = "ü", v = 1}}
"""


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (("a",), (1, 1), (1, 5)),
        (("q k", "b"), (2, 1), (2, 11)),
        (("q k", "b", 1, "x"), (2, 16), (2, 20)),
        (("t", "u", "k"), (4, 1), (4, 5)),
        (("arr", 0, "n"), (6, 1), (6, 5)),
        (("arr", 1, "n"), (8, 1), (8, 5)),
        (("arr", 1, "sub", "z", "y", "w"), (10, 11), (10, 15)),
        (("arr", 1, "sub", "z", "y", "v"), (10, 20), (10, 24)),
    ],
)
def test_keys_and_values(path: tuple[str | int, ...], key: tuple[int, int], value: tuple[int, int]) -> None:
    assert find_place(TEXT, path) == key
    assert find_place(TEXT, path, value=True) == value


def test_what_is_not_there_is_at_its_nearest_ancestor() -> None:
    assert find_place(TEXT, ("t", "u", "nope", "deeper")) == (3, 2)
    assert find_place(TEXT, ("nope",)) == (1, 1)


@pytest.mark.parametrize(("text", "place"), [("a = \n", (1, 5)), ("a = 1\nb = [1,", (2, 8))])
def test_syntax_errors(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as raised:
        tomllib.loads(text)
    assert syntax_place(raised.value, text) == place
