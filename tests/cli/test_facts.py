"""``catalog`` and ``recipe``: what is known of upstream, and where it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness import Cli
from resolver_samples import all_sets, snapshot

from rocmlock.resolver.snapshot import BUNDLED, read_snapshot


def test_the_catalog_tells_its_figures_its_age_and_what_it_lacks(cli: Cli) -> None:
    shown = cli("catalog", "show")
    assert shown.code == 0
    assert [line.split()[0] for line in shown.stdout.splitlines()] == ["package", "vllm", "pytorch", "triton"]
    assert "Facts of 2026-12-01" in shown.stderr
    assert "vllm v0.31.0 rocm_base lacks the commit of pytorch (ROCm/pytorch 733fca1)" in shown.stderr
    assert "more: rocmlock catalog show vllm" in shown.stderr


def test_one_package_is_shown_whole_and_as_json(cli: Cli) -> None:
    answer: Any = cli("catalog", "show", "vllm", "--json").json()
    (top,) = answer["tops"]
    assert (top["name"], top["whole"], top["sets"]) == ("vllm", 10, 160)
    assert len(top["lacks"]) == 150
    assert answer["dated"] == "2026-12-01"
    wrong = cli("catalog", "show", "numpy")
    assert (wrong.code, wrong.stderr.splitlines()[0].split()[0]) == (2, "error[usage]")


def test_a_snapshot_that_is_written_is_a_catalog_of_the_same_facts(cli: Cli) -> None:
    path = cli.cwd / "facts.json"
    written: Any = cli("catalog", "snapshot", "-o", path, "--json").json()
    assert written["sets"] == {"vllm": 160, "pytorch": 31, "triton": 13}
    again = read_snapshot(path)
    for top in snapshot().tops():
        assert again.candidates(top) == snapshot().candidates(top)
        assert all_sets(again, top) == all_sets(snapshot(), top)
    assert again.rocm_releases() == snapshot().rocm_releases()
    twice = cli.cwd / "twice.json"
    assert cli("catalog", "snapshot", "--source", path, "-o", twice).code == 0
    assert twice.read_bytes() == path.read_bytes()


def test_any_snapshot_can_be_the_source(cli: Cli) -> None:
    facts = json.loads(BUNDLED.read_text())
    facts["sets"]["vllm"] = [row for row in facts["sets"]["vllm"] if row["tag"] != "v0.33.0"]
    (cli.cwd / "older.json").write_text(json.dumps(facts))
    answer: Any = cli("catalog", "show", "vllm", "--source", "older.json", "--json").json()
    assert answer["tops"][0]["newest"] == "0.32.0"
    for command in (["catalog", "show"], ["recipe", "check", "vllm", "--at", "v0.27.1"]):
        wrong = cli(*command, "--source", "none.json")
        assert (wrong.code, wrong.stderr.split()[0]) == (1, "error[snapshot-invalid]")


def test_recipes_are_listed_and_shown(cli: Cli) -> None:
    assert "vllm-project/vllm" in cli("recipe", "list").stdout
    assert cli("recipe", "show", "triton").stdout.startswith("schema = 1")
    shown: Any = cli("recipe", "show", "triton", "--json").json()
    assert shown["name"] == "triton"
    wrong = cli("recipe", "show", "tritn")
    assert wrong.code == 2
    assert "rocmlock recipe show triton" in wrong.stderr


def test_what_a_recipe_reads_at_a_tag_is_told_with_places(cli: Cli) -> None:
    told = cli("recipe", "check", "vllm", "--at", "v0.27.1").stdout
    assert "ROCm 7.2.3  [docker/Dockerfile.rocm_base:1]" in told
    assert "pins pytorch (2.11.0) ROCm/pytorch d0c8b1f3: d0c8b1f364ec" in told
    assert "states pytorch==2.13.0  [CMakeLists.txt:72]" in told
    answer: Any = cli("recipe", "check", "vllm", "--at", "v0.27.1", "--json").json()
    pins = {pin["package"]: pin for pin in answer["sets"][0]["pins"]}
    assert pins["triton"]["picks"][0]["asked"] == "555d04f"
    wrong = cli("recipe", "check", "vllm", "--at", "v0.27.9")
    assert wrong.code == 2
    assert "--at v0.27.1" in wrong.stderr


def test_a_recipe_file_is_checked_with_every_fault_and_its_place(cli: Cli) -> None:
    path = cli.cwd / "ours.toml"
    path.write_text('schema = 1\nname = "ours"\ncolour = 1\n[build]\nsteps = "make"\n')
    wrong = cli("recipe", "check", path)
    assert (wrong.code, wrong.stderr.split()[0]) == (2, "error[recipe-invalid]")
    assert f"{path}:3" in wrong.stderr
    assert f"{path}:5" in wrong.stderr
    path.write_text('schema = 1\nname = "ours"\n[build]\nsteps = [["make"]]\n[[checks]]\nmatch = "none"\n')
    assert cli("recipe", "check", path, "--json").json() == {"recipe": "ours", "valid": True}


@pytest.mark.parametrize("name", ["catalog", "recipe"])
def test_help_has_examples(cli: Cli, name: str) -> None:
    assert "Examples:" in cli(name, "--help").stdout


def test_a_manifest_finds_recipes_in_its_own_folder(cli: Cli, tmp_path: Path) -> None:
    (cli.cwd / "recipes").mkdir()
    (cli.cwd / "recipes/ours.toml").write_text(
        'schema = 1\nname = "ours"\n[build]\nsteps = [["make"]]\n[[checks]]\nmatch = "none"\n'
    )
    manifest = cli.cwd / "rocmlock.toml"
    assert cli("init").code == 0
    text = manifest.read_text().replace("[target]", 'recipes = ["recipes"]\n[target]', 1)
    manifest.write_text(text.replace("vllm =", 'ours = "*"\nvllm ='))
    # The name is known; no tested set pins it, and that is told as for any package.
    assert "error[unsatisfiable]" in cli("resolve").stderr
    manifest.write_text(manifest.read_text().replace('["recipes"]', '["nowhere"]'))
    assert "no folder" in cli("resolve").stderr
