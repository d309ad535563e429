"""The fixed piece of work tells a slow machine from a fast one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from loadgen.observe.host_speed import reference_ms

BURN = "while True: pass"


@pytest.fixture
def one_core() -> Iterator[None]:
    """This process, and those that it starts, have one core together."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.mark.slow  # on a machine that others use already, three more make less of a difference
@pytest.mark.usefixtures("one_core")
def test_a_core_that_others_use_shows() -> None:
    alone = reference_ms()
    others = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(3)]
    try:
        crowded = reference_ms()
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert crowded > 1.5 * alone
