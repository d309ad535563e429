"""What the processes of an instance do, as the controls see it each second: one key of Redis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import orjson
from redis import Redis

KEY = "processes"
"""Below the instance's prefix."""

STALE_S = 5.0
"""What was not refreshed for so long is not known any more."""


class Process(TypedDict):
    """`state` as the process manager names it in small letters, or `paused`. `up_since` in seconds since the epoch, CPU
    time as a share of one core, of the process and all that it has started; null where it does not run, or is not known
    yet. `restarts` since the instance was started."""

    name: str
    state: str
    pid: int | None
    up_since: float | None
    restarts: int
    cpu_share: float | None
    memory_bytes: int | None


class Reading(TypedDict):
    """`as_of` in seconds since the epoch; `manager` is the id of the process manager."""

    as_of: float
    manager: int
    processes: Sequence[Process]


def write(redis: Redis, prefix: str, reading: Reading) -> None:
    redis.set(f"{prefix}{KEY}", orjson.dumps(reading))


def read(redis: Redis, prefix: str) -> Reading | None:
    """None if there is none."""
    found: Any = redis.get(f"{prefix}{KEY}")
    return orjson.loads(found) if found else None
