import base64
import hashlib
import json
import logging
from collections.abc import Callable

import msgspec
import pytest

from common.settings import Settings
from common.tweets import ENRICHED, HASHTAG_COUNTS, REJECTED, REJECTED_EVENT_BYTES, Reader, RejectedEvent, to_json
from consumers.parking import Parking, readable
from middleware.errors import PublishFailed, Unreachable
from tests.memory import Memory, MemoryConsumer
from tests.search.samples import tweet

BAD = b'{"tweet_id": "x"}'


@pytest.fixture
def memory() -> Memory:
    made = Memory(Settings())
    made.admin.create_stream(REJECTED, 2)
    return made


@pytest.fixture
def start(memory: Memory) -> Callable[..., Parking]:
    """A process that parks."""
    def made(stage: Reader = "search-consumer", stream: str = ENRICHED) -> Parking:
        return Parking(memory.settings, stage, stream, lambda _: memory)

    return made


def parked(memory: Memory) -> list[RejectedEvent]:
    return [msgspec.json.decode(event, type=RejectedEvent) for event in memory.events(REJECTED)]


def positions(memory: Memory) -> list[tuple[str, str]]:
    return sorted((event.stage, event.position) for event in parked(memory))


def park(parking: Parking, *offsets: int, event: bytes = BAD) -> int:
    """Of partition 0, in a batch that begins with offset 0."""
    events = [event] * (max(offsets) + 1)
    return parking.park(events, dict.fromkeys(offsets, "unreadable"), lambda index: f"0/{index}")


def test_what_is_parked_tells_where_it_stood_and_what_it_was(memory: Memory, start) -> None:
    good = tweet(5)
    park(start(), 3, event=to_json(good).replace(b'"tweet_id":5', b'"tweet_id":-5'))
    (event,) = parked(memory)
    assert (event.reason, event.stage, event.position) == ("unreadable", "search-consumer", f"{ENRICHED}/0/3")
    kept = base64.b64decode(event.event)
    assert json.loads(kept)["tweet_id"] == -5
    assert (event.bytes, event.sha256) == (len(kept), hashlib.sha256(kept).hexdigest())
    assert event.ingest == good.ingest
    assert event.rejected_at.endswith("Z")


def test_once_in_a_life_and_after_it(memory: Memory, start) -> None:
    parking = start()
    assert park(parking, 1, 2) == 2
    assert park(parking, 2, 3) == 1
    assert park(start(), 1, 2, 3, 4) == 1
    assert positions(memory) == [("search-consumer", f"{ENRICHED}/0/{offset}") for offset in (1, 2, 3, 4)]


def test_once_for_each_reader(memory: Memory, start) -> None:
    park(start(), 1)
    park(start("trending-consumer", HASHTAG_COUNTS), 1)
    park(start("trending-consumer", HASHTAG_COUNTS), 1)
    assert positions(memory) == [
        ("search-consumer", f"{ENRICHED}/0/1"), ("trending-consumer", f"{HASHTAG_COUNTS}/0/1"),
    ]


def test_a_partition_that_another_member_read_before(memory: Memory, start) -> None:
    one, two = start(), start()
    two.park([BAD], {0: "unreadable"}, lambda _: "1/7")
    park(one, 1)
    assert park(two, 1, 2) == 1
    assert len(parked(memory)) == 3


@pytest.mark.parametrize("taken", [True, False])
def test_once_though_the_store_did_not_confirm(memory: Memory, start, taken: bool) -> None:
    parking = start()
    park(parking, 0)
    memory.flush_failures.append(taken)
    with pytest.raises(PublishFailed):
        park(parking, 1)
    park(parking, 1)
    assert positions(memory) == [("search-consumer", f"{ENRICHED}/0/{offset}") for offset in (0, 1)]


