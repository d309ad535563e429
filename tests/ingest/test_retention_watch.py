"""Retention that is about to overtake a reader is seen coming."""

import logging

import pytest

from common.settings import Settings
from common.tweets import ENRICHED, HASHTAG_COUNTS
from ingest import retention_watch
from ingest.retention_watch import Watch, shares
from middleware.readers import READERS
from tests.memory import Memory

GROUPS = tuple(reader for reader in READERS if reader.kind == "group")


@pytest.fixture
def memory(monkeypatch) -> Memory:
    """Two streams that hold 10 bytes of 20; the search consumer has read half of its one."""
    monkeypatch.setattr(retention_watch, "READERS", GROUPS)
    memory = Memory(Settings(stream_retention_bytes=20))
    for stream in (ENRICHED, HASHTAG_COUNTS):
        memory.admin.create_stream(stream, 1)
        with memory.data.producer(stream) as producer:
            for number in range(10):
                producer.send("k", b"%d" % number)
    with memory.data.consumer(ENRICHED, "search") as consumer:
        consumer.poll(5, 0)
        consumer.commit()
    return memory


def test_what_a_reader_has_not_read_as_a_share_of_the_bound(memory):
    assert shares(memory) == {"search-consumer": 0.25}  # the other one has not begun
    memory.truncate(ENRICHED, 6)
    assert shares(memory) == {"search-consumer": 1}


def test_what_cannot_be_asked_is_unknown(memory):
    memory.down = True
    assert shares(memory) == {}


def test_it_warns_once_as_a_limit_is_passed(caplog):
    caplog.set_level(logging.INFO)
    watch = Watch()
    for share in (0.1, 0.55, 0.6, 0.85, 0.7, 1.2, 1.2, 0.2, 0.6):
        watch.tell({"enrich": share})
    assert [(record.levelname, record.args[-1]) for record in caplog.records] == [
        ("WARNING", pytest.approx(55)), ("WARNING", pytest.approx(85)), ("ERROR", "enrich"),
        ("INFO", pytest.approx(20)), ("WARNING", pytest.approx(60)),
    ]
