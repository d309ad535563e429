"""Reads what the stream store tells: where streams end, where their readers stand, and what was rejected."""

from __future__ import annotations

import base64
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from msgspec import Struct
from msgspec.json import Decoder

from audit.consumer_groups import own_group
from audit.live.ledger import Rejected, Streams
from audit.live.numbers import Numbers
from audit.live.rounds import Positions
from common.settings import Settings
from common.tweets import BUCKET_SECONDS, REFUSALS, REJECTED, Reader, RejectedEvent, rejected_event
from middleware.data import Consumer, Position
from middleware.driver import Middleware
from middleware.readers import READERS, StreamReader
from middleware.registry import connect

POLL_EVENTS, POLL_S = 10_000, 0.1
READ_S = 2.0
"""For so long at once what was rejected is read, mostly what came since the last time."""


class Ranked(Struct):
    """Of a parked event, what says which bucket it belongs into."""

    created_at: str


ranked = Decoder(Ranked).decode


class Rejections:
    """What was read of `tweets-rejected`: each event once, however often it is there."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, Numbers] = defaultdict(Numbers)
        self._parked_at: set[tuple[Reader, str]] = set()
        self._parked: defaultdict[Reader, Counter[int | None]] = defaultdict(Counter)

    def add(self, events: Iterable[bytes]) -> None:
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for event in _readable(events):
            if event.position and (at := (event.stage, event.position)) not in self._parked_at:
                self._parked_at.add(at)
                self._parked[event.stage][bucket_start(event)] += 1
            if event.ingest and event.stage in ("enrich", "search-consumer"):
                numbers[event.ingest.run].append(event.ingest.seq)
        for run, seqs in numbers.items():
            self._numbers[run].add(seqs)

    def told(self, complete: bool) -> Rejected:
        unstored, unranked = self._parked["search-consumer"], self._parked["trending"]
        return Rejected(dict(self._numbers), Counter(unstored), Counter(unranked), complete)


def bucket_start(event: RejectedEvent) -> int | None:
    """Of the bucket into which a parked event belongs; None if it does not say so."""
    try:
        created = datetime.fromisoformat(ranked(base64.b64decode(event.event)).created_at)
    except REFUSALS:
        return None
    return int(created.timestamp()) // BUCKET_SECONDS * BUCKET_SECONDS


def _readable(events: Iterable[bytes]) -> Iterator[RejectedEvent]:
    for event in events:
        try:
            yield rejected_event(event)
        except REFUSALS:  # somebody else wrote it
            continue


class StreamsReader:
    """For one thread."""

    def __init__(self, middleware: Middleware, rejected: Consumer, readers: Sequence[StreamReader]) -> None:
        self._middleware, self._consumer, self._readers = middleware, rejected, readers
        self._rejections = Rejections()
        self._complete = not middleware.data.head(REJECTED).is_cut()

    def read(self) -> Streams:
        """What was rejected comes last: by then whoever stands somewhere has rejected what there was before. As long as
        there is more of it than can be read meanwhile, it is unknown."""
        ends = {stream: self._middleware.data.end(stream) for stream in {reader.stream for reader in self._readers}}
        stands = {reader.name: self._stands(reader) for reader in self._readers}
        is_read = self._read_rejected()
        complete = self._complete and not self._consumer.passed_over
        return Streams(Positions(ends, stands), self._rejections.told(complete) if is_read else None)

    def _stands(self, reader: StreamReader) -> Position:
        """One that has committed nothing begins at the head."""
        return reader.position(self._middleware) or self._middleware.data.head(reader.stream)

    def _read_rejected(self) -> bool:
        """Whether to its end. It polls in any case, to remain a member."""
        end, until = self._middleware.data.end(REJECTED), time.monotonic() + READ_S
        while True:
            self._rejections.add(self._consumer.poll(POLL_EVENTS, POLL_S))
            if self._consumer.has_reached(end):
                return True
            if time.monotonic() > until:
                return False


@contextmanager
def streams(settings: Settings) -> Iterator[Callable[[], Streams]]:
    with (
        connect(settings) as middleware, own_group(middleware) as group,
        middleware.data.consumer(REJECTED, group, start="head") as consumer,
    ):
        yield StreamsReader(middleware, consumer, READERS).read
