"""Looks how much of the retention each reader has used, and tells it before one is overtaken.

In the process that takes pushed tweets: it is there as long as anything can come in, whichever reader is not.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from common.settings import Settings
from common.telemetry import retention
from common.tweets import Reader
from middleware.driver import Middleware
from middleware.errors import MiddlewareError
from middleware.readers import READERS
from middleware.registry import connect

log = logging.getLogger(__name__)

INTERVAL_S = 10.0
WARN_FROM = (0.5, 0.8, 1.0)


class Watch:
    """Warns as a reader passes one of WARN_FROM; says once when it is below the lowest again."""

    def __init__(self) -> None:
        self._warned: dict[Reader, int] = {}

    def tell(self, shares: Mapping[Reader, float]) -> None:
        for reader, share in shares.items():
            level, before = sum(share >= limit for limit in WARN_FROM), self._warned.get(reader, 0)
            self._warned[reader] = level
            if level == len(WARN_FROM) and level > before:
                log.error("%s: retention takes what it has not read. `murmur accept-loss` is the way out", reader)
            elif level > before:
                log.warning("%s has used %.0f %% of the retention: at 100 %% it loses events", reader, 100 * share)
            elif before and not level:
                log.info("%s has used only %.0f %% of the retention", reader, 100 * share)


def shares(middleware: Middleware) -> dict[Reader, float]:
    """Of each reader whose place and stream can be seen now."""
    found: dict[Reader, float] = {}
    for reader in READERS:
        try:
            if stands := reader.position(middleware):
                share = middleware.admin.retention_used(reader.stream, stands)
                if share is not None:
                    found[reader.name] = share
        except (MiddlewareError, OSError) as error:  # Spark replaces the files of its checkpoints
            log.debug("%s: the share of the retention is unknown: %s", reader.name, error)
    return found


def watch(settings: Settings) -> None:
    """Begins to look, in a thread of its own that ends with the process. What it cannot see now it sees later."""
    threading.Thread(target=_run, args=(settings,), name="retention", daemon=True).start()


def _run(settings: Settings) -> None:
    client = redis.Redis.from_url(settings.redis_address, socket_timeout=2, retry=Retry(NoBackoff(), 1))
    told, pause = Watch(), threading.Event()
    with connect(settings) as middleware:
        while not pause.wait(INTERVAL_S):
            try:
                seen = shares(middleware)
                told.tell(seen)
                retention.write(client, settings.redis_prefix, seen)
            except redis.RedisError as error:
                log.debug("the shares of the retention were not written: %s", error)
            except Exception:  # an alarm that has ended says as little as one that has nothing to say
                log.exception("the shares of the retention are unknown")
