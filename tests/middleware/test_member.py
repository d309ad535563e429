"""What consumers have in common that are members of a group which the application keeps, without a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from middleware.data import Position
from middleware.errors import Overtaken, StreamReplaced, Unreachable
from middleware.group import Group
from middleware.member import MemberConsumer
from middleware.membership import LOOK_S, Membership
from tests.middleware.test_membership import OneRecord, Store


class Stream:
    """Partitions of numbered events, from a head on."""

    def __init__(self, *ends: int) -> None:
        self.life, self.ends, self.head = "one", list(ends), 0
        self.is_there = True

    def end(self) -> Position:
        return Position("stream", self.life, dict(enumerate(self.ends)))


class OneConsumer(MemberConsumer):
    def __init__(self, stream: Stream, store: Store, member: str = "", from_head: bool = False) -> None:
        super().__init__(Membership(lambda: OneRecord(store), "stream", member), "stream", "group", from_head)
        self.stream = stream
        self.at: dict[int, int] = {}
        self._read_what_is_held()

    def place(self, index: int) -> str:
        raise NotImplementedError

    def look(self) -> None:
        """As if it were time to."""
        self._membership._looked -= LOOK_S
        self._look()

    def _life(self) -> str:
        return "one"

    def _offsets(self) -> dict[int, int]:
        return self.at

    def _begin(self, partition: int, offset: int) -> None:
        if not self.stream.is_there:
            raise Unreachable("the stream cannot be read")
        self.at[partition] = offset

    def _stop(self, partition: int) -> None:
        del self.at[partition]

    def _take(self, most: int, seconds: float) -> list[bytes]:
        for partition, at in self.at.items():
            if at < self.stream.head:
                self._pass(partition, self.stream.head, "events")
                self.at[partition] = at = self.stream.head
            if at < self.stream.ends[partition]:
                self.at[partition] += 1
                return [b"%d/%d" % (partition, at)]
        return []

    def _look_at_stream(self) -> None:
        if self.stream.life != "one":
            raise StreamReplaced.of("stream")
        self._extend(range(len(self.stream.ends)))


@contextmanager
def members(stream: Stream, *names: str, from_head: bool = False) -> Iterator[list[OneConsumer]]:
    store = Store(Group(dict.fromkeys(range(len(stream.ends)), 0)).to_bytes())
    consumers = [OneConsumer(stream, store, name, from_head) for name in names]
    try:
        yield consumers
    finally:
        for consumer in consumers:
            consumer.close()


def share(one: OneConsumer, two: OneConsumer) -> None:
    """Has the first one give away what the second one takes."""
    one.look()
    one.commit()
    two.look()


def read(consumer: OneConsumer) -> list[bytes]:
    events: list[bytes] = []
    while more := consumer.poll(10, 0.0):
        events += more
    return events


def test_it_reads_what_it_holds_and_commits_what_it_handed_out() -> None:
    stream = Stream(2, 1)
    with members(stream, "one") as (consumer,):
        assert not consumer.has_reached(stream.end())
        assert sorted(read(consumer)) == [b"0/0", b"0/1", b"1/0"]
        assert consumer.has_reached(stream.end())
        assert consumer.commit()
        assert consumer._membership.group.offsets == {0: 2, 1: 1}


def test_partitions_that_are_added_are_shared_whoever_sees_them_first() -> None:
    stream = Stream(0, 0)
    with members(stream, "one", "two") as (one, two):
        share(one, two)
        stream.ends = [0, 0, 1, 1]
        for consumer in (one, two, one):
            consumer.look()
        assert sorted(one.at) == [0, 2]
        assert sorted(two.at) == [1, 3]
        assert read(one) + read(two) == [b"2/0", b"3/0"]


def test_a_partition_that_was_added_is_not_read_to_its_end_before_it_is_read() -> None:
    stream = Stream(0)
    with members(stream, "one") as (consumer,):
        stream.ends = [0, 1]
        end = stream.end()
        assert not consumer.has_reached(end)
        consumer.look()
        assert not consumer.has_reached(end)
        assert read(consumer) == [b"1/0"]
        assert consumer.has_reached(end)


def test_a_partition_that_cannot_be_opened_is_not_read_to_its_end_and_opened_later() -> None:
    stream = Stream(0, 0)
    with members(stream, "one", "two") as (one, two):
        stream.is_there = False
        share(one, two)
        assert not two.at
        assert not two.has_reached(stream.end())
        stream.is_there = True
        two._membership._renewed = 0.0
        two.look()
        assert two.has_reached(stream.end())


@pytest.mark.parametrize("from_head", [False, True])
def test_only_who_reads_from_the_head_goes_on_behind_what_retention_took(from_head: bool) -> None:
    stream = Stream(5)
    with members(stream, "one", from_head=from_head) as (consumer,):
        stream.head = 3
        if from_head:
            assert read(consumer) == [b"0/3", b"0/4"]
            assert consumer.passed_over == {0: 3}
        else:
            for _ in range(2):
                with pytest.raises(Overtaken, match=r"offsets 0 to 2 of partition 0 .*\(3 events\).*accept-loss"):
                    consumer.poll(10, 0.0)


def test_a_stream_that_was_made_anew_is_told_by_a_look_and_by_an_end() -> None:
    stream = Stream(0)
    with members(stream, "one") as (consumer,):
        stream.life = "another"
        with pytest.raises(StreamReplaced):
            consumer.has_reached(stream.end())
        with pytest.raises(StreamReplaced):
            consumer.look()
