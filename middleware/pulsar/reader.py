"""Reads a partition of Pulsar from an offset on, and knows what may lie between two of its events."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import NamedTuple

import pulsar

from middleware.errors import MiddlewareError
from middleware.pulsar.connection import Connection
from middleware.pulsar.ledgers import Ledgers
from middleware.pulsar.offsets import Origin, Place

log = logging.getLogger(__name__)


class Come(NamedTuple):
    """An event that was fetched, and its offset."""

    offset: int
    event: bytes


class PartitionReader:
    """`at` is the offset behind the last event that was taken. Where there is no connection nothing comes: the client
    looks for the broker by itself."""

    def __init__(self, connection: Connection, topic: str, origin: Origin, at: int) -> None:
        self._connection, self._topic, self._origin = connection, topic, origin
        self._reader: pulsar.Reader | None = None
        self._known = Ledgers(())
        self._coming: Come | None = None
        self._accepted = -1  # offset of an event before which nothing is missing
        self.open(at)

    def open(self, at: int) -> None:
        """Reads on from another offset. Opened as soon as the broker is there."""
        self.close()
        self.at, self._coming, self._accepted = at, None, -1

    def coming(self) -> Come | None:
        """The next event, if one has come; it stays until it is taken."""
        return self._coming or self._fetch(0)

    def wait(self, seconds: float) -> bool:
        """Whether an event has come within so many seconds."""
        return (self._coming or self._fetch(max(1, round(seconds * 1000)))) is not None

    def follows(self, come: Come) -> bool:
        """Whether nothing can be missing before the event."""
        return come.offset in (self.at, self._accepted) or self._origin.place(self.at).is_followed_by(
            self._origin.place(come.offset)
        )

    def take(self) -> bytes:
        come, self._coming = self._coming, None
        assert come
        self.at = come.offset + 1
        return come.event

    def misses(self, found: Ledgers, head: int, offset: int) -> bool:
        """Whether events lie between `at` and an event, by the ledgers that there are and those that there were."""
        at, end = self._origin.place(self.at), self._origin.place(offset)
        if self.at < head and not (self._known.is_complete(at) and self._known.lists(found.first())):
            self._known = found
            return True
        known = self._known if self.at < head else found
        return known.entries_between(at, end) > 0

    def accept(self, found: Ledgers) -> None:
        """The event that is coming: it is the next one."""
        self._known = found
        self._accepted = self._coming.offset if self._coming else -1

    def told_missing(self, head: int) -> str:
        """How many published groups lie between `at` and the head, as far as it can be known."""
        at, end = self._origin.place(self.at), self._origin.place(head)
        entries = self._known.entries_between(at, end)
        known = any(ledger.number == at.ledger for ledger in self._known.listed)
        return f"{'' if known else 'at least '}{max(1, entries)}"

    def close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with suppress(pulsar.PulsarException):
                reader.close()

    def _fetch(self, wait_ms: int) -> Come | None:
        """The next event from `at` on, within so many ms. After a new connection some come again."""
        while True:
            try:
                if self._reader is None:
                    self._reader = self._connection.reader(self._topic, self._origin.place(self.at))
                message = self._reader.read_next(wait_ms)
            except pulsar.Timeout:
                return None
            except (pulsar.PulsarException, MiddlewareError) as error:
                log.info("%s: %s; opening it again", self._topic, error)
                self.close()
                return None
            at = message.message_id()
            offset = self._origin.offset(Place(at.ledger_id(), at.entry_id(), max(0, at.batch_index())))
            if offset >= self.at and (at.ledger_id(), at.entry_id()) != self._origin:
                self._coming = Come(offset, message.data())
                return self._coming
