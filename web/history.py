"""Keeps the history of the stages. Every process of the API does, so that one of them may die; the first to come writes
a point."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from redis import Redis
from redis.exceptions import RedisError

from common.telemetry import history
from common.telemetry.stages import read_pipeline

log = logging.getLogger(__name__)


def start(redis: Redis, prefix: str, alive: Callable[[], bool]) -> None:
    """Goes on as long as `alive` says so, with gaps while Redis is away."""
    threading.Thread(target=_run, args=(redis, prefix, alive), name="history", daemon=True).start()


def _run(redis: Redis, prefix: str, alive: Callable[[], bool]) -> None:
    while alive():
        time.sleep(history.EVERY_S - time.time() % history.EVERY_S)
        try:
            now = time.time()
            history.write(redis, prefix, now, read_pipeline(redis, prefix, now))
        except RedisError:
            continue
        except Exception:  # of one bad reading: the next one may be good
            log.exception("history")
