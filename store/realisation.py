"""Realisations: what a derivation or an action came to. Small JSON files, written atomically."""

from __future__ import annotations

import json

from attrs import asdict, frozen

from ..errors import STORE_CORRUPT, RocmlockError
from ..lockfile.names import file_name

FORMAT = 1


@frozen
class Realisation:
    """``output`` is the digest of the output tree, ``wheel`` the file in it that others take.

    ``code_objects`` are the GPU targets by file of the wheel, ``opaque`` the files whose GPU code could not
    be read, with the reason: facts that checks compare, so that a stricter check needs no new build.
    """

    derivation: str
    action: str
    output: str
    output_size: int
    wheel: str
    wheel_digest: str
    wheel_size: int
    code_objects: dict[str, list[str]]
    opaque: dict[str, str]
    seconds: float
    format: int = FORMAT


def render_realisation(realisation: Realisation) -> bytes:
    return (json.dumps(asdict(realisation), sort_keys=True, indent=1) + "\n").encode()


def parse_realisation(data: bytes, file: str) -> Realisation:
    """The realisation in ``data``. Raises STORE_CORRUPT for anything that is not one."""
    try:
        fields = json.loads(data)
        realisation = Realisation(**fields)
        file_name(realisation.wheel)
        for digest in (realisation.output, realisation.wheel_digest):
            int(digest, 16)
    except (ValueError, TypeError) as error:
        raise RocmlockError(STORE_CORRUPT, f"{file} is not a realisation: {error}.") from None
    return realisation
