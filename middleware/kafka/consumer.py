"""Reads Kafka: a member of a consumer group that commits what it has handed out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import confluent_kafka
from confluent_kafka import OFFSET_STORED, KafkaError, KafkaException, Message, TopicPartition

from middleware.data import Consumer, Position
from middleware.errors import MiddlewareError, Overtaken, StreamReplaced, Unreachable

log = logging.getLogger(__name__)

SESSION_SECONDS = 10
"""How long a member that ended without leaving keeps its share."""

ANSWER_SECONDS = 5.0

JOIN_SECONDS = 10.0
"""How long to wait for a share of the stream at the start. Others of the group may be slow to let go of theirs."""

COMMIT_SECONDS = 30.0
"""How long a commit is tried again, as while a broker starts anew."""

QUEUE_FULL_MS = 20
"""How long the client, once it has 64 MiB ready, waits before it looks whether they were handed out. With a second,
its default, whoever catches up stands still for most of the time, and an audit takes that for the end."""

IDENTIFY_SECONDS = 1.0
"""How often whoever waits for an end asks whether the stream is still the same."""

NOT_A_MEMBER = (KafkaError.ILLEGAL_GENERATION, KafkaError.UNKNOWN_MEMBER_ID, KafkaError.REBALANCE_IN_PROGRESS)
"""The shares have changed since the events were read: they may belong to another member, and come again."""

NO_USE = (KafkaError._FATAL, KafkaError.UNKNOWN_TOPIC_OR_PART)
"""After the first the client is silent for ever: as when the broker took it for two under one name."""

PASSING = (
    KafkaError._WAIT_COORD, KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE,
    KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.REQUEST_TIMED_OUT,
)


class KafkaConsumer(Consumer):
    """A member with a name is a static one: whoever comes next under that name has its share at once.

    The price is that it never leaves: when it is closed, others get its share only after SESSION_SECONDS.
    """

    def __init__(
        self, configuration: dict[str, Any], topic: str, group: str, member: str, life: Callable[[], str],
        from_head: bool,
    ) -> None:
        """`life`: tells this topic from one that is made under its name when it was deleted."""
        self._topic, self._group, self._from_head = topic, group, from_head
        self.passed_over: dict[int, int] = {}
        self._identify, self._life, self._identified = life, life(), time.monotonic()
        self._uncommitted: dict[int, int] = {}  # by partition, the offset after the last event handed out
        self._looked: dict[int, int] = {}  # by partition held, the offset up to which the client found no more
        self._adrift: set[int] = set()  # partitions held that have no event at the position
        self._early: list[Message] = []  # read, not yet handed out
        self._handed_out: list[Message] = []  # by the last poll
        self._joined = self._closed = False
        self._client = confluent_kafka.Consumer({
            **configuration,
            "group.id": group,
            **({"group.instance.id": member} if member else {}),
            "session.timeout.ms": SESSION_SECONDS * 1000,
            "heartbeat.interval.ms": 1000,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,  # offsets have gaps, so the last event does not tell that the end is reached
            "fetch.error.backoff.ms": 100,
            "fetch.queue.backoff.ms": QUEUE_FULL_MS,
        })
        self._client.subscribe([topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked)
        try:
            self._join()
        except BaseException:
            self.close()
            raise

    def _join(self) -> None:
        """What is published after this returns is read even where the group starts at the tail: its start is fixed."""
        deadline = time.monotonic() + JOIN_SECONDS
        while not (self._joined or self._early) and time.monotonic() < deadline:
            self._read(1, 0.1)

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while not self._early:
            if self._adrift:
                self._moor()
            left = deadline - time.monotonic()
            self._read(1, max(0.0, left))
            if left <= 0:
                break
        if self._early and len(self._early) < max_events:
            self._read(max_events - len(self._early), 0)  # what has come with it
        messages, self._early = self._early[:max_events], self._early[max_events:]
        for message in messages:
            self._uncommitted[message.partition() or 0] = (message.offset() or 0) + 1
        self._handed_out = messages
        return [message.value() or b"" for message in messages]

    def place(self, index: int) -> str:
        message = self._handed_out[index]
        return f"{message.partition()}/{message.offset()}"

    def has_reached(self, end: Position) -> bool:
        if end.life != self._life:
            raise StreamReplaced.of(self._topic)
        reached = self._joined and all(at >= end.offsets.get(partition, 0) for partition, at in self._positions())
        if not reached:
            self._stay_with_it()
        return reached

    def _positions(self) -> Iterable[tuple[int, int]]:
        """Each partition held, with the offset before which nothing is left to hand out.

        That of the next event, if it is there already, and otherwise how far the client has looked: OFFSET_STORED as
        long as that is unknown.
        """
        positions = {at: max(looked, self._uncommitted.get(at, looked)) for at, looked in self._looked.items()}
        positions |= {message.partition() or 0: message.offset() or 0 for message in reversed(self._early)}
        return positions.items()

    def _stay_with_it(self) -> None:
        """Raises StreamReplaced: the client itself does not notice it as long as its offsets are there."""
        if time.monotonic() - self._identified > IDENTIFY_SECONDS:
            try:
                self._require_life()
            except Unreachable as error:
                log.info("%s", error)

    def _require_life(self) -> None:
        """Raises StreamReplaced, UnknownStream or Unreachable."""
        life, self._identified = self._identify(), time.monotonic()
        if life != self._life:
            raise StreamReplaced.of(self._topic)

    def _read(self, most: int, timeout: float) -> None:
        """Waits up to `timeout` seconds for `most` messages; raises MiddlewareError when this member cannot go on."""
        try:
            messages = self._client.consume(most, timeout)
        except KafkaException as cause:
            raise MiddlewareError(f"reading {self._topic} failed: {cause.args[0].str()}") from cause
        told = [(message, error) for message in messages if (error := message.error())]
        self._early += [message for message in messages if not message.error()] if told else messages
        for message, error in told:
            self._learn(message, error)

    def _learn(self, message: Message, error: KafkaError) -> None:
        """What the client says between the events."""
        if error.code() == KafkaError._PARTITION_EOF:
            self._looked[message.partition() or 0] = message.offset() or 0
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            self._adrift |= {message.partition() or 0} & self._looked.keys()
        elif error.fatal() or error.code() in NO_USE:
            self._require_life()
            raise MiddlewareError(f"reading {self._topic} failed: {error.str()}")
        else:
            log.warning("reading %s: %s", self._topic, error.str())  # the client goes on by itself

    def _moor(self) -> None:
        """Reads on where partitions have no event at the position. Raises Overtaken."""
        self._require_life()
        for partition in sorted(self._adrift):
            self._looked[partition] = self._start(partition)
        self._adrift.clear()
        self._client.assign([TopicPartition(self._topic, *at) for at in self._positions()])

    def _start(self, partition: int) -> int:
        """The head where the group has no position; otherwise its events are gone. Raises Overtaken."""
        at = TopicPartition(self._topic, partition)
        try:
            head, end = self._client.get_watermark_offsets(at, ANSWER_SECONDS)
            position = dict(self._positions())[partition]
            if position == OFFSET_STORED:
                position = self._client.committed([at], ANSWER_SECONDS)[0].offset
        except KafkaException as error:
            raise Unreachable(f"cannot find the first event of {self._topic}: {error.args[0].str()}") from error
        if position > end:
            raise MiddlewareError(
                f"{self._topic}: partition {partition} ends at offset {end}, before the position of {self._group}, "
                f"{position}: the broker lost what it had acknowledged"
            )
        if 0 <= position < head:
            if not self._from_head:
                raise Overtaken.at(self._group, partition, position, head, "events")
            log.warning("%s: offsets %d to %d of partition %d are gone", self._topic, position, head - 1, partition)
            self.passed_over[partition] = head
        return max(head, position)

    def commit(self) -> bool:
        """Where the shares have changed meanwhile it stores nothing: the events come again, here or elsewhere."""
        if not self._uncommitted:
            return True
        deadline = time.monotonic() + COMMIT_SECONDS
        while error := self._commit_error():
            if error.code() in NOT_A_MEMBER and not error.fatal():
                log.info("not committed, as the shares of %s have changed: %s", self._topic, error.str())
                break
            if error.code() not in PASSING or time.monotonic() > deadline:
                raise MiddlewareError(f"committing {self._topic} failed: {error.str()}")
            time.sleep(0.1)
        self._looked = dict(self._positions())
        self._uncommitted.clear()
        return error is None

    def _commit_error(self) -> KafkaError | None:
        offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in self._uncommitted.items()]
        try:
            stored = self._client.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            failure: KafkaError = error.args[0]
            return failure
        return next((at.error for at in stored if at.error), None)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._client.close()

    def _assigned(self, client: confluent_kafka.Consumer, partitions: list[TopicPartition]) -> None:
        """Has the client begin where the group stands. Where that cannot be asked, the client asks by itself."""
        self._joined = True
        self._looked |= {at.partition: OFFSET_STORED for at in partitions}
        try:
            for at in (stands := client.committed(partitions, ANSWER_SECONDS)):
                if at.offset < 0:
                    at.offset, _ = client.get_watermark_offsets(at, ANSWER_SECONDS)
        except KafkaException as error:
            log.info("finding the position of %s: %s", self._group, error.args[0].str())
        else:
            client.assign(stands)
            self._looked |= {at.partition: at.offset for at in stands}

    def _revoked(self, client: confluent_kafka.Consumer, partitions: list[TopicPartition]) -> None:
        """What was not committed of them comes again, so it must not be handed out or committed here any more."""
        self._joined = False
        gone = {at.partition for at in partitions}
        self._early = [message for message in self._early if message.partition() not in gone]
        for partition in gone:
            self._uncommitted.pop(partition, None)
            self._looked.pop(partition, None)
        self._adrift -= gone
