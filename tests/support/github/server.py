"""The server: three ports (API, raw files, git), so that hosts differ as GitHub's do. Records every request."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import ssl
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from . import answers
from .git import answer_by_git
from .refs import advertise, listing
from .routes import Reply, api_reply
from .world import World

KINDS = ("api", "raw", "git")


@dataclass
class Fault:
    """What goes wrong with the next ``times`` requests of a kind whose path holds ``contains``.

    ``status`` with ``headers`` and ``body`` answers in place of the server. ``cut`` sends that many bytes less
    than announced; ``hang_up`` closes the connection without an answer; ``delay`` waits so many seconds first.
    """

    kind: str = "api"
    contains: str = ""
    times: int = 1
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: int = 0
    hang_up: bool = False
    delay: float = 0.0


@dataclass(frozen=True)
class Seen:
    """A request and the status of its answer. ``headers`` have lower-case names."""

    kind: str
    method: str
    path: str
    headers: dict[str, str]
    status: int


class Server:
    """What a test holds in its hand: the base URLs, and what can be set while the server runs."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.tokens: set[str] = set()
        self.limit = 60
        self.remaining = 60
        self.reset = int(time.time()) + 1800
        self.max_age = 0  # seconds; GitHub itself says 60
        self.faults: list[Fault] = []
        self.seen: list[Seen] = []
        self.lock = threading.Lock()
        self.scheme = "http"
        self.ports: dict[str, int] = {}

    @property
    def api(self) -> str:
        return self._url("api")

    @property
    def raw(self) -> str:
        return self._url("raw")

    @property
    def git(self) -> str:
        return self._url("git")

    def _url(self, kind: str) -> str:
        return f"{self.scheme}://127.0.0.1:{self.ports[kind]}"

    def environ(self) -> dict[str, str]:
        """The variables that lead rocmlock here."""
        return {
            "ROCMLOCK_GITHUB_API_URL": self.api,
            "ROCMLOCK_GITHUB_RAW_URL": self.raw,
            "ROCMLOCK_GITHUB_GIT_URL": self.git,
        }

    def count(self, kind: str, status: int | None = None) -> int:
        """How many requests of a kind were answered, with that status if one is given."""
        with self.lock:
            return sum(seen.kind == kind and status in {None, seen.status} for seen in self.seen)

    def counts(self) -> dict[str, int]:
        """Requests by kind; those to the API that cost quota apart from those answered by 304."""
        unchanged = self.count("api", 304)
        return {
            "api": self.count("api") - unchanged,
            "api_not_modified": unchanged,
            "raw": self.count("raw"),
            "git": self.count("git"),
        }

    def take_fault(self, kind: str, path: str) -> Fault | None:
        """The fault that this request meets."""
        with self.lock:
            for fault in self.faults:
                if fault.kind == kind and fault.contains in path and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def spend(self) -> bool:
        """One request of the quota; False where it is used up."""
        with self.lock:
            if self.remaining <= 0:
                return False
            self.remaining -= 1
            return True

    def give_back(self) -> None:
        """Take back what :meth:`spend` took."""
        with self.lock:
            self.remaining += 1


@contextmanager
def serve(
    world: World, ports: tuple[int, int, int] = (0, 0, 0), tls: ssl.SSLContext | None = None
) -> Generator[Server, None, None]:
    """A running server; ``ports`` for API, raw files and git (0: any that is free), encrypted with ``tls``."""
    state = Server(world)
    listening = [
        ThreadingHTTPServer(("127.0.0.1", port), _handler(state, kind))
        for kind, port in zip(KINDS, ports, strict=True)
    ]
    threads: list[threading.Thread] = []
    for kind, http in zip(KINDS, listening, strict=True):
        http.daemon_threads = True
        state.ports[kind] = http.server_port
        if tls:
            state.scheme = "https"
            http.socket = tls.wrap_socket(http.socket, server_side=True, do_handshake_on_connect=False)
        threads.append(
            threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        )
    for thread in threads:
        thread.start()
    try:
        yield state
    finally:
        for http in listening:
            http.shutdown()
            http.server_close()


def _handler(state: Server, kind: str) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_state = state
        server_kind = kind

    return Handler


