"""What the counts of all buckets that are kept take of a real Redis, by the number of shards.

    python tests/consumers/benchmark_redis.py [--shards 1 2 4 8] [--buckets 1440] [--hashtags 480]

By default what two hours of 16,000 synthetic tweets a second leave: 480 hashtags in each bucket, of which every shard
counts some, and 50 slots.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import redis

from common.tweets import BUCKET_SECONDS, SLOT_US, SlotCount
from consumers.buckets import Buckets, Part
from tests.search.servers import redis_server

KEPT_S = 100_000
"""Longer than the buckets, so that none expires meanwhile."""

TWEETS, SLOTS = 80_000, 50


def fill(buckets: Buckets, start: int, shards: int, hashtags: int) -> None:
    """Hashtags by Zipf's law, as the synthetic source has them."""
    whole = [max(shards, round(TWEETS / 2 / (rank + 1))) for rank in range(hashtags)]
    for shard in range(shards):
        counts = {f"hashtag{rank}": count // shards for rank, count in enumerate(whole)}
        assert buckets.raise_counts({Part(start, shards, shard): {"": TWEETS // shards, **counts}}, "m")
    sent = [start * 1_000_000 + number * SLOT_US for number in range(SLOTS)]
    slots = [SlotCount(start, BUCKET_SECONDS, shards, shard, TWEETS // SLOTS // shards, us, us)
             for us in sent for shard in range(shards)]
    buckets.raise_slots(slots, "writer")


def measure(shards: int, number: int, hashtags: int) -> None:
    with TemporaryDirectory() as folder, redis_server(Path(folder)) as url:
        client = redis.Redis.from_url(url, decode_responses=True)
        buckets = Buckets(client, "m:", KEPT_S)
        assert buckets.begin_rebuild("one")
        assert buckets.end_rebuild("one", "m")
        empty = client.info("memory")["used_memory"]
        now = int(time.time()) // BUCKET_SECONDS * BUCKET_SECONDS
        for index in range(number):
            fill(buckets, now - index * BUCKET_SECONDS, shards, hashtags)
        cpu = client.info("cpu")
        seconds = cpu["used_cpu_user"] + cpu["used_cpu_sys"]
        fields = sum(client.hlen(key) for key in client.scan_iter(f"m:*:{now}"))
        mib = (client.info("memory")["used_memory"] - empty) / (1 << 20)
        print(f"{shards} shards: {fields} fields in a bucket, {mib:.1f} MiB, {seconds:.1f} s of CPU", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--buckets", type=int, default=1440)
    parser.add_argument("--hashtags", type=int, default=480)
    chosen = parser.parse_args()
    for shards in chosen.shards:
        measure(shards, chosen.buckets, chosen.hashtags)


if __name__ == "__main__":
    main()
