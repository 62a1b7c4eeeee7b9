"""Whatever GitHub, or what stands between, answers instead: a reason each, and no traceback."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from github_samples import FIRST, PROJECT, Asker, world
from support.github import Fault, serve

from rocmlock.errors import (
    FILE_UNREADABLE,
    GITHUB_DENIED,
    GITHUB_UNREACHABLE,
    RATE_LIMITED,
    UPSTREAM_UNREADABLE,
    ExitCode,
    RocmlockError,
)
from rocmlock.resolver.github.hosts import Token
from rocmlock.resolver.github.refusals import Refusal, refusal_error

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
RESET = int(NOW.timestamp()) + 12 * 60 - 20


def refused(
    status: int, headers: Mapping[str, str] | None = None, message: str = "", token: Token | None = None
) -> RocmlockError:
    body = json.dumps({"message": message}).encode() if message else b""
    variables = ("GH_TOKEN", "GITHUB_TOKEN")
    where = "https://api.github.com/repos/a/b"
    return refusal_error(Refusal("api", where, status, headers or {}, body, token, variables), NOW)


SPENT = {"x-ratelimit-remaining": "0", "x-ratelimit-limit": "60", "x-ratelimit-reset": str(RESET)}


@pytest.mark.parametrize("status", [403, 429])
def test_a_spent_quota_says_when_it_is_full_again_and_what_a_token_buys(status: int) -> None:
    error = refused(status, SPENT, "API rate limit exceeded for 192.0.2.1.")
    assert error.reason is RATE_LIMITED
    assert "60 an hour" in error.message
    assert "at 14:11, in 12 minutes" in error.message
    assert "GITHUB_TOKEN" in error.hint
    assert "5000" in error.hint


def test_with_a_token_the_hint_does_not_sell_another() -> None:
    error = refused(403, SPENT, token=Token("GH_TOKEN", "secret"))
    assert "TOKEN" not in error.hint
    assert "in 12 minutes" in error.hint


@pytest.mark.parametrize(("skew", "said"), [(3600, "in 12 minutes"), (-3600, "in 12 minutes")])
def test_a_clock_that_is_wrong_here_does_not_change_how_long_it_lasts(skew: int, said: str) -> None:
    there = int(NOW.timestamp()) + skew
    headers = {**SPENT, "x-ratelimit-reset": str(there + 700), "date": formatdate(there, usegmt=True)}
    assert said in refused(403, headers).message


@pytest.mark.parametrize("reset", ["0", str(RESET - 3600), "99999999999", "soon", "", "-5"])
def test_a_reset_that_makes_no_sense_promises_nothing(reset: str) -> None:
    error = refused(403, {**SPENT, "x-ratelimit-reset": reset})
    assert error.reason is RATE_LIMITED
    assert "minutes" not in error.message


def test_the_meanings_of_403_are_told_apart() -> None:
    token = Token("GITHUB_TOKEN", "secret")
    assert refused(403, {"retry-after": "60"}).reason is RATE_LIMITED
    assert refused(403, {}, "You have exceeded a secondary rate limit.").reason is RATE_LIMITED
    sso = refused(403, {"x-github-sso": "required; url=https://github.com/orgs/a/sso?x=y"}, token=token)
    assert (sso.reason, "single sign-on" in sso.message, "GITHUB_TOKEN" in sso.message) == (
        GITHUB_DENIED,
        True,
        True,
    )
    plain = refused(403, {"x-ratelimit-remaining": "40"}, "Resource not accessible by integration", token)
    assert plain.reason is GITHUB_DENIED
    assert "Resource not accessible" in plain.context[0]
    assert refused(451).reason is GITHUB_DENIED


def test_a_bad_token_is_named_by_its_variable_only() -> None:
    error = refused(401, {}, "Bad credentials: s3cr3t", Token("GH_TOKEN", "s3cr3t"))
    assert error.reason is GITHUB_DENIED
    assert "GH_TOKEN" in error.message
    assert "s3cr3t" not in f"{error.message}{error.context}{error.hint}"


def test_the_real_limit_of_a_real_server() -> None:
    with serve(world()) as server, Asker(server)() as github:
        server.remaining = 1
        assert github.releases(PROJECT)
        with pytest.raises(RocmlockError) as caught:
            github.commit(PROJECT, FIRST)
        assert caught.value.reason is RATE_LIMITED
        assert "in 30 minutes" in caught.value.message
        assert len(github.tags(PROJECT)) == 3  # git and files go on
        assert github.file(PROJECT, FIRST, "version.txt")


def test_a_short_pause_is_kept_a_long_one_is_an_error() -> None:
    with serve(world()) as server:
        asker = Asker(server)
        server.faults.append(Fault(status=403, headers={"Retry-After": "7"}))
        with asker() as github:
            assert github.releases(PROJECT)
        assert asker.slept == [7]
        server.faults.append(Fault(status=429, headers={"Retry-After": "60"}))
        with asker() as github, pytest.raises(RocmlockError) as caught:
            github.releases(PROJECT)
        assert caught.value.reason is RATE_LIMITED
        assert asker.slept == [7]


@pytest.mark.parametrize("kind", ["api", "raw", "git"])
@pytest.mark.parametrize(
    "fault", [{"status": 502}, {"hang_up": True}, {"cut": 5}], ids=["502", "hang-up", "cut"]
)
def test_what_passes_is_tried_three_times_and_no_more(kind: str, fault: dict[str, int]) -> None:
    with serve(world()) as server:
        asker = Asker(server)

        def ask() -> object:
            with asker() as github:
                return {
                    "api": lambda: github.releases(PROJECT),
                    "raw": lambda: github.file(PROJECT, FIRST, "version.txt"),
                    "git": lambda: github.tags(PROJECT),
                }[kind]()

        server.faults.append(Fault(kind=kind, times=2, **fault))  # type: ignore[arg-type]
        assert ask()
        assert len(asker.told) == 2
        before = server.count(kind)
        server.faults.append(Fault(kind=kind, times=9, **fault))  # type: ignore[arg-type]
        with pytest.raises(RocmlockError) as caught:
            ask()
        assert caught.value.reason is (UPSTREAM_UNREADABLE if "cut" in fault else GITHUB_UNREACHABLE)
        assert server.count(kind) - before == 3


@pytest.mark.parametrize("status", [400, 410, 418])
def test_other_refusals_are_not_tried_again(status: int) -> None:
    with serve(world()) as server, Asker(server)() as github:
        server.faults.append(Fault(times=9, status=status))
        with pytest.raises(RocmlockError) as caught:
            github.releases(PROJECT)
        assert caught.value.reason is UPSTREAM_UNREADABLE
        assert server.count("api") == 1


LOGIN = b"<!DOCTYPE html><title>Hotel WiFi</title>"
HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("fault", "ask"),
    [
        (Fault("api", status=200, headers=HTML, body=LOGIN), "releases"),
        (Fault("raw", status=200, headers=HTML, body=LOGIN), "file"),
        (Fault("git", status=200, headers=HTML, body=LOGIN), "tags"),
        (Fault("git", status=200, body=b"", headers={"Content-Type": "text/plain"}), "tags"),
        (Fault("api", status=200, headers=JSON, body=b'{"half": '), "releases"),
        (Fault("api", status=200, headers=JSON, body=b'[{"tag_name": 5}]'), "releases"),
    ],
    ids=["api-html", "raw-html", "git-html", "git-dumb", "half-json", "other-shape"],
)
def test_what_is_no_answer_is_named_and_never_kept(fault: Fault, ask: str, tmp_path: Path) -> None:
    with serve(world()) as server:
        asker = Asker(server, tmp_path / "github.sqlite")
        arguments = {"releases": (PROJECT,), "tags": (PROJECT,), "file": (PROJECT, FIRST, "version.txt")}[ask]
        server.faults.append(fault)
        with asker() as github:
            with pytest.raises(RocmlockError) as caught:
                getattr(github, ask)(*arguments)
            assert caught.value.reason is UPSTREAM_UNREADABLE
            assert "127.0.0.1" in caught.value.message
            assert getattr(github, ask)(*arguments)
        with asker() as github:
            assert getattr(github, ask)(*arguments)


def test_an_answer_about_another_commit_is_not_kept_for_ever(tmp_path: Path) -> None:
    other = {"sha": "b" * 40, "commit": {"committer": {"date": "2026-01-01T00:00:00Z"}}}
    with serve(world()) as server, Asker(server, tmp_path / "github.sqlite")() as github:
        server.faults.append(Fault("api", status=200, headers=JSON, body=json.dumps(other).encode()))
        with pytest.raises(RocmlockError):
            github.commit(PROJECT, FIRST)
        assert github.commit(PROJECT, FIRST)


def test_redirects_end() -> None:
    with serve(world()) as server, Asker(server)() as github:
        around = {"Location": f"{server.api}/repos/{PROJECT}/releases"}
        server.faults.append(Fault(times=99, status=302, headers=around))
        with pytest.raises(RocmlockError) as caught:
            github.releases(PROJECT)
        assert caught.value.reason is UPSTREAM_UNREADABLE
        assert server.count("api") == 6


@pytest.mark.parametrize(
    "location", ["ftp://127.0.0.1/x", "http://[::1/", "http://127.0.0.1:99999/", "file:///etc/passwd"]
)
def test_a_redirect_to_nowhere(location: str) -> None:
    with serve(world()) as server, Asker(server)() as github:
        server.faults.append(Fault(times=3, status=302, headers={"Location": location}))
        with pytest.raises(RocmlockError) as caught:
            github.releases(PROJECT)
        assert caught.value.reason is UPSTREAM_UNREADABLE


def test_the_next_page_is_never_on_another_host() -> None:
    with serve(world()) as server, Asker(server)() as github:
        headers = {**JSON, "Link": f'<{server.raw}/repos/{PROJECT}/releases?page=2>; rel="next"'}
        server.faults.append(Fault(status=200, headers=headers, body=b"[]"))
        with pytest.raises(RocmlockError) as caught:
            github.releases(PROJECT)
        assert caught.value.reason is UPSTREAM_UNREADABLE
        assert server.count("raw") == 0


def test_a_server_that_says_nothing_is_left() -> None:
    with serve(world()) as server, Asker(server)(attempts=2, silence=0.05) as github:
        server.faults.append(Fault(times=2, delay=0.3))
        with pytest.raises(RocmlockError) as caught:
            github.releases(PROJECT)
        assert caught.value.reason is GITHUB_UNREACHABLE


def test_nobody_there_is_a_reason_of_its_own() -> None:
    with serve(world()) as server:
        asker = Asker(server)
    with asker() as github, pytest.raises(RocmlockError) as caught:
        github.tags(PROJECT)
    assert caught.value.reason is GITHUB_UNREACHABLE
    assert caught.value.reason.code is ExitCode.OFFLINE


@contextmanager
def proxy(seen: list[str]) -> Generator[str, None, None]:
    """A proxy that passes plain GETs on and writes down which."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            with build_opener(ProxyHandler({})).open(self.path) as answer:
                data = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- http.server's name
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        http.server_close()


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


