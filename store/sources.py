"""Sources into the store: files of the package index by name and hash, archives and folders as trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..errors import HASH_MISMATCH, OFFLINE_MISSING, SOURCE_CHANGED, SOURCE_UNSUPPORTED, RocmlockError
from ..lockfile.model import GitSource, Package, PathSource, SdistSource
from ..package_index import PackageIndex
from .archives import unpack_sdist
from .blobs import BlobStore
from .digest import Digest
from .layout import store_errors
from .publish import Publication, scratch_folder
from .trees import DEFAULT_IGNORE, Tree, add_tree, read_tree

MAX_FILE = 16 << 30
_CONNECTIONS = 8


def find_missing(blobs: BlobStore, files: Mapping[str, str]) -> dict[str, str]:
    """Those of ``files`` (file name -> ``sha256:…``) that the store does not have."""
    return {name: digest for name, digest in files.items() if not blobs.has(_hash(digest))}


def _hash(digest: str) -> str:
    return digest.removeprefix("sha256:")


def fetch_files(
    blobs: BlobStore,
    files: Mapping[str, str],
    environ: Mapping[str, str],
    on_file: Callable[[str], None],
) -> None:
    """Fetch ``files`` (file name -> ``sha256:…``) from the package index; each is published when it is whole.

    What can be had is kept even where another file cannot. Raises HASH_MISMATCH before anything else, then
    STORE_FULL and the like, then OFFLINE_MISSING with every file that is missing.
    """
    index = PackageIndex(environ)

    def fetch(name: str) -> RocmlockError | None:
        try:
            _fetch_file(blobs, index, name, _hash(files[name]))
        except RocmlockError as error:
            return error
        on_file(name)
        return None

    names = sorted(files)
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        answers = dict(zip(names, pool.map(fetch, names), strict=True))
    failed = {name: error for name, error in answers.items() if error is not None}
    if failed:
        raise _worst(failed)


def _worst(failed: Mapping[str, RocmlockError]) -> RocmlockError:
    """The error to tell of several: integrity first, what is merely out of reach last and all together."""
    other = [error for error in failed.values() if error.reason is not OFFLINE_MISSING]
    if other:
        return min(other, key=lambda error: error.reason is not HASH_MISMATCH)
    names = list(failed)
    first = failed[names[0]]
    return RocmlockError(
        OFFLINE_MISSING,
        f"{', '.join(names[:3])}{f' and {len(names) - 3} more files' if len(names) > 3 else ''} "
        "cannot be had from the package index.",
        context=[first.message, *first.context],
    )


def _fetch_file(blobs: BlobStore, index: PackageIndex, name: str, expected: str) -> None:
    project = name.rsplit("-", 1)[0] if name.endswith(".tar.gz") else name.split("-", 1)[0]
    found = next((file for file in index.files(project) if file.file == name), None)
    if found is None:
        raise RocmlockError(OFFLINE_MISSING, f"The package index has no file {name}.")
    with Publication(blobs.layout) as publication:
        blobs.add_stream(publication, index.stream(found), expected, name, MAX_FILE)
        publication.commit()


def source_files(packages: Iterable[Package]) -> dict[str, str]:
    """File name -> digest of the source distributions among ``packages``."""
    return {
        package.source.file: package.source.digest
        for package in packages
        if isinstance(package.source, SdistSource)
    }


def check_path(package: Package, folder: Path) -> Tree:
    """The tree of a local source. Raises SOURCE_CHANGED where it is not the one that was locked."""
    source = package.source
    assert isinstance(source, PathSource)  # noqa: S101 -- the caller has looked
    tree = read_tree(folder, DEFAULT_IGNORE)
    if str(tree.root) != source.digest:
        raise RocmlockError(
            SOURCE_CHANGED,
            f"{package.name}: {source.path} is not the folder that was locked.",
            context=[f"the lock says {source.digest}", f"it is {tree.root}"],
        )
    return tree


def add_source(blobs: BlobStore, package: Package, lock_folder: Path) -> Digest:
    """The package's source as a tree in the store.

    Raises SOURCE_CHANGED, SOURCE_INVALID, STORE_CORRUPT, and SOURCE_UNSUPPORTED for git sources.
    """
    match package.source:
        case PathSource(path=path):
            return _publish(blobs, check_path(package, lock_folder / path))
        case SdistSource(file=file, digest=digest):
            return _add_sdist(blobs, file, _hash(digest))
        case GitSource():
            raise RocmlockError(
                SOURCE_UNSUPPORTED, f"{package.name}: this version does not fetch git sources yet."
            )


def _publish(blobs: BlobStore, tree: Tree) -> Digest:
    with Publication(blobs.layout) as publication:
        add_tree(blobs, publication, tree)
        publication.commit()
    return tree.root


def _add_sdist(blobs: BlobStore, file: str, hash_: str) -> Digest:
    with scratch_folder(blobs.layout) as scratch, store_errors(blobs.layout.root):
        blobs.copy(hash_, scratch / "archive", mode=0o600)
        (scratch / "tree").mkdir()
        unpack_sdist(scratch / "archive", scratch / "tree", file)
        return _publish(blobs, read_tree(scratch / "tree"))
