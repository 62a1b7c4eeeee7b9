"""Write the first-light manifest for this machine's Python: ``python tools/first_light.py OUT``.

The shipped manifest names one Python version; whoever tries it may have another. The copy asks for the
version of the Python that runs this, and its path sources still point into the checkout from where it lies.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_SHIPPED = Path(__file__).resolve().parent.parent / "manifests" / "stock" / "first-light.toml"
_PYTHON = re.compile(r'^(python\s*=\s*)"[^"]*"', re.M)
_SOURCE = re.compile(r'(\bpath\s*=\s*)"([^"]*)"')


def render_manifest(shipped: str, python: str, shipped_in: Path, written_in: Path) -> str:
    """The text with another ``python`` and with its relative paths as seen from another folder."""

    def render_path(found: re.Match[str]) -> str:
        return f'{found[1]}"{os.path.relpath(shipped_in / found[2], written_in)}"'

    text, changed = _PYTHON.subn(lambda found: f'{found[1]}"{python}"', shipped, count=1)
    if not changed:
        raise SystemExit("the first-light manifest names no python")
    return _SOURCE.sub(render_path, text)


def main() -> None:
    out = Path(sys.argv[1]).resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    python = "{}.{}".format(*sys.version_info[:2])
    out.write_text(render_manifest(_SHIPPED.read_text(), python, _SHIPPED.parent, out.parent))


if __name__ == "__main__":
    main()