def test_a_proxy_is_used_and_a_broken_one_hides_its_password(no_proxies: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    with serve(world()) as server, proxy(seen) as url:
        no_proxies.setenv("HTTP_PROXY", url)
        with Asker(server)() as github:
            assert github.file(PROJECT, FIRST, "version.txt") == "1.0.0\n"
        assert seen == [f"{server.raw}/{PROJECT}/{FIRST}/version.txt"]
        for broken in (
            "http://user:pa55word@127.0.0.1:1",
            "gopher://user:pa55word@127.0.0.1:1",
            "http://u:pa55word@[",
        ):
            no_proxies.setenv("HTTP_PROXY", broken)
            with Asker(server)() as github, pytest.raises(RocmlockError) as caught:
                github.file(PROJECT, FIRST, "version.txt")
            error = caught.value
            assert error.reason is GITHUB_UNREACHABLE
            assert "pa55word" not in f"{error.message}{error.context}{error.hint}"


@pytest.mark.requires("openssl")
def test_certificates_of_ones_own(tmp_path: Path, no_proxies: pytest.MonkeyPatch) -> None:
    import ssl

    key, certificate = tmp_path / "key.pem", tmp_path / "ca.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
        no_proxies.delenv(name, raising=False)
    with serve(world(), tls=context) as server:
        asker = Asker(server)
        assert server.api.startswith("https://")
        with asker() as github, pytest.raises(RocmlockError) as caught:
            github.tags(PROJECT)
        assert caught.value.reason is GITHUB_UNREACHABLE
        assert "SSL_CERT_FILE" in caught.value.hint
        assert asker.told == []  # not tried again
        with asker({"REQUESTS_CA_BUNDLE": str(certificate)}) as github:
            assert github.tags(PROJECT)
        no_proxies.setenv("SSL_CERT_FILE", str(certificate))
        with asker({"SSL_CERT_FILE": str(certificate)}) as github:
            assert github.tags(PROJECT)
        no_proxies.delenv("SSL_CERT_FILE")
        with (
            asker({"REQUESTS_CA_BUNDLE": str(tmp_path / "gone.pem")}) as github,
            pytest.raises(RocmlockError) as caught,
        ):
            github.tags(PROJECT)
        assert caught.value.reason is FILE_UNREADABLE
