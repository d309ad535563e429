"""Memory that is free stays the machine's own while experiments run: `python -m loadgen.observe.host_memory`, a process
beside them.

A hypervisor finds memory for a guest when a page is touched first, at many times the cost of a page that was in use
before (docs/lab has figures), and takes back what lies free for some seconds, in blocks of megabytes.
Experiments fill gigabytes of page cache, and what they cost should not depend on what the machine did in the hours
before. So free memory is touched before each, and one page of every block stays taken, which keeps the others with the
guest: 0.4 % of them. Where memory is the machine's own this takes seconds and changes nothing.
"""

from __future__ import annotations

import atexit
import mmap
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from common import modules
from common.process.child import python

CHUNK_BYTES = 256 << 20
BLOCK_BYTES = 1 << 20
"""Smaller than what a hypervisor takes back at once (Linux reports free memory in blocks of 2 or 4 MiB)."""

SPARE_BYTES = 1 << 30
LONGEST_SECONDS = 60.0

CGROUP = Path("/sys/fs/cgroup")


def hold_free_memory() -> None:
    """Touches what is free now, and holds a page of every block until this process ends. Returns when it is done."""
    keeper = _keeper()
    assert keeper.stdin
    assert keeper.stdout
    try:
        keeper.stdin.write(b"\n")
        keeper.stdin.flush()
        done = keeper.stdout.readline()
    except OSError:
        done = b""
    if not done:  # it is the first to go when memory runs out
        _end(keeper)
        _keeper.cache_clear()


@cache
def _keeper() -> subprocess.Popen[bytes]:
    """Ends when its input does, so that it never outlives this process."""
    keeper = subprocess.Popen(
        python(modules.Loadgen.HOST_MEMORY), stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    )
    atexit.register(_end, keeper)
    return keeper


def _end(keeper: subprocess.Popen[bytes]) -> None:
    keeper.kill()
    keeper.wait()


def touch(free: Callable[[], int]) -> list[mmap.mmap]:
    """Touches free memory but for SPARE_BYTES, for LONGEST_SECONDS at most; the chunks that hold it."""
    held: list[mmap.mmap] = []
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until and free() >= SPARE_BYTES + CHUNK_BYTES:
        held.append(mmap.mmap(-1, CHUNK_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE))
    return held


def thin_out(chunk: mmap.mmap) -> None:
    """Gives all of a chunk back but the first page of each block."""
    for start in range(0, CHUNK_BYTES, BLOCK_BYTES):
        chunk.madvise(mmap.MADV_DONTNEED, start + mmap.PAGESIZE, BLOCK_BYTES - mmap.PAGESIZE)


def free_bytes() -> int:
    """Memory that holds nothing, not even files, as far as a container's limit lets us have it."""
    return min(int(psutil.virtual_memory().free), _left_in_container())


def _left_in_container() -> int:
    try:
        return int((CGROUP / "memory.max").read_text()) - int((CGROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no limit
        return sys.maxsize


def main() -> None:
    """Touches and thins out for every line that it reads, and answers with one; the pages held before go then."""
    with suppress(OSError):  # should memory run out all the same, this process is the one to end
        Path("/proc/self/oom_score_adj").write_text("1000")
    for _ in sys.stdin.buffer:
        held = touch(free_bytes)  # all of it until the end: what was given back would be given out again
        for chunk in held:
            thin_out(chunk)
        print(len(held), flush=True)


if __name__ == "__main__":
    main()
