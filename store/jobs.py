"""How many jobs a build gets: cores, bounded by memory. Never part of a key."""

from __future__ import annotations

import os
from pathlib import Path

# Names that the executor sets outside of the action; a build's identity must not depend on them.
VARIABLES = ("MAX_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL", "MAKEFLAGS", "NINJAFLAGS")


def plan_jobs(cores: int, memory: int, memory_per_job: int) -> int:
    """Jobs of ``memory_per_job`` MiB each on a machine with ``memory`` MiB; at least 1."""
    return max(1, min(cores, memory // memory_per_job if memory_per_job else cores))


def read_machine() -> tuple[int, int]:
    """(cores that this process may use, memory in MiB)."""
    cores = len(os.sched_getaffinity(0))
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return cores, int(line.split()[1]) // 1024
    return cores, cores * 2048


def job_environment(jobs: int) -> dict[str, str]:
    """The variables that build systems read their parallelism from."""
    return {
        "MAX_JOBS": str(jobs),
        "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs),
        "MAKEFLAGS": f"-j{jobs}",
        "NINJAFLAGS": f"-j{jobs}",
    }
