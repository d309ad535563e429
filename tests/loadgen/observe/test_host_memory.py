"""Free memory is touched, but for a reserve and within its time."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from loadgen.observe import host_memory
from loadgen.observe.host_memory import BLOCK_BYTES, SPARE_BYTES

CHUNK_BYTES = 64 << 20


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests run beside others."""
    monkeypatch.setattr(host_memory, "CHUNK_BYTES", CHUNK_BYTES)


def falling(chunks: int):
    """Free memory as it falls, from `chunks` above the reserve."""
    left = iter(range(chunks, -1, -1))
    return lambda: SPARE_BYTES + next(left) * CHUNK_BYTES


def resident_bytes() -> int:
    return psutil.Process().memory_info().rss


def test_leaves_the_reserve() -> None:
    assert len(host_memory.touch(falling(3))) == 3
    assert host_memory.touch(lambda: SPARE_BYTES + CHUNK_BYTES - 1) == []


def test_the_pages_are_really_there_and_all_but_one_of_each_block_are_given_back() -> None:
    before = resident_bytes()
    held = host_memory.touch(falling(2))
    assert resident_bytes() - before > 1.9 * CHUNK_BYTES
    for chunk in held:
        host_memory.thin_out(chunk)
    left = resident_bytes() - before
    assert 0.9 < left / (2 * CHUNK_BYTES / BLOCK_BYTES * mmap.PAGESIZE) < 4


def test_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_memory, "LONGEST_SECONDS", 0.0)
    assert host_memory.touch(falling(3)) == []


START = "from loadgen.observe import host_memory; print(host_memory._keeper().pid, flush=True); input()"


def test_what_is_held_goes_with_the_process_that_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", START], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asked:
        keeper = psutil.Process(int(asked.stdout.readline()))
        assert keeper.is_running()
        asked.kill()
    keeper.wait(10)


def test_one_that_was_killed_is_replaced() -> None:
    keeper = host_memory._keeper()
    keeper.kill()
    host_memory.hold_free_memory()
    assert keeper.returncode is not None
    assert host_memory._keeper() is not keeper


@pytest.mark.parametrize(("limit", "left"), [("1000\n", 400), ("max\n", None), (None, None)])
def test_a_containers_limit_counts(
    limit: str | None, left: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_memory, "CGROUP", tmp_path)
    (tmp_path / "memory.current").write_text("600\n")
    if limit:
        (tmp_path / "memory.max").write_text(limit)
    free = host_memory.free_bytes()
    assert free == left if left is not None else free > 600
