"""The ledger of a whole instance: exact at rest, as the audit is; and it sees what is planted at each stage."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import redis

from common.settings import Settings
from common.stored_counts import highest
from common.tweets import ENRICHED, HASHTAG_COUNTS, RAW, TOTAL
from ingest.manifest import ManifestWriter
from middleware.registry import connect, registry
from search.encoder import DIMENSIONS
from search.index import Index
from search.milvus_rows import IndexRows
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(600)]

TWEETS = 2000
STAGES = ("enriched", "ranked", "stored", "indexed")
FIGURES = ("lost", "twice", "repeated")
STRANGER = 1
"""A tweet id that nobody has published."""

Told = dict[tuple[str, str], int]
"""(stage, figure) → what it shows, where that is not 0."""


@pytest.fixture(scope="module", params=registry())
def own(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Of its own: other tests leave differences behind."""
    instance = Stack("test-ledger", MURMUR_MIDDLEWARE=request.param)
    with instance.running():
        yield instance


def once(own: Stack, what: str, wished: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return eventually(what, lambda: (told := own.get("ledger")) and wished(told) and told, 120)


def rests(ledger: dict[str, Any]) -> bool:
    return ledger["acknowledged"] >= TWEETS and all(stage["in_flight"] == 0 for stage in ledger["stages"])


def differences(ledger: dict[str, Any]) -> Told | None:
    """None while a figure is unknown."""
    told = {(stage["name"], name): stage[name] for stage in ledger["stages"] for name in FIGURES}
    return None if None in told.values() else {where: figure for where, figure in told.items() if figure}


def shows(own: Stack, expected: Told) -> None:
    """Fails unless the ledger comes to rest with just this, and is still there after further looks of it."""
    once(own, f"the ledger shows {expected}", lambda ledger: rests(ledger) and differences(ledger) == expected)
    until = time.monotonic() + 8
    while time.monotonic() < until:
        assert differences(own.get("ledger")) in (expected, None)
        time.sleep(1)
    once(own, f"the ledger still shows {expected}", lambda ledger: rests(ledger) and differences(ledger) == expected)


def sent_again(settings: Settings, stream: str) -> None:
    """The first event of a stream, by a producer of the store."""
    with connect(settings) as middleware:
        with middleware.data.consumer(stream, "test-ledger", start="head") as consumer:
            event, *_ = eventually("an event is read", lambda: consumer.poll(1, 1.0))
        with middleware.data.producer(stream) as producer:
            producer.send("", event)
            producer.flush()


def counted_by(settings: Settings, difference: int) -> None:
    """One bucket's total in Redis is another."""
    with redis.Redis.from_url(settings.redis_address, decode_responses=True) as client:
        (key, *_) = client.scan_iter(f"{settings.redis_prefix}bucket:*")
        stored = client.hget(key, TOTAL)
        assert stored is not None
        client.hset(key, TOTAL, stored.replace(str(highest(stored)), str(highest(stored) + difference), 1))


def index_rows(tweet_id: int, position: int) -> IndexRows:
    vector = np.full((1, DIMENSIONS), DIMENSIONS**-0.5, np.float32)
    return IndexRows.of([tweet_id], [position], vector, ["en"], [0])


def test_it_is_exact_as_the_audit_is_and_sees_what_is_planted(own: Stack) -> None:
    once(own, "it is known that nothing is lost", lambda ledger: ledger["state"] == "exact")
    own.ingest("--source", "synthetic", "--rate", "500", "--limit", str(TWEETS), "--run", "a")
    ledger = once(own, "all has arrived", lambda ledger: rests(ledger) and ledger["state"] == "exact")
    assert ledger["stages"] == [
        {"name": name, "accounted": TWEETS, "repeated": 0, "in_flight": 0, "lost": 0, "twice": 0} for name in STAGES
    ]
    own.audit_is_exact(TWEETS, 120)
    settings = own.settings()
    planted: Told = {}

    sent_again(settings, RAW)  # enriched anew, and of the same number
    shows(own, planted := {("enriched", "repeated"): 1})
    sent_again(settings, ENRICHED)
    shows(own, planted := {("enriched", "repeated"): 2})
    sent_again(settings, HASHTAG_COUNTS)  # counts are whole: the highest of them stays
    shows(own, planted)

    with ManifestWriter.create(settings, "without-event", "test", {}) as manifest:
        manifest.acknowledged(1)
    shows(own, planted := planted | {("enriched", "lost"): 1})
    assert "lost 1, twice 0, repeated 2" in own.murmur("status")

    counted_by(settings, 1)
    shows(own, planted | {("ranked", "twice"): 1})
    counted_by(settings, -2)
    shows(own, planted | {("ranked", "lost"): 1})
    counted_by(settings, 1)
    shows(own, planted)

    ((tweet_id, position),) = own.rows("SELECT tweet_id, position FROM tweets ORDER BY position LIMIT 1 OFFSET 7")
    with closing(Index.open(settings)) as index:
        index.upsert([index_rows(STRANGER, position)])
        shows(own, planted | {("indexed", "twice"): 1})
        index.remove({STRANGER: position, tweet_id: position})
        shows(own, planted := planted | {("indexed", "lost"): 1})

    path = settings.database_address.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, timeout=30)) as database, database:
        database.execute("DELETE FROM tweets WHERE position = ?", (position,))
    shows(own, planted | {("stored", "lost"): 1})
