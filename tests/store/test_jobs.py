"""Jobs: cores, bounded by memory."""

from __future__ import annotations

import pytest

from rocmlock.manifests.schema import RESERVED
from rocmlock.store.jobs import VARIABLES, job_environment, plan_jobs, read_machine


@pytest.mark.parametrize(
    ("cores", "memory", "need", "jobs"),
    [(8, 64_000, 4096, 8), (8, 16_000, 4096, 3), (8, 1000, 4096, 1), (2, 24_000, 0, 2)],
)
def test_jobs(cores: int, memory: int, need: int, jobs: int) -> None:
    assert plan_jobs(cores, memory, need) == jobs


def test_a_manifest_cannot_set_what_the_executor_sets() -> None:
    assert set(job_environment(3)) == set(VARIABLES) == set(RESERVED)


def test_this_machine_has_cores_and_memory() -> None:
    cores, memory = read_machine()
    assert cores >= 1
    assert memory > 100
