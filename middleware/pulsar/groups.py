"""The records of consumer groups. Each is a topic of its own, to which whoever changes the record appends a version.

Pulsar has no compare and set, but all readers of a topic see the same order: of those who append version n + 1 having
read version n the first one has changed the record, and the others have not. Where a reader begins in the midst of the
topic, the highest version that it sees counts: whoever was too late has appended one that was there already.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

import pulsar

from middleware.admin import change
from middleware.errors import UnknownStream, Unreachable
from middleware.pulsar.connection import TENANT, Connection
from middleware.pulsar.ledgers import Ledgers
from middleware.pulsar.rest import ANSWER_SECONDS, Refused
from middleware.pulsar.streams import CONFLICT, NOT_FOUND, Streams

KEPT = {"retentionTimeInMinutes": -1, "retentionSizeInMB": 1}
SEEN = 64
"""Versions, the last ones, that are read where nothing is known: more than come too late one after the other."""

FOLLOWED = 16
"""Records that were looked at last, each of which has a reader."""

MAKE_SECONDS = 5.0
"""How long a broker is asked that has no bookie now; whoever needs the group asks again, too."""

VERSION, WRITER = "version", "writer"


class Groups:
    def __init__(self, connection: Connection, streams: Streams) -> None:
        self._connection, self._streams = connection, streams
        self._namespace = f"{connection.namespace}.groups"
        self._looking = threading.Lock()
        self._looked_at: dict[tuple[str, str], GroupRecord] = {}

    def record(self, life: str, group: str) -> GroupRecord:
        """Of a group of the stream that has this life."""
        return GroupRecord(self._connection, self._topic(life, group))

    def look(self, life: str, group: str) -> bytes | None:
        """The group's record; None if there is no such group. Whoever looks again follows it, which costs little."""
        with self._looking:
            record = self._looked_at.pop((life, group), None) or self.record(life, group)
            try:
                content = record.read()
            except Unreachable:  # as where the group was removed
                content = record.read()
            if content is not None:
                self._looked_at[life, group] = record
                while len(self._looked_at) > FOLLOWED:
                    self._looked_at.pop(next(iter(self._looked_at))).close()
            return content

    def make(self, life: str, group: str, content: bytes) -> None:
        """Of two members that make it, the first one does. Raises MiddlewareError."""
        change(lambda: self._make(life, group, content), MAKE_SECONDS)

    def _make(self, life: str, group: str, content: bytes) -> None:
        self._streams.make_namespace(self._namespace, KEPT)
        try:
            self._connection.rest.ask("PUT", path(self._topic(life, group)))
        except Refused as error:
            if error.status != CONFLICT:
                raise
        record = self.record(life, group)
        try:
            if record.read() is None:
                record.replace(content)
        finally:
            record.close()

    def forget(self, life: str, group: str) -> None:
        """Does nothing if there is none."""
        with self._looking:
            if record := self._looked_at.pop((life, group), None):
                record.close()
        try:
            self._connection.rest.ask("DELETE", path(self._topic(life, group)) + "?force=true")
        except Refused as error:
            if error.status != NOT_FOUND:
                raise

    def _topic(self, life: str, group: str) -> str:
        return f"persistent://{TENANT}/{self._namespace}/{life}.{quote(group, '')}"


class GroupRecord:
    """As a `membership.Record`. To be closed, or else its reader stays at the broker as long as the client does."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self._connection, self._topic = connection, topic
        self._reader: pulsar.Reader | None = None
        self._producer: pulsar.Producer | None = None
        self._version, self._content, self._writer = 0, b"", ""
        self._seen = (-1, -1)  # ledger and entry
        self._known = (0, "")  # version and writer of what was read or written last
        self._is_doubtful = self._closed = False

    def read(self) -> bytes | None:
        """None also for a group that is being made."""
        found = self._follow()
        if found and self._is_doubtful:
            self._leave_off()
            found = self._follow()
            self._is_doubtful = False
        self._known = (self._version, self._writer) if found else (0, "")
        return self._content or None if found else None

    def replace(self, content: bytes) -> bool:
        if self._reader is None:
            self._follow()
        if (self._version, self._writer) != self._known:
            return False
        version, writer = self._version + 1, uuid.uuid4().hex
        with self._leaving_off(f"cannot change {self._topic}"):
            reader = self._reader
            self._producer = producer = self._producer or self._connection.client().create_producer(
                self._topic, batching_enabled=False, send_timeout_millis=round(ANSWER_SECONDS * 1000),
            )
            own = producer.send(content, {VERSION: str(version), WRITER: writer})
            while reader and self._seen < (own.ledger_id(), own.entry_id()):
                self._learn(reader.read_next(round(ANSWER_SECONDS * 1000)))
        if self._writer != writer:
            return False
        self._known = (version, writer)
        return True

    def close(self) -> None:
        """For good, so that a thread that is just at it opens nothing any more."""
        self._closed = True
        self._leave_off()

    def _follow(self) -> bool:
        """Learns all that there is; false where there is no such topic. Raises Unreachable or UnknownStream."""
        if self._reader is None and not self._open():
            return False
        with self._leaving_off(f"cannot read {self._topic}"):
            reader = self._reader
            while reader and reader.has_message_available():
                self._learn(reader.read_next(round(ANSWER_SECONDS * 1000)))
        return True

    def _open(self) -> bool:
        """Whether there is such a topic. Raises Unreachable."""
        if self._closed:
            raise Unreachable(f"{self._topic} is not read any more")
        try:
            found = Ledgers.of(self._connection.rest.get(path(self._topic) + "/internalStats"))
            self._reader = self._connection.reader(self._topic, found.last(SEEN))
        except Refused as error:
            if error.status != NOT_FOUND:
                raise
            return False
        except UnknownStream:
            return False
        self._version, self._content, self._writer, self._seen = 0, b"", "", (-1, -1)
        return True

    @contextmanager
    def _leaving_off(self, what: str) -> Iterator[None]:
        """Where the client fails: another one finds out whether there still is such a topic."""
        try:
            with self._connection.raising(what):
                yield
        except (Unreachable, UnknownStream):
            self._leave_off()
            raise

    def _leave_off(self) -> None:
        opened, self._reader, self._producer = (self._reader, self._producer), None, None
        for one in opened:
            with suppress(pulsar.PulsarException):
                if one is not None:
                    one.close()

    def _learn(self, message: pulsar.Message) -> None:
        """Versions begin anew where the group was removed and made again, with the topic: a reader goes on in that. A
        first version that comes behind another is of such a one, or of whoever made the group too late: it is read
        again from the broker's view."""
        at, told = message.message_id(), message.properties()
        self._seen = max(self._seen, (at.ledger_id(), at.entry_id()))
        version = int(told[VERSION])
        if version > self._version:
            self._version, self._content, self._writer = version, message.data(), told[WRITER]
        elif version == 1 and told[WRITER] != self._writer:
            self._is_doubtful = True


def path(topic: str) -> str:
    """Of its administration."""
    *_, tenant, namespace, name = topic.split("/")
    return f"persistent/{tenant}/{namespace}/{quote(name, '')}"
