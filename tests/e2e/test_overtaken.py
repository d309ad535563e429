"""Retention overtakes readers that are stopped: none jumps, and `murmur accept-loss` lets each go on, exactly."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest
import redis

from common.process import manager
from common.storage.lost import Lost, read_lost
from common.tweets import BUCKET_SECONDS, ENRICHED, HASHTAG_COUNTS, RAW, TOTAL, Ingest
from middleware.data import Position
from middleware.driver import Middleware
from middleware.readers import READERS, StreamReader
from middleware.registry import connect
from middleware.reread import reread
from spark_jobs.accept_or_reject import Rules, enrich_event
from tests.conformance.servers import operator
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.every_middleware]

TWEETS, GONE = 300, 120
BEHIND = {"search-consumer": ("stored", "indexed"), "enrich": ("enriched",)}
"""The stages that tell by numbers what a reader has lost."""

STANDS_S = 8
"""How long a reader that was overtaken is watched to stay where it is."""


class Stamped(msgspec.Struct):
    ingest: Ingest


@pytest.fixture
def middleware(stack: Stack) -> Iterator[Middleware]:
    with connect(stack.settings()) as connection:
        yield connection


def ingest(stack: Stack, run: str) -> None:
    stack.ingest("--source", "synthetic", "--rate", "1000", "--limit", str(TWEETS), "--run", run)


def stands_before(middleware: Middleware, reader: StreamReader, position: Position) -> bool:
    stands = reader.position(middleware)
    return stands is None or stands.lies_before(position)


def lose_first(middleware: Middleware, reader: str, stream: str, group: str) -> set[int]:
    """Truncates the stream after the next GONE events of the group; returns their numbers."""
    seqs: set[int] = set()
    with middleware.data.consumer(stream, group) as consumer:
        while len(seqs) < GONE:
            events = consumer.poll(GONE - len(seqs), timeout=60)
            assert events, f"{len(seqs)} of {GONE} events came"
            seqs |= {msgspec.json.decode(event, type=Stamped).ingest.seq for event in events}
            consumer.commit()
    position = middleware.admin.committed(stream, group)
    assert position
    others = [other for other in READERS if other.stream == stream and other.name != reader]
    eventually("the others have read it", lambda: not any(stands_before(middleware, other, position)
                                                          for other in others), 60)
    operator(middleware).truncate(position)
    middleware.admin.forget_group(stream, group)
    return seqs


def stored(stack: Stack, run: str) -> set[int]:
    return {seq for seq, in stack.rows("SELECT seq FROM tweets WHERE run = ?", run)}


def numbers(lost: list[Lost], reader: str, run: str) -> set[int]:
    ranges = [one for one in lost if (one.reader, one.run) == (reader, run)]
    return {seq for one in ranges for seq in range(one.first_seq, one.last_seq + 1)}


def ranked(stack: Stack, since: float) -> int:
    """How many tweets the buckets that end later than `since` count, in seconds since the epoch."""
    settings = stack.settings()
    with redis.Redis.from_url(settings.redis_address, decode_responses=True) as client:
        keys = client.scan_iter(f"{settings.redis_prefix}bucket:*")
        return sum(int(client.hget(key, TOTAL) or 0) for key in keys
                   if int(key.rpartition(":")[2]) > since - BUCKET_SECONDS)


def enrich(middleware: Middleware, run: str) -> None:
    """Does what *enrich*, which does not run, has to do for this run, and moves it on behind that."""
    settings = middleware.settings
    rules = Rules(
        settings.max_event_bytes, settings.allowed_lateness_s, settings.future_tolerance_s, settings.max_hashtags
    )
    with closing(reread(middleware, RAW)) as batches:
        events = [event for batch in batches for event in batch if f'"{run}"'.encode() in event]
    with middleware.data.producer(ENRICHED) as producer:
        for event in events:
            outcome = enrich_event(event, rules, time.time_ns() // 1000)
            assert outcome.stream == ENRICHED
            producer.send(outcome.key, outcome.event)
        producer.flush()
    (reader,) = (reader for reader in READERS if reader.name == "enrich")
    reader.move(middleware, middleware.data.end(RAW))


def lose_counts(stack: Stack, middleware: Middleware, run: str) -> None:
    """Truncates `hashtag-counts` behind all that this run counts in."""
    eventually("all is enriched", lambda: len(stored(stack, run)) == TWEETS, 120)
    (reader,) = (reader for reader in READERS if reader.name == "trending")
    end = middleware.data.end(ENRICHED)
    eventually("all is counted", lambda: not stands_before(middleware, reader, end), 60)
    operator(middleware).truncate(middleware.data.end(HASHTAG_COUNTS))


def accepted(stack: Stack, reader: str) -> list[Lost]:
    told = json.loads(stack.murmur("accept-loss", "--yes", "--json"))
    assert told["readers"] == [reader]
    lost = [Lost(**one) for one in told["lost"]]
    assert read_lost(stack.settings())[-len(lost):] == lost
    return lost


def audited(stack: Stack, run: str) -> dict[str, dict]:
    """The stages of an audit that finds nothing but the loss."""
    process = stack.start("audit", "--run", run, "--timeout", "60", "--json")
    output, errors = process.communicate(timeout=90)
    assert process.returncode == 4, (output, errors)
    return json.loads(output)["stages"]


@pytest.mark.parametrize(("reader", "process", "stream"), [
    ("search-consumer", "search", ENRICHED),
    ("enrich", "spark", RAW),
])
def test_it_stands_until_the_loss_is_accepted(
    stack: Stack, middleware: Middleware, reader: str, process: str, stream: str
) -> None:
    before, run = f"before-{process}", f"gone-{process}"
    asked = manager.ask(stack.settings(), manager.ENDED_SECONDS)
    ingest(stack, before)
    eventually("all is stored", lambda: len(stored(stack, before)) == TWEETS, 120)
    middleware.data.consumer(stream, f"ahead-{process}", start="tail").close()
    asked.stopProcess(process)
    ingest(stack, run)
    gone = lose_first(middleware, reader, stream, f"ahead-{process}")
    asked.startProcess(process, False)
    eventually("status tells it", lambda: (stack.status()["retention"][reader] or 0) >= 1, 60)
    time.sleep(STANDS_S)
    assert stored(stack, run) == set()

    lost = accepted(stack, reader)
    assert numbers(lost, reader, run) == gone
    assert numbers(lost, reader, before) == set()  # of older runs of these servers nothing is known here
    eventually("the rest is stored", lambda: len(stored(stack, run)) == TWEETS - GONE, 120)
    assert set(range(TWEETS)) - stored(stack, run) == gone
    assert json.loads(stack.murmur("accept-loss", "--yes", "--json")) == {"readers": [], "lost": []}
    stages = audited(stack, run)
    assert {stages[stage]["lost_to_retention"] for stage in BEHIND[reader]} == {GONE}


@pytest.mark.parametrize(("reader", "process", "stream"), [
    ("trending", "spark", ENRICHED),
    ("trending-consumer", "trending", HASHTAG_COUNTS),
])
def test_one_that_counts_stands_until_the_loss_is_accepted(
    stack: Stack, middleware: Middleware, reader: str, process: str, stream: str
) -> None:
    before, run, after = (f"{name}-{reader}" for name in ("before", "gone", "after"))
    asked, began = manager.ask(stack.settings(), manager.ENDED_SECONDS), time.time()
    ingest(stack, before)
    stack.audit("--run", before)
    counted = ranked(stack, began)
    asked.stopProcess(process)
    ingest(stack, run)
    if reader == "trending":
        middleware.data.consumer(stream, f"ahead-{reader}", start="tail").close()
        enrich(middleware, run)
        left = TWEETS - len(lose_first(middleware, reader, stream, f"ahead-{reader}"))
    else:
        left = 0
        lose_counts(stack, middleware, run)
    asked.startProcess(process, False)
    eventually("status tells it", lambda: (stack.status()["retention"][reader] or 0) >= 1, 60)
    time.sleep(STANDS_S)
    assert ranked(stack, began) == counted

    (lost,) = accepted(stack, reader)
    eventually("the rest is ranked", lambda: ranked(stack, began) == counted + left, 120)
    ingest(stack, after)
    eventually("so is what comes then", lambda: ranked(stack, began) == counted + left + TWEETS, 120)
    assert json.loads(stack.murmur("accept-loss", "--yes", "--json")) == {"readers": [], "lost": []}
    assert [lost.first_seq, lost.last_seq] in audited(stack, run)["ranked"]["lost_buckets"]
