"""``python -m tools.snapshot --data FOLDER --date YYYY-MM-DD [-o FILE]``: write the bundled snapshot."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path
from typing import Any

from packaging.version import Version

from rocmlock.errors import RocmlockError
from rocmlock.gfx import sort_targets
from rocmlock.resolver.snapshot_writer import FORMAT, render_snapshot

from .commits import make_commits
from .facts import Facts, release_origin
from .origins import Json, is_citable, said, version_of_tag, words
from .other_sets import make_pytorch_sets, make_triton_sets
from .vllm_sets import REPOSITORY, find_asked, make_vllm_sets

OUTPUT = Path(__file__).parent.parent.parent / "resolver" / "data" / "snapshot.json"


def make_snapshot(folder: Path, dated: date) -> Json:
    """The snapshot as JSON data (docs/formats/snapshot.md)."""
    facts = Facts(folder)
    rocm = sorted(facts.rocm, key=lambda row: Version(row["version"]), reverse=True)
    return {
        "format": FORMAT,
        "dated": dated.isoformat(),
        "tops": {"vllm": REPOSITORY, "pytorch": "pytorch/pytorch", "triton": "triton-lang/triton"},
        "rocm": [_rocm(row) for row in rocm],
        "releases": {
            name: [_release(row) for row in rows]
            for name in facts.repositories()
            if (rows := facts.tags(name))
        },
        "commits": make_commits(facts, find_asked(facts)),
        "sets": {
            "vllm": make_vllm_sets(facts),
            "pytorch": make_pytorch_sets(facts),
            "triton": make_triton_sets(facts),
        },
    }


def _release(row: Json) -> list[Any]:
    """[tag, version, commit, date, origin, pre-release, tag object]; the last two only where set."""
    made = [
        row["tag"],
        version_of_tag(row["tag"]) or "",
        row["commit"],
        (row.get("date") or "")[:10] or None,
        release_origin(row),
        int(bool(row.get("prerelease"))),
        row.get("annotated_tag_object"),
    ]
    return made if made[6] else made[:6] if made[5] else made[:5]


def _rocm(row: Json) -> list[Any]:
    """[version, date, gfx targets, origin]"""
    source = row.get("from")
    targets = " ".join(sort_targets(row.get("gpu_targets") or []))
    return [row["version"], row.get("date"), targets, said(words(source), inferred=not is_citable(source))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.snapshot", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with releases.json, vllm_pins.json, raw/, …"
    )
    parser.add_argument("--date", type=date.fromisoformat, required=True, help="day the facts were collected")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    try:
        text = render_snapshot(make_snapshot(options.data, options.date))
    except RocmlockError as error:
        raise SystemExit("\n".join(f"{one.place}: {one.message}" for one in error.problems)) from None
    options.output.write_text(text, encoding="utf-8")
    print(f"{options.output}: {len(text) // 1024} KiB")


if __name__ == "__main__":
    main()
