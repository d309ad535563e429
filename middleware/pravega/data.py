"""Pravega's data plane, of producers, consumers and the bounds of streams."""

from __future__ import annotations

from functools import partial
from typing import Any

from common.settings import Settings
from middleware.data import Consumer, DataPlane, Position, Producer, Start
from middleware.errors import MiddlewareError, Unreachable
from middleware.group import Group
from middleware.membership import Membership
from middleware.pravega.connection import Connection
from middleware.pravega.consumer import PravegaConsumer, life
from middleware.pravega.jvm import pairs, raising
from middleware.pravega.producer import MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES, PravegaProducer

EPOCH_BITS = 32
"""The lower bits of a segment's id number it; those above count how often its stream had been scaled when it began."""


class PravegaData(DataPlane):
    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection

    def producer(self, stream: str) -> Producer:
        self._connection.require(stream)
        return PravegaProducer(lambda: self._writer(stream), self._settings, stream)

    def consumer(self, stream: str, group: str, member: str = "", start: Start = "committed") -> Consumer:
        """`start` other than committed moves the whole group, so only its first member may ask for it."""
        self._connection.require(stream)
        if start != "committed":
            self._connection.forget_group(stream, group)
        with raising(Unreachable, f"cannot join the group {group} of {stream}"):
            connection = self._connection.client()
            made = self._connection.record(stream, group)
            if made.read() is None:
                first = connection.tail(stream) if start == "tail" else connection.head(stream)
                made.replace(Group(pairs(first)).to_bytes())  # of two members that make it, the first one does
            return PravegaConsumer(
                connection.reader(stream), Membership(partial(self._connection.record, stream, group), stream, member),
                lambda: self._connection.first_offsets(stream), stream, group, from_head=start == "head",
            )

    def head(self, stream: str) -> Position:
        self._connection.require(stream)
        offsets = self._connection.first_offsets(stream)
        return Position(stream, life(offsets), offsets)

    def end(self, stream: str) -> Position:
        """Raises MiddlewareError for a stream that was scaled: consumers read the segments that it was made with."""
        self._connection.require(stream)
        with raising(Unreachable, f"cannot find the end of {stream}"):
            offsets = pairs(self._connection.client().tail(stream))
        if any(segment >> EPOCH_BITS for segment in offsets):
            raise MiddlewareError(f"the stream {stream} was scaled, which its consumers cannot follow: make it anew")
        return Position(stream, life(offsets), offsets)

    def _writer(self, stream: str) -> Any:
        with raising(Unreachable, f"cannot write to {stream}"):
            return self._connection.client().writer(stream, MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES)
