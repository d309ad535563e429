"""Tells Redis, as long as a consumer lives, what an acknowledgement of the running middleware means."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from common.settings import Settings
from common.telemetry import durability
from middleware.errors import MiddlewareError
from middleware.registry import connect, driver

log = logging.getLogger(__name__)

INTERVAL_S = 5.0


@contextmanager
def told(settings: Settings) -> Iterator[None]:
    """In a thread and on a connection of its own, so that no consumer waits while a server is away."""
    stop = threading.Event()
    thread = threading.Thread(target=_tell, args=(settings, stop), name="durability", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()


def _tell(settings: Settings, stop: threading.Event) -> None:
    asked = driver(settings.middleware).asks_durability
    with connect(settings) as middleware, redis.Redis.from_url(settings.redis_address) as client:
        while True:
            try:
                found = middleware.admin.durability_in_force()
                durability.tell(client, settings.redis_prefix, found, asked)
            except (MiddlewareError, redis.RedisError, OSError) as error:
                log.debug("the durability in force is unknown: %s", error)
            if stop.wait(INTERVAL_S):
                return
