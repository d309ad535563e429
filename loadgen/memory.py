"""Touches the machine's free memory: `python -m loadgen.memory`, before each experiment.

A hypervisor finds memory for a guest when a page is touched first, at many times the cost of a page that was in use
before (docs/performance.md has figures), and takes back what lies free for a while. Experiments fill gigabytes of page
cache, and what they cost should not depend on what the machine did in the hours before. Where memory is the machine's
own this takes seconds and changes nothing.
"""

from __future__ import annotations

import mmap
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

CHUNK_BYTES = 256 << 20
SPARE_BYTES = 1 << 30
LONGEST_SECONDS = 60.0

CGROUP = Path("/sys/fs/cgroup")


def free_bytes() -> int:
    """Memory that holds nothing, not even files, as far as a container's limit lets us have it."""
    return min(psutil.virtual_memory().free, _left_in_container())


def touch(free: Callable[[], int] = free_bytes) -> int:
    """Touches free memory but for SPARE_BYTES, for LONGEST_SECONDS at most; returns how many bytes.

    All of it is held until the end: what was given back would be given out again.
    """
    held: list[mmap.mmap] = []
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until and free() >= SPARE_BYTES + CHUNK_BYTES:
        held.append(mmap.mmap(-1, CHUNK_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE))
    return len(held) * CHUNK_BYTES


def _left_in_container() -> int:
    try:
        return int((CGROUP / "memory.max").read_text()) - int((CGROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no limit
        return sys.maxsize


if __name__ == "__main__":
    with suppress(OSError):  # should memory run out all the same, this process is the one to end
        Path("/proc/self/oom_score_adj").write_text("1000")
    touch()
