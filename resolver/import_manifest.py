"""Parts of a manifest -> its text, each pin with the place that it was read at. Pure."""

from __future__ import annotations

import json

from .importing import Draft, Wanted

KEYS = ("gfx", "rocm", "python", "gcc")


def find_gaps(draft: Draft) -> tuple[str, ...]:
    """What a manifest has to say and neither the file nor the user did."""
    return tuple(key for key in KEYS if not getattr(draft, key))


def render_manifest(draft: Draft, name: str) -> str:
    """The manifest called ``name``. ``draft`` is complete and has no gaps."""
    lines = [
        "schema = 1",
        f"name = {_quoted(name)}",
        "",
        "[target]",
        f"gfx = [{', '.join(_quoted(each) for each in draft.gfx)}]",
        f"rocm = {_quoted(draft.rocm)}",
        f"python = {_quoted(draft.python)}",
        "",
        "[toolchain]",
        f"host = {{ gcc = {_quoted(draft.gcc)} }}",
        "",
        "[packages]",
    ]
    for package in draft.packages:
        lines += _package(package)
    if draft.requires:
        lines += ["", "[python]", "requires = [", *(f"    {_quoted(each)}," for each in draft.requires), "]"]
    return "\n".join(lines) + "\n"


def _package(package: Wanted) -> list[str]:
    if not package.url:
        return [f"# {package.at}", f"{package.name} = {_quoted(package.specifier or '*')}"]
    asked = f": {package.ref}" if package.ref != package.commit else ""
    source = f"{{ git = {_quoted(package.url)}, rev = {_quoted(package.commit)} }}"
    return [f"# {_one_line(f'{package.at}{asked}')}", f"{package.name} = {source}"]


def _one_line(text: str) -> str:
    """A comment holds no control characters (TOML 1.0)."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _quoted(text: str) -> str:
    """A basic string: JSON's escapes are among TOML's, once nothing beyond ASCII is escaped in pairs."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
