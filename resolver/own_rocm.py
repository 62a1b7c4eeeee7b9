"""The ROCm of a stack whose sources the manifest names itself: no tested set says which. Pure."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet

from ..errors import UNSATISFIABLE, RocmlockError
from ..lockfile.demands import Demands
from ..lockfile.model import Reason, Rocm
from ..versions.rocm import rocm_in
from .catalog import Catalog, RocmRelease
from .kept import Kept


def choose_rocm(demands: Demands, catalog: Catalog, kept: Kept) -> Rocm | None:
    """The ROCm in the lock where it stays, else the newest in the range that is made for all archs.

    A version that is named exactly is taken as it is. None where none is used. Raises UNSATISFIABLE.
    """
    if demands.rocm is None:
        return None
    locked = kept.rocm(demands.target)
    if locked and rocm_in(locked.version, demands.rocm):
        return locked
    exact = [each.version for each in SpecifierSet(demands.rocm) if each.operator == "=="]
    if len(exact) == 1 and not exact[0].endswith(".*") and rocm_in(exact[0], demands.rocm):
        return Rocm(exact[0], reasons=(Reason("manifest", f"the manifest asks for ROCm {exact[0]}"),))
    usable = (each for each in catalog.rocm_releases() if _usable(each, demands, demands.rocm))
    found = next(usable, None)
    if found is None:
        raise RocmlockError(
            UNSATISFIABLE,
            f'No ROCm release that is known is in "{demands.rocm}" and made for {", ".join(demands.gfx)}.',
            context=[f"ROCm {each.version}: {', '.join(each.gfx)}" for each in catalog.rocm_releases()][:12],
            hint='Name one exactly, as in rocm = "==7.2.3".',
        )
    says = f"ROCm {found.version} is the newest release in range"
    return Rocm(found.version, reasons=(Reason(str(found.origin), says, found.origin.evidence),))


def _usable(release: RocmRelease, demands: Demands, range_: str) -> bool:
    before = demands.released_before
    return (
        rocm_in(release.version, range_)
        and all(
            not release.gfx or target in release.gfx or target.partition(":")[0] in release.gfx
            for target in demands.gfx
        )
        and not (before and (release.date is None or release.date >= before))
    )
