"""All that can be more than one at once: replicas, Spark's workers, shards, consumers; each process is killed.

`MURMUR_TEST_CLUSTER_RATE` tweets a second come in, 150 unless told, until each process was killed
`MURMUR_TEST_CLUSTER_KILLS` times, once unless told.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from common.process import manager
from deploy.local.middlewares import deployment
from middleware.registry import driver, registry
from tests.search.servers import postgres_server
from tests.spark_cluster import URL, executors, standalone
from tests.stack import Stack, eventually, kill

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(3500)]

RATE = int(os.environ.get("MURMUR_TEST_CLUSTER_RATE", "150"))
KILLS = int(os.environ.get("MURMUR_TEST_CLUSTER_KILLS", "1"))
CAUGHT_UP_S = 5.0

log = logging.getLogger(__name__)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[psutil.Process]]:
    with standalone(tmp_path) as workers:
        yield workers


@pytest.fixture(params=[name for name in registry() if driver(name).replicated])
def instance(request: pytest.FixtureRequest, workers: list[psutil.Process]) -> Iterator[Stack]:
    with postgres_server() as address:
        instance = Stack(
            f"test-cluster-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_REPLICAS="3",
            MURMUR_PARTITIONS="2", MURMUR_SPARK_MASTER=URL, MURMUR_TRENDING_SHARDS="2", MURMUR_DATABASE_URL=address,
            MURMUR_SEARCH_CONSUMERS="2", MURMUR_TRENDING_CONSUMERS="2",
        )
        try:
            instance.up()
            yield instance
        finally:
            instance.down()


def lags(instance: Stack) -> dict[str, tuple[int, float]] | None:
    """By stage, events and seconds by which it lags; None while any of them is unknown."""
    stages = instance.get("pipeline")["stages"]
    found = {stage["name"]: (stage["lag_events"], stage["lag_seconds"]) for stage in stages}
    return None if any(None in lag for lag in found.values()) else found


def has_caught_up(instance: Stack) -> bool:
    found = lags(instance)
    return found is not None and all(seconds < CAUGHT_UP_S for _, seconds in found.values())


def await_events_in_flight(instance: Stack) -> int:
    """How many events lag behind the last stage, once some do."""
    def in_flight() -> int:
        found = lags(instance)
        return found["searchable"][0] if found else 0

    return eventually("events are in flight", in_flight, 60)


def all_run(instance: Stack) -> bool:
    return all(info["statename"] == "RUNNING" for info in manager.ask(instance.settings()).getAllProcessInfo())


def test_each_process_is_killed_and_every_tweet_is_there_once(
    instance: Stack, workers: list[psutil.Process]
) -> None:
    # Whoever the page is read from is killed like any other; the source takes its tweets to the stream store itself.
    names = sorted(instance.pids())
    dead = f"{deployment(instance.settings().middleware).syncing}-2"
    assert {"search-2", "trending-2", dead} <= set(names)
    source = instance.start("ingest", "--source", "synthetic", "--rate", str(RATE), "--run", "long")
    try:
        for number in range(KILLS):
            for name in [*names, *(f"executor-{n}" for n in range(len(workers)))]:
                eventually("all processes run", lambda: all_run(instance), 240)
                eventually("all stages have caught up", lambda: has_caught_up(instance), 300)
                in_flight = await_events_in_flight(instance)
                assert source.poll() is None, source.communicate()[1]
                log.info("kill %d of %s, %d events in flight", number + 1, name, in_flight)
                if name.startswith("executor-"):
                    executors(workers)[int(name[-1]) % len(executors(workers))].kill()
                else:
                    kill(instance.pids()[name])
        eventually("all processes run", lambda: all_run(instance), 240)
        eventually("all stages have caught up", lambda: has_caught_up(instance), 300)
        source.terminate()
        source.communicate(timeout=60)
        tweets = instance.acknowledged("long")
    finally:
        source.kill()
        source.wait()
    assert tweets > 10 * RATE
    instance.audit_is_exact(tweets, timeout=300)