class _Handler(BaseHTTPRequestHandler):
    server_state: Server
    server_kind: str
    protocol_version = "HTTP/1.1"  # what libgit2 needs, with a Content-Length each time
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        state, kind = self.server_state, self.server_kind
        body = self._body()
        fault = state.take_fault(kind, self.path)
        if fault and fault.delay:
            time.sleep(fault.delay)
        if fault and fault.hang_up:
            self.close_connection = True
            self._record(0)
            return
        if fault and fault.status is not None:
            self._send(Reply(fault.status, fault.body, dict(fault.headers)))
            return
        reply = {"api": self._api, "raw": self._raw, "git": self._git}[kind](body)
        self._send(reply, cut=fault.cut if fault else 0)

    def _api(self, _: bytes) -> Reply:
        state = self.server_state
        denied = self._bad_credentials()
        if denied:
            return denied
        path = urlsplit(self.path)
        if path.path == "/rate_limit":
            made = answers.rate_limit(state.limit, state.remaining, state.reset)
            return self._limits(Reply.json(made))
        if not state.spend():
            text = "API rate limit exceeded for 127.0.0.1. (But here's the good news: authenticated requests get more.)"
            return self._limits(Reply.json(answers.message(text), 403))
        reply = api_reply(
            state.world, path.path, parse_qs(path.query), state.api, state.git, self._token() is not None
        )
        if reply.status == 200:
            etag = f'W/"{hashlib.sha256(reply.body).hexdigest()}"'
            who = "private" if self._token() else "public"
            reply.headers |= {"ETag": etag, "Cache-Control": f"{who}, max-age={state.max_age}, s-maxage=60"}
            reply.headers["Vary"] = "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding"
            if self.headers.get("If-None-Match") == etag:
                if self._token():  # GitHub gives a 304 for nothing to those alone who say who they are
                    state.give_back()
                reply = Reply(304, b"", reply.headers)
        return self._limits(reply)

    def _limits(self, reply: Reply) -> Reply:
        state = self.server_state
        reply.headers |= {
            "X-RateLimit-Limit": str(state.limit),
            "X-RateLimit-Remaining": str(state.remaining),
            "X-RateLimit-Reset": str(state.reset),
            "X-RateLimit-Used": str(state.limit - state.remaining),
            "X-RateLimit-Resource": "core",
        }
        return reply

    def _raw(self, _: bytes) -> Reply:
        world = self.server_state.world
        parts = unquote(urlsplit(self.path).path).strip("/").split("/", 3)
        missing = Reply(404, b"404: Not Found", {"Content-Type": "text/plain; charset=utf-8"})
        if len(parts) < 4:
            return missing
        name = f"{parts[0]}/{parts[1]}"
        repository = world.repository(world.renamed(name) or name)  # the raw host follows renames by itself
        commit = (
            repository.commits.get(parts[2]) if repository and self._may_see(repository.private) else None
        )
        text = commit.files.get(parts[3]) if commit else None
        if text is None:
            return missing
        data = text if isinstance(text, bytes) else text.encode()
        return Reply(200, data, {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "max-age=300"})

    def _git(self, body: bytes) -> Reply:
        world, path = self.server_state.world, urlsplit(self.path)
        parts = unquote(path.path).strip("/").split("/", 2)
        if len(parts) < 3:
            return Reply(404, b"Not Found", {"Content-Type": "text/plain"})
        name, tail = f"{parts[0]}/{parts[1].removesuffix('.git')}", f"/{parts[2]}"
        new = world.renamed(name)
        if new:
            query = f"?{path.query}" if path.query else ""
            return Reply(301, b"", {"Location": f"{self.server_state.git}/{new}.git{tail}{query}"})
        denied = self._bad_credentials()
        repository = world.repository(name)
        if denied or repository is None or not self._may_see(repository.private):
            asked = {"WWW-Authenticate": 'Basic realm="GitHub"', "Content-Type": "text/plain"}
            if self._token() and not denied:
                return Reply(404, b"Repository not found.", {"Content-Type": "text/plain"})
            return Reply(401, b"Repository not found.", asked)
        if repository.git is not None:
            done = answer_by_git(repository.git, self.command, tail, path.query, self._lower(), body)
            return Reply(done.status, done.body, done.headers)
        return self._git_from_facts(repository, tail, body)

    def _git_from_facts(self, repository: Any, tail: str, body: bytes) -> Reply:
        kind = {"Content-Type": "application/x-git-upload-pack-advertisement", "Cache-Control": "no-cache"}
        wanted = "version=2" in self.headers.get("Git-Protocol", "")
        if tail == "/info/refs":
            version = repository.protocol if wanted or repository.protocol < 2 else 0
            return Reply(200, advertise(repository, version), kind)
        if tail == "/git-upload-pack" and repository.protocol == 2:
            kind["Content-Type"] = "application/x-git-upload-pack-result"
            return Reply(200, listing(repository, body), kind)
        return Reply(404, b"Not Found", {"Content-Type": "text/plain"})

    def _token(self) -> str | None:
        """The token that the request carries, whether it is a good one or not."""
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "basic":
            try:
                return base64.b64decode(value).decode().partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                return ""
        return value if scheme else None

    def _may_see(self, private: bool) -> bool:
        return not private or self._token() in self.server_state.tokens

    def _bad_credentials(self) -> Reply | None:
        token = self._token()
        if token is None or token in self.server_state.tokens:
            return None
        return Reply.json(answers.message("Bad credentials"), 401)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _lower(self) -> dict[str, str]:
        headers: Message = self.headers
        return {name.lower(): value for name, value in headers.items()}

    def _record(self, status: int) -> None:
        seen = Seen(self.server_kind, self.command, self.path, self._lower(), status)
        with self.server_state.lock:
            self.server_state.seen.append(seen)

    def _send(self, reply: Reply, cut: int = 0) -> None:
        self._record(reply.status)  # first, so that whoever has the answer finds it counted
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: len(reply.body) - cut])
        if cut:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- http.server's name
        return


def describe(server: Server) -> str:
    """The base URLs and variables of a server, for whoever runs it by hand."""
    return json.dumps(server.environ(), indent=2)
