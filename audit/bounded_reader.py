"""Reads one stream to ends that were fixed before, and knows where retention has cut it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from audit.consumer_groups import own_group
from common.tweets import STREAMS
from middleware.data import Consumer, DataPlane, Position, Start
from middleware.driver import Middleware
from middleware.errors import Overtaken

POLL_EVENTS, POLL_S = 10_000, 0.1


class TooLate(Exception):
    """The deadline passed before everything was read, so that nothing can be judged."""


@dataclass
class Cut:
    """Retention removed what was before this place of a partition; `since_us` is of the first event behind it."""

    number: int
    since_us: int | None = None


Take = Callable[[list[bytes], list[int]], None]
"""Is given events, and the partition of each."""


class BoundedReader:
    """Hands out every event once, up to an end; for a group of its own, which commits nothing."""

    def __init__(self, data: DataPlane, stream: str, group: str, start: Start) -> None:
        self.stream = stream
        self.cuts: dict[int, Cut] = {}
        """By partition, the last cut of each that was cut before everything of it was read."""

        self._data, self._group = data, group
        self._begins = {} if start == "head" else data.end(stream).offsets
        """By partition, the offset before which nothing is asked for."""

        self._sighted: set[int] = set(self._begins)
        """Partitions that are known to begin where they should."""

        self._gone: dict[int, int] = {}
        """By partition, the offset at which retention has it go on, until an event from there on came."""

        self._last: dict[int, int] = {}
        """By partition, the offset of the last event taken."""

        self._consumer: Consumer = data.consumer(stream, group, start=start)

    def end(self) -> Position:
        """Where the stream ends now."""
        return self._data.end(self.stream)

    def read_to(self, end: Position, take: Take, until: float) -> None:
        """Returns when everything before `end` was taken; raises TooLate at `until`, in monotonic seconds."""
        while not self._consumer.has_reached(end):
            if time.monotonic() > until:
                raise TooLate(f"{self.stream} could not be read to its end in time")
            try:
                events = self._consumer.poll(POLL_EVENTS, POLL_S)
                places = [self._consumer.place(index).partition("/") for index in range(len(events))]
            except Overtaken:
                self._reopen()
                continue
            self._gone |= self._faster(self._consumer.passed_over)
            self._hand_out(events, [(int(partition), int(offset)) for partition, _, offset in places], take)

    def close(self) -> None:
        self._consumer.close()

    def _reopen(self) -> None:
        """Goes on at the head, from which on everything is still there."""
        self._consumer.close()
        self._consumer = self._data.consumer(self.stream, self._group, start="head")
        self._sighted.update(self._last)
        self._gone |= self._faster(self._data.head(self.stream).offsets)

    def _faster(self, heads: Mapping[int, int]) -> dict[int, int]:
        """Those of the offsets before which something was not taken."""
        return {partition: head for partition, head in heads.items()
                if head > max(self._last.get(partition, -1) + 1, self._begins.get(partition, 0))}

    def _hand_out(self, events: list[bytes], places: list[tuple[int, int]], take: Take) -> None:
        """Passes over what was taken before the stream was opened again."""
        fresh, partitions = [], []
        for event, (partition, offset) in zip(events, places, strict=True):
            if offset < self._begins.get(partition, 0) or offset <= self._last.get(partition, -1):
                continue
            if self._is_cut(partition, offset):
                self.cuts[partition] = Cut(self.cuts[partition].number + 1 if partition in self.cuts else 1)
            self._last[partition] = offset
            fresh.append(event)
            partitions.append(partition)
        if fresh:
            take(fresh, partitions)

    def _is_cut(self, partition: int, offset: int) -> bool:
        """Whether this event, the next of its partition, is the first behind a cut."""
        first = partition not in self._sighted
        self._sighted.add(partition)
        if offset >= self._gone.get(partition, offset + 1):
            del self._gone[partition]
            return True
        return first and offset > 0


def latest(cuts: Iterable[Cut]) -> float:
    """When the first event behind the last cut was sent, in seconds since the epoch; -∞ if nothing was cut."""
    return max((cut.since_us / 1e6 for cut in cuts if cut.since_us is not None), default=float("-inf"))


def reading(stack: ExitStack, middleware: Middleware, start: Start) -> dict[str, BoundedReader]:
    """A reader of each stream, closed with the stack."""
    group, readers = stack.enter_context(own_group(middleware)), {}
    for stream in STREAMS:
        readers[stream] = BoundedReader(middleware.data, stream, group, start)
        stack.callback(readers[stream].close)
    return readers
