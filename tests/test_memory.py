"""The middleware that tests keep in memory behaves as the interface says."""

import pytest

from common.settings import Settings
from middleware.errors import MiddlewareError, Overtaken, PublishFailed, StreamReplaced
from tests.memory import Memory

STREAM = "test"


@pytest.fixture
def memory() -> Memory:
    made = Memory(Settings())
    made.admin.create_stream(STREAM, 2)
    return made


def publish(memory: Memory, *events: bytes) -> None:
    with memory.data.producer(STREAM) as producer:
        for event in events:
            producer.send(event.decode(), event)


def test_all_members_together_read_all_of_it_and_reach_the_end(memory):
    events = [b"%d" % n for n in range(20)]
    publish(memory, *events)
    end = memory.data.end(STREAM)
    publish(memory, b"later")
    with memory.data.consumer(STREAM, "group", "a") as a, memory.data.consumer(STREAM, "group", "b") as b:
        assert [a.has_reached(end), b.has_reached(end)] == [False, False]
        read = a.poll(100, 0) + b.poll(100, 0)
        assert sorted(read) == sorted([*events, b"later"])
        assert [a.has_reached(end), b.has_reached(end)] == [True, True]
        assert a.place(0) == "0/0"


def test_what_was_not_committed_comes_again(memory):
    publish(memory, b"1", b"2", b"3")
    with memory.data.consumer(STREAM, "group") as consumer:
        first = consumer.poll(2, 0)
        consumer.commit()
        rest = consumer.poll(2, 0)
    with memory.data.consumer(STREAM, "group") as consumer:
        assert consumer.poll(9, 0) == rest
    assert sorted(first + rest) == [b"1", b"2", b"3"]


def test_retention_that_overtakes_is_an_error_and_a_head_past_the_end_is_the_end(memory):
    publish(memory, *[b"%d" % n for n in range(10)])
    end = memory.data.end(STREAM)
    with memory.data.consumer(STREAM, "group") as consumer:
        for n, partition in enumerate(memory.logs[STREAM].partitions):
            memory.truncate(STREAM, partition.end, n)
        assert consumer.has_reached(end)
        with pytest.raises(Overtaken):
            consumer.poll(9, 0)


def test_a_stream_made_anew_is_another_one(memory):
    end = memory.data.end(STREAM)
    memory.delete_stream(STREAM)
    memory.admin.create_stream(STREAM, 2)
    with memory.data.consumer(STREAM, "group") as consumer, pytest.raises(StreamReplaced):
        consumer.has_reached(end)


@pytest.mark.parametrize("taken", [True, False])
def test_a_flush_that_fails_may_have_been_taken(memory, taken):
    memory.flush_failures.append(taken)
    producer = memory.data.producer(STREAM)
    producer.send("k", b"1")
    with pytest.raises(PublishFailed):
        producer.flush()
    assert memory.events(STREAM) == ([b"1"] if taken else [])


def test_it_tells_its_bounds_and_who_is_overtaken(memory):
    bounded = Memory(Settings(stream_retention_bytes=10), memory.logs)
    publish(bounded, *[b"%d" % n for n in range(10)])
    with bounded.data.consumer(STREAM, "group") as consumer:
        consumer.poll(4, 0)
        consumer.commit()
        with pytest.raises(MiddlewareError):
            bounded.admin.move_group(STREAM, "group", bounded.data.end(STREAM))
    stands = bounded.admin.committed(STREAM, "group")
    assert stands
    assert bounded.admin.held(STREAM).holds == 10
    assert bounded.admin.retention_used(STREAM, stands) == pytest.approx(0.6)
    for n, partition in enumerate(bounded.logs[STREAM].partitions):
        bounded.truncate(STREAM, partition.end, n)
    assert bounded.admin.retention_used(STREAM, stands) == 1
    bounded.admin.move_group(STREAM, "group", stands.moved_to(bounded.data.head(STREAM)))
    assert bounded.admin.committed(STREAM, "group") == bounded.data.head(STREAM)
    assert bounded.admin.committed(STREAM, "another") is None
