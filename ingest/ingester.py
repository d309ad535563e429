"""Drives a source on its schedule: takes what is due every `publish_group_ms` and hands it to a publishing thread."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from common.settings import Settings
from ingest.pacer import Pacer
from ingest.publisher import Publisher
from ingest.punctuality import Punctuality, held_us
from ingest.source import Payload, Source

GROUP_EVENTS = 4096
QUEUED_GROUPS = 4
"""Groups that wait for the publisher before generating waits too; the schedule goes on meanwhile."""

Group = tuple[list[int], list[Payload]]


@dataclass(frozen=True)
class Progress:
    """`behind_s`: how long ago the next event to take was due; `sending`: whether the middleware is taking events."""

    taken: int
    acknowledged: int
    refused: int
    behind_s: float
    sending: bool


class Ingester:
    """One run, or the rest of it.

    `limit`, the number of events of the run at which it ends, may be changed from the `report` callback.
    """

    def __init__(
        self, settings: Settings, source: Source, publisher: Publisher, rate: float | None, start_us: int | None = None
    ) -> None:
        """`start_us`: when the schedule begins, µs since the epoch (default: now)."""
        self._source = source
        self._publisher = publisher
        self.pacer = Pacer(rate, start_us or time.time_ns() // 1000)
        self.punctuality = Punctuality()
        self.limit: int | None = None
        self._clock = _Clock()
        self._group_s = settings.publish_group_ms / 1000
        self._groups: queue.Queue[Group | None] = queue.Queue(QUEUED_GROUPS)
        self._failure: BaseException | None = None
        self._taken = publisher.total

    def run(self, limit: int | None, stop: threading.Event, report: Callable[[Progress], None]) -> None:
        """Returns when the source has ended, `limit` events of the run are taken or `stop` is set, and all is flushed.

        Raises what the source or the publisher raised; what was taken is then in the archive.
        """
        self.limit = limit
        publishing = threading.Thread(target=self._publish, name="publish")
        publishing.start()
        try:
            while not (stop.is_set() or self._failure or self._source.ended or self._is_complete()):
                began = time.monotonic()
                full = self._take()
                report(self.progress())
                if not (full or self._is_complete()):
                    self._pause(stop, began + self._group_s - time.monotonic())
        finally:
            self._put(None)
            publishing.join()
        report(self.progress())
        if self._failure:
            raise self._failure

    def progress(self) -> Progress:
        behind = self.pacer.behind_us(time.time_ns() // 1000) / 1e6
        by = self._publisher
        return Progress(self._taken, by.acknowledged, by.refused, behind, by.sending)

    def _is_complete(self) -> bool:
        return self.limit is not None and self._taken >= self.limit

    def _pause(self, stop: threading.Event, seconds: float) -> None:
        """Until the next group; a pause that becomes longer than wanted is not what the generator wanted."""
        if seconds > 0:
            began = time.monotonic()
            stop.wait(seconds)
            self._clock.slept_us += int(min(seconds, time.monotonic() - began) * 1e6)

    def _take(self) -> bool:
        """Takes one group of what is due; whether it is full, so that more may be due already."""
        at_most = GROUP_EVENTS if self.limit is None else min(GROUP_EVENTS, self.limit - self._taken)
        now_us = time.time_ns() // 1000
        due = self.pacer.due(now_us, at_most)
        held = self._clock.held_us(self._publisher.sending_us)
        payloads = self._source.take(due) if due else []
        self.punctuality.took(due[:len(payloads)], now_us, held)
        if payloads:
            self.pacer.took(len(payloads))
            self._taken += len(payloads)
            self._put((due[:len(payloads)], payloads))
        return len(payloads) == GROUP_EVENTS

    def _put(self, group: Group | None) -> None:
        while not self._failure:
            try:
                self._groups.put(group, timeout=0.2)
                return
            except queue.Full:
                continue

    def _publish(self) -> None:
        try:
            while group := self._groups.get():
                self._publisher.publish(*group)
        except BaseException as failure:
            self._failure = failure


class _Clock:
    """What the thread that takes events did since it was last asked."""

    def __init__(self) -> None:
        self.slept_us = 0
        self._before = (0, 0, 0)

    def held_us(self, sending_us: int) -> int:
        """`sending_us`: for how long, all told, the publisher has been in `send`."""
        now = (time.monotonic_ns() // 1000, time.thread_time_ns() // 1000, sending_us)
        wall, cpu, sending = (after - before for after, before in zip(now, self._before, strict=True))
        first, slept, self._before, self.slept_us = self._before == (0, 0, 0), self.slept_us, now, 0
        return 0 if first else held_us(wall, cpu, slept, sending)
