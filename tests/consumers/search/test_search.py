"""Search as a whole, from events to hits, on a real Milvus Lite, Redis and SQLite."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import hypothesis
import msgspec
import numpy as np
import orjson
import pytest

from common.settings import Settings
from common.tweets import ENRICHED, REJECTED, RejectedEvent, enriched_tweet, rfc3339, to_json
from consumers import search as search_module
from consumers.runner import Runner, Stopping
from consumers.search import Search, index_rows, reconcile
from search import index as index_module
from search import milvus_rows
from search.encoder import Encoder
from search.filters import Filters
from search.index import Index, IndexDown
from search.milvus_rows import WireChanged
from search.posts import DependencyDown
from search.query import TweetSearch
from search.store import Store
from tests.consumers.events import spoilt_json
from tests.consumers.search.given import TEXTS, events, place, stand_still
from tests.memory import Memory
from tests.search.samples import tweet
from tests.search.servers import MilvusServer

pytestmark = pytest.mark.server

def test_it_does_not_start_with_a_client_that_writes_otherwise(make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus_rows, "_varint", lambda _: b"")
    with pytest.raises(WireChanged):
        make()


def test_from_events_to_hits(make, settings: Settings) -> None:
    make().handle(events(0, 1, 2), place)
    tweets = TweetSearch.open(settings)
    first = tweets.search("goals in the last minutes @somebody https://t.co/x", limit=2).hits[0]
    assert {k: v for k, v in first.items() if k != "distance"} == {
        "tweet_id": "0", "text": "Two goals in the last ten minutes 0", "created_at": "2026-03-01T10:00:00.250Z",
        "author_id": "7", "lang": "en", "hashtags": [], "source": "test", "url": None,
    }
    assert 0 < first["distance"] < 0.5
    assert tweets.search("sourdough", limit=1).hits[0]["tweet_id"] == "2"
    assert len(tweets.search("sourdough", limit=2).hits) == 2
    assert tweets.search("sourdough", filters=Filters(lang="de")).hits == []
    assert tweets.search("sourdough", filters=Filters(since=datetime(2026, 3, 2, tzinfo=UTC))).hits == []
    assert tweets.search("@somebody").hits == []


def test_of_equal_vectors_the_exact_text_comes_first(make, settings: Settings) -> None:
    texts = ["you love what I do", "what I do you love", "do what I love you", "Do What I Love You"]
    make().handle([to_json(tweet(i, text)) for i, text in enumerate(texts)], place)
    tweets = TweetSearch.open(settings)
    for number, text in enumerate(texts):
        hit = tweets.search(text, limit=1).hits[0]
        assert (hit["tweet_id"], hit["distance"]) == (str(number), pytest.approx(0, abs=1e-5))


def test_events_that_come_again_change_nothing(make, settings: Settings) -> None:
    consumer = make()
    consumer.handle(events(1, 2, 1), place)
    consumer.handle(events(2, 3), place)
    make().handle(events(1, 2, 3), place)
    assert sorted(Index.open(settings).ids()) == [1, 2, 3]
    assert Store.open(settings).count() == 3


def run(consumer: Search, memory: Memory, batches: int) -> None:
    """Reads so many batches of `tweets-enriched`."""
    stop, tick = threading.Event(), consumer.tick
    left = [None] * batches

    def count() -> None:
        tick()
        left.pop()
        if not left:
            stop.set()

    consumer.tick = count
    with pytest.raises(Stopping):
        Runner(memory.data, ENRICHED, "search", "0", stop).run(consumer, 1000, 0)


def test_a_member_that_stood_still_while_another_had_its_share_repeats_no_row(
    make, settings: Settings, memory: Memory, monkeypatch
) -> None:
    """Its commit tells it."""
    one, other = make(), make()
    with memory.data.producer(ENRICHED) as producer:
        for event in events(*range(1, 80)):
            producer.send("key", event)
    stand_still(monkeypatch, one, lambda: other.handle(events(*range(1, 80)), place))
    monkeypatch.setattr("tests.memory.MemoryConsumer.commit", lambda _: False)
    run(one, memory, 1)
    assert sorted(Index.open(settings).ids()) == list(range(1, 80))


def test_what_is_sent_late_repeats_no_row(make, settings: Settings, monkeypatch) -> None:
    """Not even for a moment, and whatever becomes of the member then."""
    one, other = make(), make()
    monkeypatch.setattr(search_module, "SURELY_NEW_S", -1.0)
    stand_still(monkeypatch, one, lambda: other.handle(events(1, 2, 3), place))
    one.handle(events(1, 2, 3), place)
    assert sorted(Index.open(settings).ids()) == [1, 2, 3]


def test_a_batch_that_reached_only_the_database(make, settings: Settings) -> None:
    Store.open(settings).insert([tweet(1, TEXTS[1])])
    make().handle(events(1), place)
    assert list(Index.open(settings).ids()) == [1]
    assert TweetSearch.open(settings).search(TEXTS[1], 1).hits[0]["text"] == TEXTS[1]  # the first row stays


def test_reconciling_repairs_both_ways(settings: Settings, encoder: Encoder, monkeypatch) -> None:
    monkeypatch.setattr(search_module, "RECENT_US", 0)
    store, index = Store.open(settings), Index.open(settings)
    store.insert([tweet(i, TEXTS[i % 3]) for i in range(1, 55)])
    index.insert([index_rows(store, encoder, range(1, 50))])  # 50..54 lacking
    index.insert([index_rows(store, encoder, [3])])  # twice
    stranger = index_rows(store, encoder, [4])._replace(tweet_ids=np.array([99]))
    index.insert([stranger])
    index.insert([stranger._replace(positions=np.array([900]))])  # a shard beyond the newest: the database was replaced
    index = Index.open(settings)
    reconcile(store, index, encoder)
    assert sorted(index.ids()) == list(range(1, 55))
    assert index.shards() == [0, 1]


def test_reconciling_leaves_what_another_member_is_at(settings: Settings, encoder: Encoder) -> None:
    store, index = Store.open(settings), Index.open(settings)
    store.insert([tweet(1)])
    reconcile(store, index, encoder)
    assert list(index.ids()) == []


def test_only_the_newest_are_kept(make, settings: Settings) -> None:
    consumer = make()
    for start in range(0, 300, 30):
        consumer.handle(events(*range(start, start + 30)), place)
    index, store = Index.open(settings), Store.open(settings)
    horizon = index.horizon(store.newest_position())
    positions = store.positions(range(300))
    assert set(index.ids()) == {i for i, position in positions.items() if position >= horizon}
    assert 100 <= index.count() <= 100 + index.shard_rows
    consumer.handle(events(5), place)
    assert 5 not in index.ids()


def test_an_index_that_goes_away(make, settings: Settings, milvus: MilvusServer, monkeypatch) -> None:
    monkeypatch.setattr(search_module, "RECENT_US", 0)
    monkeypatch.setattr(index_module, "TIMEOUT_S", 2.0)
    consumer, tweets = make(), TweetSearch.open(settings)
    consumer.handle(events(1, 2), place)
    milvus.kill()
    with pytest.raises(IndexDown):
        consumer.handle(events(3), place)
    with pytest.raises(DependencyDown, match="index"):
        tweets.search("anything")
    milvus.wipe()
    milvus.start()
    deadline = time.monotonic() + 60
    while True:
        try:
            consumer.handle(events(3), place)
            consumer.tick()
            break
        except IndexDown:
            assert time.monotonic() < deadline
    assert sorted(Index.open(settings).ids()) == [1, 2, 3]
    assert tweets.search(f"{TEXTS[0]} 3", 1).hits[0]["tweet_id"] == "3"


def test_a_hit_that_left_the_database_is_passed_over(make, settings: Settings) -> None:
    make().handle(events(0, 1, 2), place)
    tweets = TweetSearch.open(settings)
    with tweets._store._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM tweets WHERE tweet_id = 0")
    assert [hit["tweet_id"] for hit in tweets.search("goals", limit=2).hits] != []
    assert "0" not in {hit["tweet_id"] for hit in tweets.search("goals", limit=3).hits}


def test_a_database_that_is_broken_is_named(make, settings: Settings, tmp_path: Path) -> None:
    make().handle(events(0), place)
    elsewhere = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/no/such/folder.db"})
    with pytest.raises(DependencyDown, match="database"):
        TweetSearch.open(elsewhere).search("goals")


def test_a_hit_tells_its_source_and_where_it_can_be_read(make, settings: Settings) -> None:
    make().handle(events(1, url="https://example.org/1"), place)
    hit = TweetSearch.open(settings).search(TEXTS[1], 1).hits[0]
    assert (hit["source"], hit["url"]) == ("test", "https://example.org/1")


VALID = orjson.loads(to_json(tweet(3, "a text", hashtags=["a", "b"])))


@pytest.fixture(scope="module")
def consumer(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[tuple[Search, Memory]]:
    """One for all examples, on servers of its own."""
    server = MilvusServer(tmp_path_factory.mktemp("milvus"))
    server.start()
    settings = Settings(
        redis_url=redis_url, milvus_uri=server.uri, instance="strange",
        database_url=f"sqlite:///{tmp_path_factory.mktemp('store') / 'tweets.db'}",
    )
    memory = Memory(settings)
    memory.admin.create_stream(REJECTED, 1)
    made = Search(settings, "0", lambda _: memory)
    yield made, memory
    made.close()
    server.kill()


OFFSETS = count(0, 2)
"""Each example stands elsewhere in the stream: hypothesis may try one again."""


@hypothesis.settings(max_examples=200)
@hypothesis.given(event=spoilt_json(VALID))
def test_no_event_stops_the_consumer(consumer: tuple[Search, Memory], event: bytes) -> None:
    """Each is stored and found, or parked; what comes with it is stored."""
    search, memory = consumer
    offset = next(OFFSETS)
    before, good = len(memory.events(REJECTED)), tweet((1 << 62) + offset, "a good one")
    search.handle([event, to_json(good)], lambda index: f"0/{offset + index}")
    assert good.tweet_id in search._store.get([good.tweet_id])
    new = [msgspec.json.decode(each, type=RejectedEvent) for each in memory.events(REJECTED)[before:]]
    if new:
        assert [each.position for each in new] == [f"{ENRICHED}/0/{offset}"]
    else:
        tweet_id = enriched_tweet(event).tweet_id
        row = search._store.get([tweet_id])[tweet_id]
        assert rfc3339(row.created_at_us)
        indexed = tweet_id in search._index.shard_ids(search._index.shard_of(row.position))
        assert indexed is not row.forgotten
