"""Any payload on its way from `examine` to the consumers, over a middleware in memory: nothing stops anything."""

from __future__ import annotations

import time
from itertools import islice

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from common.settings import Settings
from common.tweets import ENRICHED, RAW, REJECTED, RejectedEvent
from consumers.parking import readable
from consumers.search import storable_tweet
from ingest.sources.base import examine
from ingest.stamp import Stamper
from search.store import Store
from spark_jobs.accept_or_reject import Rules, enrich_event
from tests.ingest.endpoint.bodies import bodies
from tests.memory import Memory
from tests.odd import payloads

SETTINGS = Settings()
RULES = Rules(
    SETTINGS.max_event_bytes, SETTINGS.allowed_lateness_s, SETTINGS.future_tolerance_s, SETTINGS.max_hashtags
)
ODD = list(islice(payloads(7), 3000))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(Settings(database_url=f"sqlite:///{tmp_path_factory.mktemp('any')}/tweets.db"))


@examples(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(bodies, st.sampled_from(ODD)), min_size=1, max_size=8))
def test_each_payload_is_enriched_or_rejected_and_what_is_enriched_can_be_stored(
    store: Store, batch: list[bytes]
) -> None:
    memory = Memory(SETTINGS)
    for stream in (RAW, ENRICHED, REJECTED):
        memory.admin.create_stream(stream, 2)
    run = f"run-{time.time_ns()}"
    publish(memory, run, batch)
    enrich(memory)
    enriched, rejected = memory.events(ENRICHED), memory.events(REJECTED)
    tweets, refused = readable(enriched, storable_tweet)
    assert refused == {}
    stored = store.insert(tweets)
    assert set(stored.new) <= {tweet.tweet_id for tweet in tweets}
    assert store.positions([tweet.tweet_id for tweet in tweets]).keys() == {tweet.tweet_id for tweet in tweets}
    stamps = [tweet.ingest for tweet in tweets]
    stamps += [msgspec.json.decode(event, type=RejectedEvent).ingest for event in rejected]
    assert sorted((stamp.run, stamp.seq) for stamp in stamps) == [(run, seq) for seq in range(len(batch))]


def publish(memory: Memory, run: str, batch: list[bytes]) -> None:
    stamper = Stamper("test", run, SETTINGS.max_event_bytes)
    with memory.data.producer(RAW) as producer:
        for seq, body in enumerate(batch):
            payload = examine(body)
            producer.send(payload.author_id, stamper.event(seq, time.time_ns() // 1000, payload))


def enrich(memory: Memory) -> None:
    """As Spark's workers do, one event after the other."""
    end = memory.data.end(RAW)
    with memory.data.consumer(RAW, "enrich") as consumer, memory.data.producer(ENRICHED) as tweets, \
            memory.data.producer(REJECTED) as rejections:
        while not consumer.has_reached(end):
            for raw in consumer.poll(100, 0):
                outcome = enrich_event(raw, RULES, time.time_ns() // 1000)
                (tweets if outcome.stream == ENRICHED else rejections).send(outcome.key, outcome.event)
