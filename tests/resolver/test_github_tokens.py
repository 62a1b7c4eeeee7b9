"""A token goes to exactly the hosts that it belongs to, and nowhere else: no other host, file, line or error."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from github_samples import FIRST, PROJECT, Asker, world
from support.github import Fault, serve

from rocmlock.errors import GITHUB_DENIED, USAGE, RocmlockError
from rocmlock.resolver.github.client import GitHub
from rocmlock.resolver.github.hosts import Hosts, Token, read_hosts, token_for

SECRET = "not-in-any-known-form_ÄÖ".encode().hex()
ENTERPRISE = {"GH_ENTERPRISE_TOKEN": SECRET}
ALL = {
    "GH_TOKEN": "public-1",
    "GITHUB_TOKEN": "public-2",
    "GH_ENTERPRISE_TOKEN": "own-1",
    "GITHUB_ENTERPRISE_TOKEN": "own-2",
}


def test_hosts_of_an_enterprise_server_and_of_mirrors() -> None:
    assert read_hosts({}) == Hosts(
        "https://api.github.com", "https://raw.githubusercontent.com", "https://github.com"
    )
    assert read_hosts({"ROCMLOCK_GITHUB_URL": "https://github.com/"}) == Hosts()
    own = read_hosts({"ROCMLOCK_GITHUB_URL": "https://ghe.example:8443/"})
    assert own == Hosts(
        "https://ghe.example:8443/api/v3", "https://ghe.example:8443/raw", "https://ghe.example:8443"
    )
    mirror = read_hosts({"ROCMLOCK_GITHUB_RAW_URL": "https://mirror.example/raw/"})
    assert mirror == Hosts(raw="https://mirror.example/raw")


@pytest.mark.parametrize(
    "url",
    [
        "ghe.example",
        "ftp://ghe.example",
        "https://",
        "https://a:b",
        "https://me:pa55@ghe.example",
        "https://a?b",
    ],
)
def test_a_url_that_is_none_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(RocmlockError) as caught:
        read_hosts({"ROCMLOCK_GITHUB_URL": url})
    assert caught.value.reason is USAGE
    assert "ROCMLOCK_GITHUB_URL" in caught.value.message
    assert "pa55" not in f"{caught.value.message}{caught.value.hint}"


@pytest.mark.parametrize(
    ("base", "token"),
    [
        ("https://api.github.com", "public-1"),
        ("https://raw.githubusercontent.com", "public-1"),
        ("https://github.com", "public-1"),
        ("https://ghe.example/api/v3", "own-1"),
        ("https://api.github.com.evil.example", "own-1"),  # another host: never the public token
        ("http://127.0.0.1:8000", "own-1"),
        ("http://localhost:8000", "own-1"),
        ("http://ghe.example", None),
        ("http://api.github.com", None),
        ("http://127.0.0.1.example", None),
    ],
)
def test_which_token_a_host_gets(base: str, token: str | None) -> None:
    found = token_for(base, ALL)
    assert (found.secret if found else None) == token


def test_tokens_are_opaque_but_must_fit_into_a_header() -> None:
    assert token_for("https://github.com", {"GITHUB_TOKEN": "  v9.any+form/of==token\n"}) == Token(
        "GITHUB_TOKEN", "v9.any+form/of==token"
    )
    for wrong in ("two words", "line\nbreak", "bell\a", "schlüssel"):
        with pytest.raises(RocmlockError) as caught:
            token_for("https://github.com", {"GITHUB_TOKEN": wrong})
        assert caught.value.reason is GITHUB_DENIED
        assert wrong not in f"{caught.value.message}{caught.value.hint}"
    assert SECRET not in repr(Token("GH_TOKEN", SECRET))


def test_every_kind_of_request_carries_it_and_the_public_one_stays_home() -> None:
    with serve(world()) as server:
        server.tokens.add(SECRET)
        with Asker(server)({**ENTERPRISE, "GH_TOKEN": "public-secret"}) as github:
            github.releases(PROJECT)
            github.tags(PROJECT)
            github.file(PROJECT, FIRST, "version.txt")
        assert {seen.kind: seen.headers["authorization"].split()[0] for seen in server.seen} == {
            "api": "Bearer",
            "raw": "Bearer",
            "git": "Basic",
        }
        assert "public-secret" not in str(server.seen)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_to_another_host_takes_it_along(status: int) -> None:
    with serve(world()) as server, serve(world()) as other:
        server.tokens.add(SECRET)
        # to a stranger, and to a host that has a token of its own: neither gets one
        for there, counted in ((other.api, other), (server.raw, server)):
            counted.seen.clear()
            path = f"/{PROJECT}/{FIRST}/version.txt"
            server.faults.append(Fault("api", status=status, headers={"Location": f"{there}{path}"}))
            with Asker(server)(ENTERPRISE) as github, pytest.raises(RocmlockError):
                github.releases(PROJECT)
            landed = [seen for seen in counted.seen if seen.path == path]
            assert len(landed) == 1
            assert "authorization" not in landed[0].headers
            assert not any(name.startswith("x-rocmlock") for name in landed[0].headers)


def test_it_is_in_no_file_log_error_or_repr(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serve(world(private=True)) as server:
        server.tokens.add(SECRET)
        asker = Asker(server, tmp_path / "cache" / "github.sqlite")
        texts: list[str] = []
        with asker(ENTERPRISE) as github:
            github.releases(PROJECT)
            github.tags(PROJECT)
            github.file(PROJECT, FIRST, "version.txt")
            server.faults.append(Fault(status=403, body=f'{{"message": "no, {SECRET}"}}'.encode()))
            server.faults.append(Fault(status=401, times=1, contains="commits"))
            for _ in range(2):
                with pytest.raises(RocmlockError) as caught:
                    github.commit(PROJECT, FIRST)
                error = caught.value
                texts += [
                    error.message,
                    *error.context,
                    error.hint,
                    repr(error),
                    repr(github),
                    repr(vars(github)),
                ]
        texts += [*asker.told, caplog.text, str([record.__dict__ for record in caplog.records])]
        assert SECRET not in "\n".join(texts)
        for file in (tmp_path / "cache").iterdir():
            assert SECRET.encode() not in file.read_bytes()


def test_a_bad_token_is_told_by_the_name_of_its_variable() -> None:
    with serve(world()) as server:
        for ask in (lambda github: github.releases(PROJECT), lambda github: github.tags(PROJECT)):
            with (
                Asker(server)({"GITHUB_ENTERPRISE_TOKEN": SECRET}) as github,
                pytest.raises(RocmlockError) as caught,
            ):
                ask(github)
            assert caught.value.reason is GITHUB_DENIED
            assert "GITHUB_ENTERPRISE_TOKEN" in caught.value.message


def test_hosts_are_as_the_environment_says(tmp_path: Path) -> None:
    with pytest.raises(RocmlockError) as caught:
        GitHub({"ROCMLOCK_GITHUB_API_URL": "nowhere"}, tmp_path / "c.sqlite", print)
    assert caught.value.reason is USAGE
