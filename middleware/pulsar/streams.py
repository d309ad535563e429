"""Streams as partitioned topics, and what the broker tells of their partitions.

Stream `tweets-raw` of the namespace `murmur` is the topic `persistent://murmur/murmur/tweets-raw`, whose partitions are
`tweets-raw-partition-0`, … What is ours to know of it stands in the topic's properties:

- `life` tells the stream from a later one of its name;
- `origin.0`, … is the entry with which the partition begins (offsets.py); what has none is no partition of ours yet;
- `cut.0`, … is an offset before which nothing is read any more, for where whole ledgers are too coarse to be removed.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import pulsar

from common.settings import Settings
from middleware.admin import await_done
from middleware.errors import UnknownStream, Unreachable
from middleware.pulsar.connection import TENANT, Connection
from middleware.pulsar.ledgers import Ledgers
from middleware.pulsar.offsets import Origin, Place
from middleware.pulsar.rest import Refused

MIB = 1 << 20
NOT_FOUND, CONFLICT = 404, 409
FOR_EVER = {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}
WITH_PROPERTIES = "application/vnd.partitioned-topic-metadata+json"

BEGIN_SECONDS, PAUSE_SECONDS = 30.0, 0.1
OTHERS_WRITE = (pulsar.ProducerBusy, pulsar.ProducerFenced)


@dataclass(frozen=True)
class Described:
    """A stream by its properties; `cuts` holds those partitions that have one."""

    life: str
    origins: dict[int, Origin]
    cuts: dict[int, int]


class Streams:
    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings, self._connection = settings, connection
        self._rest = connection.rest
        self._measure = lru_cache(maxsize=4096)(self._size)

    def topic(self, stream: str, partition: int) -> str:
        return f"persistent://{TENANT}/{self._settings.namespace}/{stream}-partition-{partition}"

    def describe(self, stream: str) -> Described:
        """Raises UnknownStream or Unreachable."""
        partitions, properties = self._told(stream)
        origins = {n: Origin.of(properties[f"origin.{n}"]) for n in range(partitions) if f"origin.{n}" in properties}
        if "life" not in properties or 0 not in origins:  # the first one comes last
            raise UnknownStream(f"no stream {stream!r} in the namespace {self._settings.namespace!r} on Pulsar at "
                                f"{self._connection.service}: `murmur up` creates the streams")
        return Described(properties["life"], origins,
                         {n: int(properties[f"cut.{n}"]) for n in origins if f"cut.{n}" in properties})

    def ledgers(self, stream: str, partition: int) -> Ledgers:
        return Ledgers.of(self._rest.get(f"{self._path(stream, partition)}/internalStats"))

    def end(self, stream: str, partition: int, described: Described) -> int:
        last = self._rest.get(f"{self._path(stream, partition)}/lastMessageId")
        place = Place(last["ledgerId"], max(0, last["entryId"]), max(0, last["batchIndex"]) + 1)
        return max(described.cuts.get(partition, 0), described.origins[partition].offset(place))

    def head(self, described: Described, partition: int, ledgers: Ledgers) -> int:
        """Offset at which begins what retention has left."""
        return max(described.origins[partition].offset(ledgers.first()), described.cuts.get(partition, 0))

    def bytes_between(self, stream: str, partition: int, first: Place, end: Place) -> int:
        """By the size of ledgers and entries."""
        return self.ledgers(stream, partition).bytes_between(
            first, end, lambda ledger, entry: self._measure(stream, partition, ledger, entry)
        )

    def published_at(self, stream: str, partition: int, place: Place) -> float | None:
        """When an entry was published, in seconds since the epoch; None where it is gone."""
        try:
            headers = self._entry(stream, partition, place.ledger, place.entry)
        except Refused:
            return None
        return datetime.fromisoformat(headers["X-Pulsar-publish-time"]).timestamp()

    def bound(self, partitions: int) -> int:
        """Bytes that each of so many partitions keeps."""
        return max(1, self._settings.stream_retention_bytes // partitions)

    def create(self, stream: str, partitions: int) -> None:
        """Does nothing if it exists. Safe to be killed anywhere and to begin again."""
        try:
            described = self.describe(stream)
        except UnknownStream:
            self.make_namespace(self._settings.namespace)
            self._unless_there(self._path(stream) + "/partitions",
                               {"partitions": partitions, "properties": {"life": uuid.uuid4().hex[:12]}},
                               WITH_PROPERTIES)
            # Where another has made it just now, the broker says that it is there some milliseconds before it shows it.
            await_done(f"Pulsar at {self._rest.uri} to show {stream!r}, which is there as it says,",
                       lambda: self._told(stream)[0] > 0, BEGIN_SECONDS)
            self.bind(stream, partitions)
            self.begin(stream, range(partitions - 1, -1, -1))
        else:
            self.bind(stream, len(described.origins))

    def begin(self, stream: str, partitions: Iterable[int]) -> None:
        """Writes the origin of new partitions. Of those who do it at the same time one writes, and the others wait: an
        origin that came later would hide the events before it."""
        for partition in partitions:
            until = time.monotonic() + BEGIN_SECONDS
            while f"origin.{partition}" not in self._told(stream)[1]:
                try:
                    self._begin(stream, partition)
                except Unreachable as error:
                    if not isinstance(error.__cause__, OTHERS_WRITE) or time.monotonic() > until:
                        raise
                    time.sleep(PAUSE_SECONDS)

    def _begin(self, stream: str, partition: int) -> None:
        """Unless somebody has."""
        producer = self._connection.producer(
            self.topic(stream, partition), batching_enabled=False, access_mode=pulsar.ProducerAccessMode.Exclusive
        )
        try:
            if f"origin.{partition}" not in self._told(stream)[1]:
                with self._connection.raising(f"cannot begin {stream}"):
                    written = producer.send(b"origin")
                self.note(stream, f"origin.{partition}", str(Origin(written.ledger_id(), written.entry_id())))
        finally:
            with suppress(pulsar.PulsarException):
                producer.close()

    def bind(self, stream: str, partitions: int) -> None:
        """Bounds what is kept. What a subscription has not acknowledged is none of ours, and bound as well: to less
        than the retention, which Pulsar asks for. The retention comes last: where it is there, all is."""
        path, bound = self._path(stream), self.bound(partitions)
        kept = {"retentionTimeInMinutes": -1, "retentionSizeInMB": bound // MIB + 1}
        if self._rest.get(f"{path}/retention") != kept:
            self._rest.ask("DELETE", f"{path}/backlogQuota?backlogQuotaType=destination_storage")
            self._rest.ask("POST", f"{path}/backlogQuota?backlogQuotaType=destination_storage",
                           {"limitSize": bound, "policy": "consumer_backlog_eviction"})
            self._rest.ask("POST", f"{path}/retention", kept)

    def add(self, stream: str, partitions: int) -> None:
        """Has the stream go on in so many partitions, more than it had."""
        before = len(self.describe(stream).origins)
        self._rest.ask("POST", f"{self._path(stream)}/partitions", partitions)
        self.bind(stream, partitions)
        self.begin(stream, range(before, partitions))

    def cut(self, stream: str, offsets: Mapping[int, int]) -> None:
        """Has nothing be read that lies before the offsets; what is cut already stays so."""
        cuts = self.describe(stream).cuts
        for partition, offset in offsets.items():
            if offset > cuts.get(partition, 0):
                self.note(stream, f"cut.{partition}", str(offset))

    def delete(self, stream: str) -> None:
        self._rest.ask("DELETE", f"{self._path(stream)}/partitions?force=true")

    def note(self, stream: str, name: str, value: str) -> None:
        """Beside the topic's other properties."""
        self._rest.ask("PUT", f"{self._path(stream)}/properties", {name: value})

    def make_namespace(self, name: str, kept: Mapping[str, int] = FOR_EVER) -> None:
        """`kept`: of topics that say no more. Does nothing if there is one.

        What a producer sends again, since its acknowledgement was lost, the broker knows by name and sequence id.
        """
        if TENANT not in self._rest.get("tenants"):
            self._unless_there(f"tenants/{TENANT}", {"allowedClusters": self._rest.get("clusters")})
        if f"{TENANT}/{name}" not in self._rest.get(f"namespaces/{TENANT}"):
            self._unless_there(f"namespaces/{TENANT}/{quote(name, '')}",
                               {"bundles": {"numBundles": 1}, "retention_policies": kept,
                                "deduplicationEnabled": True})

    def _told(self, stream: str) -> tuple[int, Mapping[str, str]]:
        """Number of partitions and properties; of a topic that is not there none."""
        try:
            found = self._rest.get(f"{self._path(stream)}/partitions")
        except Refused as error:
            if error.status != NOT_FOUND:
                raise
            found = {}
        return found.get("partitions", 0), found.get("properties") or {}

    def _unless_there(self, path: str, content: Any, kind: str = "application/json") -> None:
        """The broker notes it in its log, with much else, where it is there already."""
        try:
            self._rest.ask("PUT", path, content, kind)
        except Refused as error:
            if error.status != CONFLICT:
                raise

    def _size(self, stream: str, partition: int, ledger: int, entry: int) -> int:
        """Bytes of an entry; 0 for one that is gone. Most are of many events, and tell it themselves."""
        try:
            headers = self._entry(stream, partition, ledger, entry)
        except Refused:
            return 0
        return int(headers.get("X-Pulsar-batch-size", headers.get("Content-Length", 0)))

    def _entry(self, stream: str, partition: int, ledger: int, entry: int) -> dict[str, str]:
        return dict(self._rest.ask("HEAD", f"{self._path(stream, partition)}/ledger/{ledger}/entry/{entry}").headers)

    def _path(self, stream: str, partition: int | None = None) -> str:
        name = stream if partition is None else f"{stream}-partition-{partition}"
        return f"persistent/{TENANT}/{quote(self._settings.namespace, '')}/{quote(name, '')}"
