"""The development environment's lock: complete, by hash, and naming no place to fetch from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements-dev.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked_entries() -> list[str]:
    """One text per entry: its first line and the hashes that follow it."""
    return re.split(r"\n(?=\S)", LOCK.strip())


def test_every_requirement_is_locked_at_a_version_in_its_range() -> None:
    pins = {canonicalize_name(name): version for name, version in re.findall(r"^(\S+?)==(\S+)", LOCK, re.M)}
    for text in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]:
        wanted = Requirement(text)
        assert pins[canonicalize_name(wanted.name)] in wanted.specifier, text


def test_every_entry_has_a_hash() -> None:
    entries = locked_entries()
    assert len(entries) > 20
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_no_host_is_named() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^\s*-", LOCK.replace("    --hash", ""), re.M), "an option of the installer"
