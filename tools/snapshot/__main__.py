"""``python -m tools.snapshot --data FOLDER --date YYYY-MM-DD [-o FILE]``: write the bundled snapshot."""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any

from .facts import Facts, Json, origin, version_of_tag, words
from .other_sets import make_pytorch_sets, make_triton_sets
from .vllm_sets import make_vllm_sets

OUTPUT = Path(__file__).parent.parent.parent / "resolver" / "data" / "snapshot.json"
FORMAT = 1


def make_snapshot(folder: Path, dated: date) -> Json:
    """The snapshot as JSON data (docs/formats/snapshot.md)."""
    facts = Facts(folder)
    return {
        "format": FORMAT,
        "dated": dated.isoformat(),
        "tops": {"vllm": "vllm-project/vllm", "pytorch": "pytorch/pytorch", "triton": "triton-lang/triton"},
        "releases": {name: [_release(row) for row in facts.tags(name)] for name in facts.repositories()},
        "rocm": [_rocm(row) for row in facts.rocm["releases"]],
        "sets": {
            "vllm": make_vllm_sets(facts),
            "pytorch": make_pytorch_sets(facts),
            "triton": make_triton_sets(facts),
        },
    }


def _release(row: Json) -> list[Any]:
    """[tag, version, commit, tag object, date, pre-release, origin]"""
    return [
        row["tag"],
        version_of_tag(row["tag"]) or "",
        row["commit"],
        row.get("annotated_tag_object"),
        (row.get("date") or "")[:10] or None,
        bool(row.get("prerelease")),
        origin(words(row["from"]), inferred=bool(row["from"].get("full_hash_from"))),
    ]


def _rocm(row: Json) -> list[Any]:
    """[version, date, gfx targets, origin]"""
    return [row["version"], row.get("date"), row.get("gpu_targets") or [], origin(words(row.get("from")))]


def render_snapshot(snapshot: Json) -> str:
    """One release or set a line, so that diffs can be read."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def rows(table: dict[str, list[Any]]) -> str:
        parts = [
            f"  {compact(name)}: [\n" + ",\n".join(f"   {compact(row)}" for row in items) + "\n  ]"
            for name, items in table.items()
        ]
        return "{\n" + ",\n".join(parts) + "\n }"

    parts = [f" {compact(name)}: {compact(snapshot[name])}" for name in ("format", "dated", "tops")]
    parts.append(' "rocm": [\n' + ",\n".join(f"  {compact(row)}" for row in snapshot["rocm"]) + "\n ]")
    parts += [f' "releases": {rows(snapshot["releases"])}', f' "sets": {rows(snapshot["sets"])}']
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.snapshot", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with releases.json, vllm_pins.json, raw/, …"
    )
    parser.add_argument("--date", type=date.fromisoformat, required=True, help="day the facts were collected")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    text = render_snapshot(make_snapshot(options.data, options.date))
    options.output.write_text(text, encoding="utf-8")
    print(f"{options.output}: {len(text) // 1024} KiB")


if __name__ == "__main__":
    main()
