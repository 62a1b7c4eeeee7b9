"""A small package index on loopback: the Simple API's JSON form, over real HTTP."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def sdist(name: str, version: str, files: Mapping[str, str]) -> bytes:
    """The bytes of a source distribution."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


def wheel(name: str, version: str, *requires: str) -> tuple[str, bytes]:
    """A wheel of metadata alone, as (file name, bytes)."""
    made, info = io.BytesIO(), f"{name}-{version}.dist-info"
    lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {line}" for line in requires)]
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(f"{info}/METADATA", "\n".join(["Metadata-Version: 2.1", *lines, ""]))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name}-{version}-py3-none-any.whl", made.getvalue()


@contextmanager
def serve(
    files: Mapping[str, bytes], lies: Mapping[str, str] | None = None, *, kept_for: int = 0
) -> Generator[str, None, None]:
    """The URL of an index with ``files`` (file name -> bytes). ``lies`` gives wrong hashes by file name;
    clients may keep answers ``kept_for`` seconds."""

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # head and body are two segments: the second would wait for an ACK

        def do_GET(self) -> None:
            name = self.path.strip("/").rsplit("/", 1)[-1]
            if self.path.startswith("/files/") and name in files:
                self._answer(files[name], "application/octet-stream")
                return
            rows = [
                {
                    "filename": file,
                    "url": f"/files/{file}",
                    "hashes": {"sha256": (lies or {}).get(file) or hashlib.sha256(data).hexdigest()},
                    "size": len(data),
                    "yanked": False,
                }
                for file, data in files.items()
                if file.rsplit("-", 1)[0].split("-")[0].replace("_", "-").lower() == name
            ]
            if not rows:
                self.send_error(404)
                return
            page = {"meta": {"api-version": "1.1"}, "name": name, "files": rows, "versions": []}
            self._answer(json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json")

        do_HEAD = do_GET  # noqa: N815 -- http.server's name

        def _answer(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            if kept_for:
                self.send_header("Cache-Control", f"max-age={kept_for}")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- http.server's name
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple/"
    finally:
        server.shutdown()
        server.server_close()
