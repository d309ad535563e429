"""What the producer makes of the client's writers, which here are written in Python: it leaves none behind."""

import pytest

from common.settings import Settings
from middleware.errors import PublishFailed, Unreachable
from middleware.pravega.producer import MAX_GROUP_BYTES, MAX_GROUP_EVENTS, PravegaProducer


class Writer:
    """As BlockWriter; `why`: what its flush tells."""

    def __init__(self, why: str | None) -> None:
        self.why, self._room = why, bytearray(2 * MAX_GROUP_BYTES)
        self.events, self.largest, self.closed = 0, 0, False

    def room(self, size: int) -> memoryview:
        return memoryview(self._room)[:size]

    def offer(self, size: int, events: int, timeout_ms: int) -> bool:
        if self.why == "refused":
            raise PublishFailed("refused")
        if self.why == "interrupted":
            raise KeyboardInterrupt
        self.events += events
        self.largest = max(self.largest, size)
        return True

    def push(self) -> None:
        assert not self.closed

    def flush(self, timeout_ms: int) -> bool:
        return True

    def failure(self) -> str | None:
        return self.why

    def close(self) -> None:
        self.closed = True


class Client:
    """Opens a writer for each of `fates`: why it fails, or None; or raises, if that is an error."""

    def __init__(self, *fates: str | Exception | None) -> None:
        self._fates = iter(fates)
        self.writers: list[Writer] = []

    def __call__(self) -> Writer:
        fate = next(self._fates)
        if isinstance(fate, Exception):
            raise fate
        self.writers.append(Writer(fate))
        return self.writers[-1]

    def producer(self) -> PravegaProducer:
        return PravegaProducer(self, Settings(), "stream")


def publish(producer: PravegaProducer, events: int = 1) -> None:
    for _ in range(events):
        producer.send("key", b"event")
    producer.flush()


def test_of_a_long_outage_one_writer_is_left() -> None:
    client = Client("away", Unreachable("away"), "away", None)
    producer = client.producer()
    for _ in range(3):
        with pytest.raises((PublishFailed, Unreachable)):
            publish(producer)
    publish(producer)
    assert [writer.closed for writer in client.writers] == [True, True, False]
    assert client.writers[-1].events == 1
    producer.close()
    assert client.writers[-1].closed


def test_a_writer_that_takes_no_block_is_closed() -> None:
    client = Client("refused", None)
    producer = client.producer()
    with pytest.raises(PublishFailed):
        publish(producer, MAX_GROUP_EVENTS)
    assert client.writers[0].closed
    publish(producer)
    producer.close()
    assert [writer.events for writer in client.writers] == [0, 1]


def test_closing_after_a_failure_opens_nothing() -> None:
    client = Client("away")
    producer = client.producer()
    with pytest.raises(PublishFailed):
        publish(producer)
    producer.close()
    assert [writer.closed for writer in client.writers] == [True]


def test_a_group_is_bounded_in_bytes() -> None:
    """However long it may wait: a block of it is copied in one piece."""
    client, event = Client(None), bytes(600_000)
    producer = PravegaProducer(client, Settings(publish_group_ms=1000), "stream")
    for _ in range(50):
        producer.send("key", event)
    producer.close()
    assert client.writers[0].events == 50
    assert MAX_GROUP_BYTES - len(event) < client.writers[0].largest <= MAX_GROUP_BYTES


def test_a_group_whose_handing_over_is_interrupted_is_kept() -> None:
    client = Client("interrupted", None)
    producer = client.producer()
    producer.send("key", b"event")
    with pytest.raises(KeyboardInterrupt):
        producer.flush()
    client.writers[0].why = None
    producer.flush()
    assert client.writers[0].events == 1


def test_a_group_that_was_refused_is_not_sent_once_more() -> None:
    client = Client("refused", None)
    producer = client.producer()
    producer.send("key", b"event")
    with pytest.raises(PublishFailed):
        producer.flush()
    producer.close()
    assert len(client.writers) == 1
