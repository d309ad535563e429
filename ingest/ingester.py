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
from ingest.source import Payload, Source

GROUP_EVENTS = 4096
QUEUED_GROUPS = 4
"""Groups that wait for the publisher before generating waits too; the schedule goes on meanwhile."""

Group = tuple[list[int], list[Payload]]


@dataclass(frozen=True)
class Progress:
    """`behind_s`: how long ago the next event to take was due."""

    taken: int
    acknowledged: int
    refused: int
    behind_s: float


class Ingester:
    """One run, or the rest of it."""

    def __init__(self, settings: Settings, source: Source, publisher: Publisher, rate: float | None) -> None:
        self._source = source
        self._publisher = publisher
        self._pacer = Pacer(rate, time.time_ns() // 1000)
        self._group_s = settings.publish_group_ms / 1000
        self._groups: queue.Queue[Group | None] = queue.Queue(QUEUED_GROUPS)
        self._failure: BaseException | None = None
        self._taken = publisher.total

    def run(self, limit: int | None, stop: threading.Event, report: Callable[[Progress], None]) -> None:
        """Returns when the source has ended, `limit` events of the run are taken or `stop` is set, and all is flushed.

        Raises what the source or the publisher raised; what was taken is then in the archive.
        """
        publishing = threading.Thread(target=self._publish, name="publish")
        publishing.start()
        try:
            while not (stop.is_set() or self._failure or self._source.ended or self._taken == limit):
                began = time.monotonic()
                full = self._take(limit)
                report(self.progress())
                if not full:
                    stop.wait(max(0.0, began + self._group_s - time.monotonic()))
        finally:
            self._put(None)
            publishing.join()
        report(self.progress())
        if self._failure:
            raise self._failure

    def progress(self) -> Progress:
        behind = self._pacer.behind_us(time.time_ns() // 1000) / 1e6
        return Progress(self._taken, self._publisher.acknowledged, self._publisher.refused, behind)

    def _take(self, limit: int | None) -> bool:
        """Takes one group of what is due; whether it is full, so that more may be due already."""
        at_most = GROUP_EVENTS if limit is None else min(GROUP_EVENTS, limit - self._taken)
        due = self._pacer.due(time.time_ns() // 1000, at_most)
        payloads = self._source.take(due) if due else []
        if payloads:
            self._pacer.took(len(payloads))
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
