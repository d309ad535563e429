"""All that can be more than one at once: replicas, Spark's workers, shards, consumers; each process is killed.

How often, and with how many tweets, is told in tests/e2e/kills.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from deploy.local.middlewares import deployment
from middleware.registry import driver, registry
from tests.e2e.kills import kill_each
from tests.search.servers import postgres_server
from tests.spark_cluster import URL, executors
from tests.stack import Stack

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(5400)]


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


def test_each_process_is_killed_and_every_tweet_is_there_once(
    instance: Stack, workers: list[psutil.Process]
) -> None:
    # Whoever the page is read from is killed like any other; the source takes its tweets to the stream store itself.
    names = sorted(instance.pids())
    assert {"search-2", "trending-2", f"{deployment(instance.settings().middleware).syncing}-2"} <= set(names)

    def kill_one(name: str) -> None:
        if name.startswith("executor-"):
            executors(workers)[int(name[-1]) % len(executors(workers))].kill()
        else:
            instance.kill(name)

    kill_each(instance, [*names, *(f"executor-{n}" for n in range(len(workers)))], kill_one)
