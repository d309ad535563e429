"""Redis of an instance, which answers soon or is taken for away."""

from __future__ import annotations

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from common.settings import Settings

ANSWER_S = 2.0


def connected(settings: Settings, seconds: float = ANSWER_S) -> redis.Redis:
    """`seconds`: for each answer."""
    return redis.Redis.from_url(settings.redis_address, socket_timeout=seconds, retry=Retry(NoBackoff(), 0))
