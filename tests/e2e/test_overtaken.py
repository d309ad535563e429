"""Retention overtakes readers that are stopped: none jumps, and `murmur accept-loss` lets each go on, exactly."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import msgspec
import pytest

from common.lost import Lost, read_lost
from common.tweets import ENRICHED, RAW, Ingest
from deploy.local import supervision
from middleware import connect
from middleware.base import Middleware, Position
from middleware.readers import READERS, StreamReader
from tests.conformance.operators import operator
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.timeout(600), pytest.mark.every_middleware(slow=True)]

TWEETS, GONE = 300, 120
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
    with middleware.consumer(stream, group) as consumer:
        while len(seqs) < GONE:
            events = consumer.poll(GONE - len(seqs), timeout=60)
            assert events, f"{len(seqs)} of {GONE} events came"
            seqs |= {msgspec.json.decode(event, type=Stamped).ingest.seq for event in events}
            consumer.commit()
    position = middleware.committed(stream, group)
    assert position
    others = [other for other in READERS if other.stream == stream and other.name != reader]
    eventually("the others have read it", lambda: not any(stands_before(middleware, other, position)
                                                          for other in others), 60)
    operator(middleware.name, middleware.settings).truncate(position)
    middleware.forget_group(stream, group)
    return seqs


def stored(stack: Stack, run: str) -> set[int]:
    return {seq for seq, in stack.rows("SELECT seq FROM tweets WHERE run = ?", run)}


def numbers(lost: list[Lost], reader: str, run: str) -> set[int]:
    ranges = [one for one in lost if (one.reader, one.run) == (reader, run)]
    return {seq for one in ranges for seq in range(one.first_seq, one.last_seq + 1)}


@pytest.mark.parametrize(("reader", "process", "stream"), [
    ("search-consumer", "search", ENRICHED),
    pytest.param("enrich", "spark", RAW, marks=pytest.mark.slow),
])
def test_it_stands_until_the_loss_is_accepted(
    stack: Stack, middleware: Middleware, reader: str, process: str, stream: str
) -> None:
    before, run = f"before-{process}", f"gone-{process}"
    asked = supervision.ask(stack.settings(), supervision.ENDED_SECONDS)
    ingest(stack, before)
    eventually("all is stored", lambda: len(stored(stack, before)) == TWEETS, 120)
    middleware.consumer(stream, f"ahead-{process}", start="tail").close()
    asked.stopProcess(process)
    ingest(stack, run)
    gone = lose_first(middleware, reader, stream, f"ahead-{process}")
    asked.startProcess(process, False)
    eventually("status tells it", lambda: (stack.status()["retention"][reader] or 0) >= 1, 60)
    time.sleep(STANDS_S)
    assert stored(stack, run) == set()

    told = json.loads(stack.murmur("accept-loss", "--yes", "--json"))
    assert told["readers"] == [reader]
    lost = [Lost(**one) for one in told["lost"]]
    assert numbers(lost, reader, run) == gone
    assert numbers(lost, reader, before) == set()  # of older runs of these servers nothing is known here
    assert read_lost(stack.settings())[-len(lost):] == lost
    eventually("the rest is stored", lambda: len(stored(stack, run)) == TWEETS - GONE, 120)
    assert set(range(TWEETS)) - stored(stack, run) == gone
    assert json.loads(stack.murmur("accept-loss", "--yes", "--json")) == {"readers": [], "lost": []}
