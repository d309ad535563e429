"""The newest events of each stream, left in Redis by who writes or reads it: for a page that shows what flows, without
a client of a stream store.

Sorted set `<prefix>newest:<stream>`: the beginning of an event, by when it was left. They go after KEPT_SECONDS, so
that what is deleted elsewhere is not to be seen here any more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

EVENTS = 50
EVENT_BYTES = 600
"""Of a longer event the beginning is kept."""

EVERY_SECONDS = 1.0
"""No process leaves more than one event of a stream in this time."""

KEPT_SECONDS = 60


class Left(NamedTuple):
    """The beginning of an event, and when it was left there, in seconds since the epoch."""

    at: float
    event: str


def key(prefix: str, stream: str) -> str:
    return f"{prefix}newest:{stream}"


def leave(pipeline: Any, prefix: str, stream: str, event: bytes, at: float) -> None:
    """`pipeline`: a redis.Redis or its pipeline; raises its errors."""
    name = key(prefix, stream)
    pipeline.zadd(name, {event[:EVENT_BYTES].decode(errors="replace"): at})
    pipeline.zremrangebyrank(name, 0, -EVENTS - 1)
    pipeline.zremrangebyscore(name, "-inf", at - KEPT_SECONDS)
    pipeline.expire(name, KEPT_SECONDS)


def read(client: Any, prefix: str, stream: str, now: float) -> list[Left]:
    """Newest first. `client`: a redis.Redis that decodes; raises its errors."""
    found = client.zrevrangebyscore(key(prefix, stream), "+inf", now - KEPT_SECONDS, withscores=True)
    return [Left(at, event) for event, at in found]
