"""With what a store's documentation recommends, where a server has more memory and threads, and Kafka compresses."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from middleware.registry import registry
from tests.stack import Stack

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

MARKS = {"pravega": ("bookkeeper", {"-Xmx4g", "-XX:MaxDirectMemorySize=4g"}), "kafka": ("kafka", {"-Xmx1g"}),
         "pulsar": ("pulsar", {"-Xmx2g"})}
"""Process and options by which the tuning is seen; NATS has none that would be tuned."""


@pytest.fixture(params=registry())
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    stack = Stack(f"test-tuned-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_STORE_TUNING="documented")
    with stack.running():
        yield stack


def test_tweets_are_exact_and_stay_so_when_the_servers_are_tuned_otherwise(instance: Stack) -> None:
    """What was stored with one tuning is read with the other."""
    assert is_tuned(instance)
    first = ingested(instance, 20_000)
    assert exact(instance, first, 20_000)
    instance.murmur("down")
    instance.environment["MURMUR_STORE_TUNING"] = "laptop"
    instance.murmur("up", timeout=300)
    assert instance.settings().middleware not in MARKS or not is_tuned(instance)
    assert exact(instance, ingested(instance, 5_000), 5_000)
    assert exact(instance, first, 20_000)


def is_tuned(instance: Stack) -> bool:
    if (mark := MARKS.get(instance.settings().middleware)) is None:
        return instance.settings().store_tuning == "documented"
    return any(mark[1] <= {*psutil.Process(pid).cmdline()} for pid in instance.pids()[mark[0]])


def ingested(instance: Stack, tweets: int) -> str:
    run: str = instance.ingest("--source", "synthetic", "--limit", str(tweets), "--rate", "2000")["run"]
    return run


def exact(instance: Stack, run: str, tweets: int) -> bool:
    stages = instance.audit("--run", run)
    return {(s["expected"], s["missing"], s["duplicated"]) for s in stages.values()} == {(tweets, 0, 0)}
