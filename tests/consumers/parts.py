"""Counts as shards tell them."""

from __future__ import annotations

from collections.abc import Mapping

from consumers.buckets import Counts, Part


def whole(buckets: Mapping[int, Mapping[str, int]], shards: int = 1, shard: int = 0) -> Counts:
    """bucket_start → hashtag → count, all of one shard, which is the only one unless told."""
    return {Part(start, shards, shard): counts for start, counts in buckets.items()}
