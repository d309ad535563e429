"""Which search results in Redis may still be shown: those of the generation in which they were looked for.

Whoever forgets tweets begins another generation, after they are blank in the database. A search that began before, and
may have seen them, keeps its result under the old number, where nobody asks for it.
"""

from __future__ import annotations

from typing import Any

import redis


def generation(client: redis.Redis, prefix: str) -> int:
    """To be read before the search whose result is kept. Raises RedisError."""
    number: Any = client.get(_key(prefix))
    return int(number or 0)


def outdate(client: redis.Redis, prefix: str) -> None:
    """No result of before is shown any more. Raises RedisError."""
    client.incr(_key(prefix))


def _key(prefix: str) -> str:
    return f"{prefix}search_generation"
