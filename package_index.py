"""The package index: which files a project has, and their bytes. Names files, never executes them.

Shared by the resolver (which source distribution) and the store (the file that a lock names). The index is
PyPI unless ``ROCMLOCK_INDEX_URL``, ``UV_DEFAULT_INDEX``, ``UV_INDEX_URL`` or ``PIP_INDEX_URL`` says
otherwise; its URL never goes into a lock, a log or an error (it may hold a password).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .errors import OFFLINE_MISSING, UPSTREAM_UNREADABLE, RocmlockError

if TYPE_CHECKING:
    import pypi_simple

_VARIABLES = ("ROCMLOCK_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
_TIMEOUT = (10.0, 60.0)  # seconds to connect, seconds without a byte
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of a project. ``version`` as its name says; ``sha256`` 64 hex or None where not published."""

    project: str
    file: str
    version: str | None
    is_sdist: bool
    sha256: str | None
    size: int | None
    uploaded: datetime | None
    yanked: bool
    url: str


class PackageIndex:
    """A client of one index. Raises OFFLINE_MISSING and UPSTREAM_UNREADABLE, both without URLs."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        import pypi_simple

        configured = next((environ[name] for name in _VARIABLES if environ.get(name)), None)
        self._client = pypi_simple.PyPISimple(configured or pypi_simple.PYPI_SIMPLE_ENDPOINT)

    def files(self, project: str) -> list[IndexFile]:
        """Every file of ``project``; empty where the index has no such project."""
        import pypi_simple
        import requests

        try:
            page = self._client.get_project_page(project, timeout=_TIMEOUT)
        except pypi_simple.NoSuchProjectError:
            return []
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else "an error"
            raise RocmlockError(
                UPSTREAM_UNREADABLE, f"The package index answers {status} for {project}."
            ) from None
        except requests.RequestException as error:
            raise _offline(project, error) from None
        except (pypi_simple.UnsupportedContentTypeError, pypi_simple.UnsupportedRepoVersionError, ValueError):
            raise RocmlockError(
                UPSTREAM_UNREADABLE, f"The package index's page of {project} cannot be read."
            ) from None
        return [_index_file(project, package) for package in page.packages]

    def stream(self, file: IndexFile) -> Iterator[bytes]:
        """The bytes of ``file`` in chunks. The caller checks hash and size."""
        import requests

        try:
            with self._client.s.get(file.url, stream=True, timeout=_TIMEOUT) as response:
                response.raise_for_status()
                yield from response.iter_content(_CHUNK)
        except requests.RequestException as error:
            raise _offline(file.file, error) from None


def _index_file(project: str, package: pypi_simple.DistributionPackage) -> IndexFile:
    return IndexFile(
        project=project,
        file=package.filename,
        version=package.version,
        is_sdist=package.package_type == "sdist",
        sha256=package.digests.get("sha256"),
        size=package.size,
        uploaded=package.upload_time,
        yanked=package.is_yanked,
        url=package.url,
    )


def _offline(what: str, error: Exception) -> RocmlockError:
    fact = re.sub(r"https?://\S+|host='[^']*'", "the index", str(error))
    kind = type(error).__name__
    return RocmlockError(
        OFFLINE_MISSING,
        f"The package index cannot be reached for {what} ({kind}).",
        context=[fact[:300]],
    )
