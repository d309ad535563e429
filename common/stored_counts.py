"""A count in Redis, `HIGHEST SHARDS:COUNT,COUNT… …`, as consumers/count.lua writes it: the highest of its sums, and
after it, of each number of shards above 1, what each shard has counted."""

from __future__ import annotations


def highest(stored: str) -> int:
    return int(stored.partition(" ")[0])


def by_shard(stored: str) -> dict[tuple[int, int], int]:
    """(shards, shard) → what it has counted; of one shard, which counts alone, the highest sum stands for it."""
    best, *parts = stored.split(" ")
    counts = {(1, 0): int(best)}
    for part in parts:
        shards, _, listed = part.partition(":")
        counts |= {(int(shards), shard): int(count) for shard, count in enumerate(listed.split(","))}
    return counts