def test_what_is_parked_is_read_once(memory: Memory, start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of further partitions, and after failures, only what came since is read."""
    one, two = start(), start()
    one.park([BAD] * 100, dict.fromkeys(range(100), "unreadable"), lambda index: f"7/{index}")
    read = handed_out(monkeypatch)
    park(two, 1)
    assert sum(read) == 100
    for partition in range(1, 5):
        one.park([BAD], {0: "unreadable"}, lambda _, partition=partition: f"{partition}/0")
        assert two.park([BAD], {0: "unreadable"}, lambda _, partition=partition: f"{partition}/0") == 0
    memory.flush_failures.append(False)
    with pytest.raises(PublishFailed):
        park(two, 2)
    assert park(two, 2) == 1
    assert sum(read) < 250  # by each of the two, what was there once


def test_all_is_read_where_the_stream_is_another_one(memory: Memory, start) -> None:
    one = start()
    park(one, 1)
    memory.delete_stream(REJECTED)
    memory.admin.create_stream(REJECTED, 2)
    start().park([BAD], {0: "unreadable"}, lambda _: "1/7")
    assert one.park([BAD], {0: "unreadable"}, lambda _: "1/7") == 0


def test_what_is_left_is_read_where_retention_took_some(memory: Memory, start) -> None:
    one = start()
    park(one, 1)
    start().park([BAD] * 50, dict.fromkeys(range(50), "unreadable"), lambda index: f"1/{index}")
    for partition in range(2):
        memory.truncate(REJECTED, 5, partition)
    left = {event.position for event in parked(memory)}
    assert one.park([BAD] * 50, dict.fromkeys(range(50), "unreadable"), lambda index: f"1/{index}") == 50 - len(left)


def handed_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many events each poll of any consumer gets from now on."""
    counts: list[int] = []
    poll = MemoryConsumer.poll

    def counted(consumer: MemoryConsumer, max_events: int, timeout: float) -> list[bytes]:
        events = poll(consumer, max_events, timeout)
        counts.append(len(events))
        return events

    monkeypatch.setattr(MemoryConsumer, "poll", counted)
    return counts


def test_nothing_counts_as_parked_while_the_store_is_away(memory: Memory, start) -> None:
    parking = start()
    memory.down = True
    with pytest.raises(Unreachable):
        park(parking, 1)
    memory.down = False
    assert park(parking, 1) == 1


def test_what_is_kept_of_an_event_is_bounded(memory: Memory, start) -> None:
    event = b'{"text":"' + b"x" * (memory.settings.max_event_bytes - 20) + b'"'
    park(start(), 0, event=event)
    assert base64.b64decode(parked(memory)[0].event) == event[:REJECTED_EVENT_BYTES]
    assert parked(memory)[0].bytes == len(event)


def test_a_stamp_as_long_as_an_event_is_left_out(memory: Memory, start) -> None:
    run = "r" * (memory.settings.max_event_bytes - 200)
    stamp = {"sent_at_us": 1, "source": "s", "run": run, "seq": 1}
    assert park(start(), 0, event=json.dumps({"ingest": stamp}).encode()) == 1
    assert parked(memory)[0].ingest is None


def test_what_others_put_there_stops_nobody(memory: Memory, start) -> None:
    with memory.data.producer(REJECTED) as producer:
        for event in (b"\xff", b"{}", b'{"reason": 5}'):
            producer.send("key", event)
    assert park(start(), 0) == 1


def test_the_log_is_not_flooded(start, caplog: pytest.LogCaptureFixture) -> None:
    parking = start()
    with caplog.at_level(logging.WARNING):
        for offset in range(50):
            park(parking, offset)
    assert len(caplog.records) == 1
    assert f"{ENRICHED}/0/0" in caplog.text


def test_readable_keeps_the_order() -> None:
    assert readable([b"1", b"x", b"3", b"4"], int) == ([1, 3, 4], {1: "invalid literal for int() with base 10: b'x'"})
    assert readable([b"1"], int) == ([1], {})
