"""What goes first when the memory of Redis runs short: cached results, which are not added any more.

Redis itself evicts nothing (`maxmemory-policy noeviction`): counts that are gone would make rankings wrong, and nobody
would know. Memory that is full is an error of whoever writes, and is tried again.
"""

from __future__ import annotations

from typing import Any

import redis

CACHE_SHARE = 0.75
"""Of its memory that may be in use when something is cached: the rest is for rankings, counts and telemetry."""


def has_room_to_cache(client: redis.Redis) -> bool:
    """Whether cached results may be added. Raises RedisError."""
    info: Any = client.info("memory")
    return not info["maxmemory"] or info["used_memory"] < CACHE_SHARE * info["maxmemory"]
