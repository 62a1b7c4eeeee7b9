"""Manifest -> Demands: the manifest's lines as values that choosing and checking compare with. Pure."""

from __future__ import annotations

from ..errors import MANIFEST_UNSUPPORTED, RocmlockError
from ..gfx import sort_targets
from ..lockfile.demands import Demands, Forbidden, FromGit, FromPath, FromSdist, PackageDemand, Ranged
from ..lockfile.model import Compiler, Flags
from ..manifests.schema import HostCompiler, Manifest, PackageTable, canonicalize_name


def make_demands(manifest: Manifest) -> tuple[Demands, ...]:
    """What ``manifest`` demands of each target, sorted by the targets' names.

    Raises MANIFEST_UNSUPPORTED for what this version cannot do.
    """
    _require_supported(manifest)
    device = manifest.toolchain.device
    packages = tuple(_package(manifest, name, table) for name, table in sorted(manifest.packages.items()))
    return tuple(
        Demands(
            name=manifest.name,
            target=name,
            gfx=sort_targets(target.gfx),
            rocm=target.rocm,
            python=target.python,
            host=_host(manifest.toolchain.host),
            device=Compiler("rocm") if device == "rocm" else Compiler("clang", device.clang),
            packages=packages,
            flags=Flags(manifest.flags.opt_level, manifest.flags.debug),
            requires=tuple(sorted(manifest.python.requires)),
            released_before=manifest.resolve.released_before,
            strategy=manifest.resolve.strategy,
            forbidden=tuple(
                Forbidden(canonicalize_name(each.package), each.versions, each.reason)
                for each in manifest.resolve.forbid
            ),
        )
        for name, target in sorted(manifest.target.named.items())
    )


def _require_supported(manifest: Manifest) -> None:
    if manifest.system.base != "host":
        raise RocmlockError(
            MANIFEST_UNSUPPORTED,
            f'base = "{manifest.system.base}" is not in this version.',
            hint='Write base = "host" under [system].',
        )


def _host(host: HostCompiler) -> Compiler:
    if host.gcc:
        return Compiler("gcc", host.gcc)
    return Compiler("clang", host.clang or "", host.gcc_install or "")


def _package(manifest: Manifest, name: str, table: PackageTable) -> PackageDemand:
    flags = manifest.flags.packages.get(name)
    origin = _origin(table)
    return PackageDemand(name, origin, _line(name, origin), table.gpu, dict(flags.env) if flags else {})


def _origin(table: PackageTable) -> Ranged | FromGit | FromPath | FromSdist:
    if table.git is not None and table.rev is not None:
        return FromGit(table.git, table.rev)
    if table.path is not None:
        return FromPath(table.path)
    if table.sdist is not None:
        return FromSdist(table.sdist)
    return Ranged(table.version or "", table.repository or "")


def _line(name: str, origin: Ranged | FromGit | FromPath | FromSdist) -> str:
    match origin:
        case Ranged(specifier, repository) if repository:
            return f'{name} = {{ version = "{specifier or "*"}", repository = "{repository}" }}'
        case Ranged(specifier):
            return f'{name} = "{specifier or "*"}"'
        case FromSdist(specifier):
            return f'{name} = {{ sdist = "{specifier or "*"}" }}'
        case FromPath(path):
            return f'{name} = {{ path = "{path}" }}'
        case FromGit(url, rev):
            return f'{name} = {{ git = "{url}", rev = "{rev}" }}'
