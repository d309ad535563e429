"""Free memory is touched, but for a reserve and within its time."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from loadgen import memory
from loadgen.memory import CHUNK_BYTES, SPARE_BYTES


def falling(chunks: int):
    """Free memory as it falls, from `chunks` above the reserve."""
    left = iter(range(chunks, -1, -1))
    return lambda: SPARE_BYTES + next(left) * CHUNK_BYTES


def test_leaves_the_reserve() -> None:
    assert memory.touch(falling(3)) == 3 * CHUNK_BYTES
    assert memory.touch(lambda: SPARE_BYTES + CHUNK_BYTES - 1) == 0


def test_the_pages_are_really_there() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chunks = before * 1024 // CHUNK_BYTES + 2  # more than this process ever had
    memory.touch(falling(chunks))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 >= chunks * CHUNK_BYTES


def test_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LONGEST_SECONDS", 0.0)
    assert memory.touch(falling(3)) == 0


@pytest.mark.parametrize(("limit", "left"), [("1000\n", 400), ("max\n", None), (None, None)])
def test_a_containers_limit_counts(
    limit: str | None, left: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    (tmp_path / "memory.current").write_text("600\n")
    if limit:
        (tmp_path / "memory.max").write_text(limit)
    free = memory.free_bytes()
    assert free == left if left is not None else free > 600
