"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import FILE_UNWRITABLE, RocmlockError


def write_text(path: Path, text: str) -> bool:
    """Write ``text`` atomically; False when the file holds it already (then it is not touched)."""
    try:
        if path.is_file() and path.read_bytes() == text.encode():
            return False
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RocmlockError(FILE_UNWRITABLE, f"{path} cannot be written: {error.strerror}.") from None
    return True
