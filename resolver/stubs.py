"""Stub wheels: metadata alone, in the place of packages that are built from source.

uv resolves against them, so nothing from an index can take the place of a package that the lock builds. Their
local version sets them apart from files of the same version on an index, whose requirements differ.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

MARK = "rocmlock"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A distribution that is built from source. ``version`` empty: not known, counts as 0."""

    distribution: str
    version: str
    requires: tuple[str, ...]

    @property
    def stub_version(self) -> str:
        """The public version with our local part: ``==2.11.0`` of others still matches it."""
        return f"{Version(self.version or '0').public}+{MARK}"


def write_stub(folder: Path, held: HeldOut) -> None:
    """Write the stub wheel of ``held`` into ``folder``."""
    name = canonicalize_name(held.distribution).replace("-", "_")
    info = f"{name}-{held.stub_version}.dist-info"
    metadata = "".join(
        (
            "Metadata-Version: 2.1\n",
            f"Name: {held.distribution}\nVersion: {held.stub_version}\n",
            *(f"Requires-Dist: {line}\n" for line in held.requires),
        )
    )
    with zipfile.ZipFile(folder / f"{name}-{held.stub_version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
