"""Sources into the store: files of the package index by name and hash, archives and folders as trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..errors import OFFLINE_MISSING, SOURCE_CHANGED, SOURCE_UNSUPPORTED, RocmlockError
from ..lockfile.model import GitSource, Package, PathSource, SdistSource
from ..package_index import PackageIndex
from .archives import unpack_sdist
from .blobs import BlobStore
from .digest import Digest
from .publish import Publication, remove_folder, scratch_folder, store_errors
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

    Raises OFFLINE_MISSING (also where the index has no such file), HASH_MISMATCH or STORE_FULL.
    """
    if not files:
        return
    index = PackageIndex(environ)

    def fetch(name: str) -> None:
        _fetch_file(blobs, index, name, _hash(files[name]))
        on_file(name)

    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        for _ in pool.map(fetch, sorted(files)):
            pass


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
    with store_errors(blobs.layout.root):
        scratch = scratch_folder(blobs.layout)
        try:
            blobs.copy(hash_, scratch / "archive", mode=0o600)
            (scratch / "tree").mkdir()
            unpack_sdist(scratch / "archive", scratch / "tree", file)
            return _publish(blobs, read_tree(scratch / "tree"))
        finally:
            remove_folder(scratch)
