"""What the stages did in the last quarter of an hour, in Redis: a point every 5 s, whoever comes first writes it.

Hash `<prefix>history`: second since the epoch at which a slot begins → `StageReading` of each stage, as JSON. Redis may
lose it; then it begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from common.telemetry.stages import StageReading

EVERY_S = 5
KEPT_S = 900


class Point(NamedTuple):
    """`at` in seconds since the epoch."""

    at: int
    stages: Sequence[StageReading]


def key(prefix: str) -> str:
    return f"{prefix}history"


def write(client: Any, prefix: str, now: float, stages: Sequence[StageReading]) -> None:
    """Keeps what the stages do at `now`, unless the slot has its point, and drops what is too old, or of a clock that
    was ahead. `client`: a redis.Redis; raises its errors."""
    slot = int(now) // EVERY_S * EVERY_S
    if not client.hsetnx(key(prefix), slot, orjson.dumps(stages)):
        return
    gone = [at for at in client.hkeys(key(prefix)) if not slot - KEPT_S < int(at) <= slot]
    with client.pipeline() as pipeline:
        if gone:
            pipeline.hdel(key(prefix), *gone)
        pipeline.expire(key(prefix), KEPT_S)
        pipeline.execute()


def read(client: Any, prefix: str, now: float) -> list[Point]:
    """The points in order of time. `client`: a redis.Redis; raises its errors."""
    found = {int(at): stages for at, stages in client.hgetall(key(prefix)).items()}
    return [Point(at, orjson.loads(found[at])) for at in sorted(found) if now - KEPT_S < at <= now]
