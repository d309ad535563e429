"""Processes of an instance that are killed one after the other, each while tweets are on their way.

`MURMUR_TEST_KILLS_TWEETS` tweets, 20,000 unless told, come in bursts of `MURMUR_TEST_KILLS_RATE` a second, 150 unless
told: one burst for each kill. Each process is killed `MURMUR_TEST_KILLS_TIMES` times, once unless told.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

from common.process import manager
from tests.stack import Stack, await_end, eventually, has_caught_up, lags

RATE = int(os.environ.get("MURMUR_TEST_KILLS_RATE", "150"))
TIMES = int(os.environ.get("MURMUR_TEST_KILLS_TIMES", "1"))
TWEETS = int(os.environ.get("MURMUR_TEST_KILLS_TWEETS", "20000"))

log = logging.getLogger(__name__)


def kill_each(instance: Stack, names: Iterable[str], kill: Callable[[str], None]) -> None:
    """Kills each by its name, the next one once all have caught up; then every tweet is there once."""
    kills = [(number, name) for number in range(1, TIMES + 1) for name in names]
    burst = -(-TWEETS // len(kills))
    eventually("all processes run", lambda: all_run(instance), 240)
    for number, name in kills:
        with instance.source(RATE, burst, run=f"{name}-{number}") as source:
            in_flight = await_events_in_flight(instance)
            assert source.poll() is None, source.communicate()[1]
            log.info("kill %d of %s, %d events in flight", number, name, in_flight)
            kill(name)
            killed = time.monotonic()
            await_end(source, 300)
        await_rest(instance, time.time())
        log.info("caught up %.0f s after", time.monotonic() - killed)
    instance.audit_is_exact(len(kills) * burst, timeout=600)


def stages(instance: Stack) -> list[dict[str, Any]]:
    return instance.get("pipeline")["stages"]


def await_events_in_flight(instance: Stack) -> int:
    """How many events lag behind the last stage, once some do."""
    def in_flight() -> int:
        found = lags(stages(instance))
        return found["searchable"][0] if found else 0

    return eventually("events are in flight", in_flight, 60)


def all_run(instance: Stack) -> bool:
    return all(info["statename"] == "RUNNING" for info in manager.ask(instance.settings()).getAllProcessInfo())


def await_rest(instance: Stack, sent: float) -> None:
    """Returns once all that was sent until then, in seconds since the epoch, has gone all the way."""
    eventually("all processes run", lambda: all_run(instance), 240)
    eventually("all stages have caught up", lambda: has_caught_up(stages(instance), sent), 300)
