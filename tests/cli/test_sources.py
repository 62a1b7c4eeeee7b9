"""``--source``: GitHub over real HTTP, a snapshot of it, and what happens when it cannot be reached."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from harness import Cli
from resolver_samples import recipes, snapshot
from support import github
from upstream_world import make_world

STOCK = Path(__file__).resolve().parents[2] / "manifests/stock/mi300x-vllm.toml"
NOWHERE = {
    f"ROCMLOCK_GITHUB_{name}_URL": "http://127.0.0.1:9" for name in ("API", "RAW", "GIT")
}  # the discard port: nobody listens


@pytest.fixture
def server() -> Iterator[github.Server]:
    with github.serve(make_world(snapshot(), recipes())) as served:
        served.limit = served.remaining = 5000
        yield served


def environ(server: github.Server, cli: Cli) -> dict[str, str]:
    return {**server.environ(), "XDG_CACHE_HOME": str(cli.cwd / "cache"), "ROCMLOCK_SOURCE": "github"}


@pytest.mark.requires("network")
def test_the_stock_manifest_from_github_and_from_a_snapshot_of_it_is_one_lock(
    cli: Cli, server: github.Server
) -> None:
    env = environ(server, cli)
    manifest = cli.cwd / "stack.toml"
    shutil.copy(STOCK, manifest)
    assert cli("catalog", "snapshot", "-o", "facts.json", env=env).code == 0
    assert cli("resolve", manifest, "--source", "facts.json").code == 0
    lock = (cli.cwd / "stack.lock").read_bytes()

    shutil.rmtree(cli.cwd / "cache")
    before = server.counts()
    cold = cli("resolve", manifest, env=env)
    assert (cold.code, (cli.cwd / "stack.lock").read_bytes()) == (0, lock), cold.stderr
    assert "Unchanged" in cold.stderr
    assert server.counts()["api"] - before["api"] <= 15

    # Without a token GitHub counts what has not changed, too: of all answers that is the list of releases.
    quota = server.remaining
    assert cli("resolve", manifest, env=env).code == 0
    assert quota - server.remaining == 2
    server.tokens.add("good")
    assert cli("resolve", manifest, env={**env, "GH_ENTERPRISE_TOKEN": "good"}).code == 0
    assert quota - server.remaining == 2, "a warm resolve with a token costs no quota"

    offline = cli("resolve", manifest, "--source", "github", env={**env, **NOWHERE})
    assert (offline.code, offline.stderr.split()[0]) == (7, "error[github-unreachable]")


def test_when_github_cannot_be_reached_that_is_said_and_the_snapshot_answers(cli: Cli) -> None:
    shown = cli("catalog", "show", "triton", env={"ROCMLOCK_SOURCE": "auto", **NOWHERE})
    assert shown.code == 0, shown.stderr
    assert "GitHub cannot be reached: using the facts of 2026-12-01" in shown.stderr
    assert "triton-lang/triton" in shown.stdout


def test_a_quota_that_is_used_up_is_an_error_and_not_a_silent_snapshot(
    cli: Cli, server: github.Server
) -> None:
    server.remaining = 0
    shown = cli("catalog", "show", "triton", env={**environ(server, cli), "ROCMLOCK_SOURCE": "auto"})
    assert (shown.code, shown.stderr.split()[0]) == (1, "error[rate-limited]")
    assert "takes requests again" in shown.stderr
    assert "token" in shown.stderr.lower()


def test_a_token_is_in_no_file_and_no_output(cli: Cli, server: github.Server) -> None:
    secret = "ghs_not-a-real-token-3f1d"
    env = {**environ(server, cli), "GH_ENTERPRISE_TOKEN": secret}
    server.tokens.add(secret)
    shown = cli("catalog", "snapshot", "-o", "facts.json", env=env)
    assert shown.code == 0
    assert any(secret in seen.headers.get("authorization", "") for seen in server.seen)
    assert secret not in shown.stdout + shown.stderr
    for path in cli.cwd.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes(), path


RECIPE = """schema = 1
name = "ours"
distribution = "ours"
repositories = ["org/ours"]

[releases]
rank = 9

[[tested]]
variant = "image"
paths = ["Dockerfile"]
rocm = ["IMAGE"]
gfx = "ARCHS"
pins = { triton = { commit = "TRITON", repository = "TRITON_URL" } }

[[reads]]
fact = "supported-python"
reader = "cmake"
paths = ["CMakeLists.txt"]
name = "PYTHONS"

[build]
steps = [["{python}", "-m", "build", "--outdir", "{out}", "{src}"]]

[[checks]]
match = "equal"
"""
DOCKERFILE = """ARG IMAGE=rocm/dev-ubuntu-24.04:7.1.1-complete
ARG TRITON=v3.5.0
ARG TRITON_URL=https://github.com/triton-lang/triton
ARG ARCHS=gfx942
FROM ${IMAGE}
ARG TRITON
ARG TRITON_URL
RUN git clone ${TRITON_URL} t && cd t && git checkout ${TRITON}
"""


def test_a_new_project_is_one_recipe(cli: Cli) -> None:
    """Its layout is read at a tag, with the line of each fact, without a word of code."""
    commit, triton = github.fake_commit("ours"), github.fake_commit("triton")
    day = date(2026, 1, 1)
    files: dict[str, str | bytes] = {
        "Dockerfile": DOCKERFILE,
        "CMakeLists.txt": 'set(PYTHONS "3.12" "3.13")\n',
    }
    made = github.World(
        {
            "org/ours": github.Repository(
                tags=(github.Tag("v1.0", commit),),
                releases=(github.Release("v1.0", day),),
                commits={commit: github.Commit(day, files)},
            ),
            "triton-lang/triton": github.Repository(tags=(github.Tag("v3.5.0", triton),)),
        }
    )
    (cli.cwd / "ours.toml").write_text(RECIPE)
    with github.serve(made) as served:
        told = cli("recipe", "check", "ours.toml", "--at", "v1.0", env=environ(served, cli))
        assert told.code == 0, told.stderr
        wrong = cli("recipe", "check", "ours.toml", "--at", "v2.0", env=environ(served, cli))
    assert wrong.code == 2
    assert told.stdout.splitlines() == [
        f"ours 1.0  image  {commit}",
        "  ROCm 7.1.1  [Dockerfile:1]",
        "  built for gfx942  [Dockerfile:4]",
        "  supports Python 3.12, 3.13  [CMakeLists.txt:1]",
        f"  pins triton (3.5.0) triton-lang/triton v3.5.0: {triton}  [Dockerfile:2]",
    ]
