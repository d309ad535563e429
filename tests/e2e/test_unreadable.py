"""Events of the inner streams that cannot be read: each reader parks them, and the tweets beside them flow."""

from __future__ import annotations

import json
import time
from contextlib import closing

import msgspec
import pytest

from common.tweets import ENRICHED, HASHTAG_COUNTS, REJECTED, Ingest, RejectedEvent
from middleware.driver import Middleware
from middleware.registry import connect
from middleware.reread import reread
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.every_middleware]

RUN, GROUP = "unreadable", "test-unreadable"
RATE, TWEETS = 400, 8000


def unreadable(seq: int, **fields: str) -> bytes:
    """With a stamp, so that it is parked for this run, and audits of the others tell nothing of it."""
    stamp = Ingest(time.time_ns() // 1000, "test", RUN, seq)
    return json.dumps({**fields, "ingest": msgspec.to_builtins(stamp)}).encode()


def inject(middleware: Middleware, stream: str, event: bytes) -> str:
    """Returns where the event stands then."""
    data = middleware.data
    with data.consumer(stream, GROUP, start="tail") as consumer, data.producer(stream) as producer:
        producer.send("unreadable", event)
        producer.flush()
        while event not in (events := consumer.poll(10_000, timeout=10)):
            assert events, f"it did not come out of {stream}"
        position = f"{stream}/{consumer.place(events.index(event))}"
    middleware.admin.forget_group(stream, GROUP)
    return position


def parked(middleware: Middleware) -> list[tuple[str, str, int]]:
    """Stage, position and number of those of this run."""
    with closing(reread(middleware, REJECTED)) as batches:
        events = [msgspec.json.decode(event, type=RejectedEvent) for batch in batches for event in batch]
    return sorted((event.stage, event.position, event.ingest.seq) for event in events
                  if event.ingest and event.ingest.run == RUN)


def pids(stack: Stack) -> dict[str, int]:
    """Of the processes themselves; Spark's workers come and go."""
    return {name: found[0] for name, found in stack.pids().items()}


def test_each_reader_parks_what_it_cannot_read_and_goes_on(stack: Stack) -> None:
    before = pids(stack)
    ingester = stack.start("ingest", "--source", "synthetic", "--rate", str(RATE), "--limit", str(TWEETS), "--run", RUN)
    try:
        eventually("tweets flow", lambda: stack.acknowledged(RUN) > 0)
        with connect(stack.settings()) as middleware:
            tweet = inject(middleware, ENRICHED, unreadable(TWEETS, tweet_id="none"))
            count = inject(middleware, HASHTAG_COUNTS, unreadable(TWEETS + 1, bucket_start="never"))
            assert stack.acknowledged(RUN) < TWEETS, "they were to come while tweets flow"
            assert ingester.wait(60) == 0
            expected = sorted([("trending", tweet, TWEETS), ("search-consumer", tweet, TWEETS),
                               ("trending-consumer", count, TWEETS + 1)])
            eventually("all are parked", lambda: len(parked(middleware)) >= len(expected), 30)
            stages = stack.audit("--run", RUN)
            assert parked(middleware) == expected
    finally:
        ingester.kill()
        ingester.communicate()
    assert {name: (s["missing"], s["duplicated"]) for name, s in stages.items()} == dict.fromkeys(stages, (0, 0))
    assert {name: s["parked"] for name, s in stages.items()} == {
        "published": 0, "enriched": 0, "ranked": 2, "stored": 1, "indexed": 1}
    assert (stages["published"]["found"], stages["ranked"]["found"]) == (TWEETS, TWEETS)
    assert pids(stack) == before
