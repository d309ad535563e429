"""The readers stand where their own modules say, and each kind is found and moved."""

import pytest

from common.settings import Settings
from common.tweets import ENRICHED, HASHTAG_COUNTS
from consumers import search, trending
from middleware.readers import READERS
from spark_jobs import enrich
from spark_jobs import trending as trending_query
from tests.memory import Memory

BY_NAME = {reader.name: reader for reader in READERS}


@pytest.fixture
def memory() -> Memory:
    memory = Memory(Settings())
    for stream in (ENRICHED, HASHTAG_COUNTS):
        memory.admin.create_stream(stream, 1)
        with memory.data.producer(stream) as producer:
            for number in range(10):
                producer.send("k", b"%d" % number)
    return memory


def test_they_are_named_as_their_modules_name_them():
    assert {name: reader.place for name, reader in BY_NAME.items()} == {
        "enrich": enrich.NAME, "trending": trending_query.NAME,
        "search-consumer": search.GROUP, "trending-consumer": trending.GROUP,
    }  # fmt: skip


def test_a_group_that_was_overtaken_goes_on_at_the_head(memory):
    reader = BY_NAME["search-consumer"]
    assert reader.position(memory) is None
    with memory.data.consumer(ENRICHED, reader.place) as consumer:
        consumer.poll(3, 0)
        consumer.commit()
    memory.truncate(ENRICHED, 7)
    position, head = reader.position(memory), memory.data.head(ENRICHED)
    assert position
    assert position.lies_before(head)
    reader.move(memory, head)
    with memory.data.consumer(ENRICHED, reader.place) as consumer:
        assert consumer.poll(100, 0) == [b"7", b"8", b"9"]
