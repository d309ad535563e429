"""Drives a source on its schedule: takes what is due every `publish_group_ms` and hands it to a publishing thread."""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from common.settings import Settings
from common.storage.disk import DiskFull
from ingest.pacer import Pacer
from ingest.publisher import RESUMABLE, Publisher, Stranded
from ingest.punctuality import Punctuality, held_us
from ingest.sources.base import Payload, Source

GROUP_EVENTS = 4096
QUEUED_GROUPS = 4
"""Groups that wait for the publisher before generating waits too; the schedule goes on meanwhile."""

FULL_SECONDS = 2.0
"""How often it is looked whether a full disk has room again."""

Group = tuple[list[int], list[Payload]]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """`behind_s`: how long ago the next event to take was due; `sending`: whether the middleware is taking events;
    `left_out`: what came and is no payload, by the reason why."""

    taken: int
    acknowledged: int
    refused: int
    behind_s: float
    sending: bool
    left_out: Mapping[str, int]


class Ingester:
    """One run, or the rest of it.

    `limit`, the number of events of the run at which it ends, may be changed from the `report` callback.
    """

    def __init__(
        self, settings: Settings, source: Source, publisher: Publisher, rate: float | None, start_us: int | None = None,
        grace_s: float = math.inf,
    ) -> None:
        """`start_us`: when the schedule begins, µs since the epoch (default: now).

        `grace_s`: how long, once it is to stop, it waits for what was taken to be acknowledged.
        """
        self._source = source
        self._publisher = publisher
        self.pacer = Pacer(rate, start_us or time.time_ns() // 1000)
        self.punctuality = Punctuality()
        self.limit: int | None = None
        self._clock = _Clock()
        self._group_s = settings.publish_group_ms / 1000
        self._grace_s = grace_s
        self._groups: queue.Queue[Group | None] = queue.Queue(QUEUED_GROUPS)
        self._left: list[Group] = []
        """Groups that were taken, and for which the queue had no room before it was to stop."""

        self._refused: Group | None = None
        """The group for which the disk had no room."""

        self._given_up = False
        """What the publisher takes from now on it archives only: what was taken before may lie behind it."""

        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._taken = publisher.total

    def run(self, limit: int | None, stop: threading.Event, report: Callable[[Progress], None]) -> None:
        """Returns when the source has ended, `limit` events of the run are taken or `stop` is set, and all is flushed.

        Raises what the source or the publisher raised, and Stranded when `grace_s` was too short; what was taken or
        received is then in the archive, unless the disk is full.
        """
        self.limit, self._stop = limit, stop
        publishing = threading.Thread(target=self._publish, name="publish", daemon=True)
        publishing.start()
        try:
            while not (stop.is_set() or self._failure or self._source.ended or self._is_complete()):
                began = time.monotonic()
                full = self._take()
                self._publisher.tell(self._source.problem())
                report(self.progress())
                if not (full or self._is_complete()):
                    self._pause(stop, began + self._group_s - time.monotonic())
        finally:
            self._finish(publishing)
        report(self.progress())
        if self._failure:
            raise self._failure

    def progress(self) -> Progress:
        behind = self.pacer.behind_us(time.time_ns() // 1000) / 1e6
        by = self._publisher
        return Progress(self._taken, by.acknowledged, by.refused, behind, by.sending, self._source.left_out())

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

    def _put(self, group: Group) -> None:
        while not (self._failure or self._stop.is_set()):
            try:
                self._groups.put(group, timeout=0.2)
                return
            except queue.Full:
                continue
        self._left.append(group)

    def _finish(self, publishing: threading.Thread) -> None:
        """Lets the publisher come to its end; archives what it then has not taken."""
        if self._stop.is_set() or self._failure:
            self._take_the_rest()
        waiting: list[Group | None] = [*self._left, None]
        ends = math.inf
        while publishing.is_alive() and time.monotonic() < ends:
            if self._stop.is_set():
                ends = min(ends, time.monotonic() + self._grace_s)
            try:
                if waiting:
                    self._groups.put(waiting[0], timeout=0.1)
                    del waiting[0]
                else:
                    publishing.join(0.1)
            except queue.Full:
                continue
        if publishing.is_alive():
            self._given_up = True
            self._failure = Stranded(f"the middleware has not taken everything yet; {RESUMABLE}")
        if self._failure:
            self._keep([*self._unpublished(), *(group for group in waiting if group)])

    def _take_the_rest(self) -> None:
        rest = self._source.rest()
        self._taken += len(rest)
        for first in range(0, len(rest), GROUP_EVENTS):
            group = rest[first:first + GROUP_EVENTS]
            self._left.append(([time.time_ns() // 1000] * len(group), group))

    def _unpublished(self) -> list[Group]:
        groups = [self._refused] if self._refused else []
        while True:
            try:
                if group := self._groups.get_nowait():
                    groups.append(group)
            except queue.Empty:
                return groups

    def _keep(self, groups: list[Group]) -> None:
        """Archives what will be published when the run is resumed."""
        for done, group in enumerate(groups):
            try:
                self._publisher.keep(*group)
            except DiskFull as error:
                lost = sum(len(payloads) for _, payloads in groups[done:])
                self._taken -= lost
                log.warning("%s: %d tweets that were taken do not belong to the run", error, lost)
                return

    def _publish(self) -> None:
        try:
            while group := self._groups.get():
                self._publish_group(group)
        except BaseException as failure:
            self._failure = failure

    def _publish_group(self, group: Group) -> None:
        """Waits for room on the disk, if need be."""
        waited = False
        while True:
            try:
                entries = self._publisher.keep(*group)
            except DiskFull as error:
                if self._stop.is_set():
                    self._refused = group
                    raise
                if not waited:
                    log.warning("%s; the source waits for room", error)
                waited = True
                self._stop.wait(FULL_SECONDS)
                continue
            if waited:
                log.info("there is room on the disk again; the source goes on")
            if not self._given_up:
                self._publisher.republish(entries, entries[-1].seq + 1)
            return


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
