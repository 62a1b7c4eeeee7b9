"""Outputs as folders: made from the store when somebody asks for one."""

from __future__ import annotations

from pathlib import Path

from .blobs import BlobStore
from .derivation import EPOCH
from .digest import Digest
from .layout import store_errors
from .publish import scratch_folder
from .realisation import Realisation
from .trees import materialise


def materialise_output(blobs: BlobStore, made: Realisation) -> Path:
    """A read-only folder with a realisation's output, the same for all who ask. Raises STORE_CORRUPT."""
    place = blobs.layout.tree(made.output)
    if place.is_dir():
        return place
    with scratch_folder(blobs.layout) as scratch, store_errors(blobs.layout.root):
        root = Digest(made.output, made.output_size)
        materialise(blobs, root, scratch / "tree", writable=False, epoch=EPOCH)
        (scratch / "tree").chmod(0o755)  # a folder that is moved must be writable
        (scratch / "tree").rename(place)
        place.chmod(0o555)
    return place
