"""All that can be more than one at once: replicas, Spark's workers, shards, consumers; each process is killed.

`MURMUR_TEST_CLUSTER_TWEETS` tweets, 20,000 unless told, come in bursts of `MURMUR_TEST_CLUSTER_RATE` a second, 150
unless told: one burst for each kill. Each process is killed `MURMUR_TEST_CLUSTER_KILLS` times, once unless told.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from common.process import manager
from deploy.local.middlewares import deployment
from middleware.registry import driver, registry
from tests.search.servers import postgres_server
from tests.spark_cluster import URL, executors
from tests.stack import Stack, await_end, eventually, has_caught_up, kill, lags

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(5400)]

RATE = int(os.environ.get("MURMUR_TEST_CLUSTER_RATE", "150"))
KILLS = int(os.environ.get("MURMUR_TEST_CLUSTER_KILLS", "1"))
TWEETS = int(os.environ.get("MURMUR_TEST_CLUSTER_TWEETS", "20000"))

log = logging.getLogger(__name__)


@pytest.fixture(params=[name for name in registry() if driver(name).replicated])
def instance(request: pytest.FixtureRequest, workers: list[psutil.Process]) -> Iterator[Stack]:
    with postgres_server() as address:
        instance = Stack(
            f"test-cluster-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_REPLICAS="3",
            MURMUR_PARTITIONS="2", MURMUR_SPARK_MASTER=URL, MURMUR_TRENDING_SHARDS="2", MURMUR_DATABASE_URL=address,
            MURMUR_SEARCH_CONSUMERS="2", MURMUR_TRENDING_CONSUMERS="2",
            MURMUR_INDEX_MAX_ROWS="1000000",
        )
        with instance.running():
            yield instance


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


def await_rest(instance: Stack) -> None:
    eventually("all processes run", lambda: all_run(instance), 240)
    eventually("all stages have caught up", lambda: has_caught_up(stages(instance)), 300)


def test_each_process_is_killed_and_every_tweet_is_there_once(
    instance: Stack, workers: list[psutil.Process]
) -> None:
    # Whoever the page is read from is killed like any other; the source takes its tweets to the stream store itself.
    names = sorted(instance.pids())
    assert {"search-2", "trending-2", f"{deployment(instance.settings().middleware).syncing}-2"} <= set(names)
    kills = [
        (number, name)
        for number in range(1, KILLS + 1)
        for name in [*names, *(f"executor-{n}" for n in range(len(workers)))]
    ]
    burst = -(-TWEETS // len(kills))
    eventually("all processes run", lambda: all_run(instance), 240)
    for number, name in kills:
        pids = instance.pids().get(name, [])
        with instance.source(RATE, burst, run=f"{name}-{number}") as source:
            in_flight = await_events_in_flight(instance)
            assert source.poll() is None, source.communicate()[1]
            log.info("kill %d of %s, %d events in flight", number, name, in_flight)
            if name.startswith("executor-"):
                executors(workers)[int(name[-1]) % len(executors(workers))].kill()
            else:
                kill(pids)
            killed = time.monotonic()
            await_end(source, 300)
        await_rest(instance)
        log.info("caught up %.0f s after", time.monotonic() - killed)
    instance.audit_is_exact(len(kills) * burst, timeout=600)
