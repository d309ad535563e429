"""Archive first, then publish, then say so: what every payload goes through, in groups.

A group is synced to the archive, sent, flushed and only then acknowledged in the manifest. If the middleware fails, the
group is sent again, but for what is found in the stream; what can still come twice is an event that the server takes
after it was looked for, which the read-back makes improbable and *trending* and the database drop.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from common.closing import Closing
from common.settings import Settings
from common.slowdown import delay_us, slow_down
from common.storage.disk import DiskFull
from common.telemetry.reports import StageTelemetry
from common.tweets import RAW, STAGES
from ingest.archive.writing import Archive
from ingest.manifest import ManifestWriter
from ingest.readback import Mark, published
from ingest.sources.base import KINDS, Payload
from ingest.stamp import Archived, Stamper
from middleware.data import Producer
from middleware.driver import Middleware
from middleware.errors import MiddlewareError

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 300.0
"""How long a middleware may stay away before a run ends."""

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 10.0

RESUMABLE = "nothing that was archived is lost: `murmur ingest --resume` publishes it once the middleware is back"


class Stranded(Exception):
    """The middleware stayed away; the run can be resumed."""


class Publisher(Closing):
    """Publishes one run; for one thread, but for `keep` and the properties. Closing it closes the manifest."""

    def __init__(
        self, settings: Settings, middleware: Middleware, manifest: ManifestWriter, producer: Producer | None = None,
        stop: threading.Event | None = None, patience_s: float = PATIENCE_SECONDS,
    ) -> None:
        """`producer` of `tweets-raw`, where one is open already. Once `stop` is set nothing is tried again."""
        run = manifest.manifest
        self.total = run.archived
        self.refused = 0
        self.failing = False
        """Whether the last attempt to send failed, and is being repeated."""
        self._middleware = middleware
        self._manifest = manifest
        self._stamper = Stamper(run.source, run.run, settings.max_event_bytes)
        self._archive, self._archiving = Archive(settings, run.run, run.source), threading.Lock()
        self._telemetry = StageTelemetry(
            settings.redis_address, settings.redis_prefix, STAGES[0], run.run, run.source, KINDS.get(run.source)
        )
        self._producer, self._mark = producer, Mark(middleware.data)
        self._stop, self._patience_s = stop or threading.Event(), patience_s
        self._delay_us = delay_us(settings, STAGES[0])
        self._sent_us, self._sending_since_us = 0, 0

    @property
    def sending(self) -> bool:
        return self._sending_since_us > 0

    @property
    def sending_us(self) -> int:
        """For how long, all told, the middleware has been taking events, what is going on included; for any thread."""
        since = self._sending_since_us
        return self._sent_us + (time.monotonic_ns() // 1000 - since if since else 0)

    @property
    def acknowledged(self) -> int:
        return self._manifest.manifest.acknowledged

    def tell(self, problem: str) -> None:
        """What keeps the source from bringing anything, for the page; empty: nothing does."""
        self._telemetry.problem = problem

    def publish(self, sent_at_us: Sequence[int], payloads: Sequence[Payload]) -> None:
        """Returns when the payloads are acknowledged. Raises Stranded, or DiskFull if not even one was archived."""
        entries = self.keep(sent_at_us, payloads)
        self.republish(entries, entries[-1].seq + 1 if entries else self.total)

    def keep(self, sent_at_us: Sequence[int], payloads: Sequence[Payload]) -> list[Archived]:
        """Archives payloads as the next ones of the run. Raises DiskFull, and none of them belongs to it then."""
        line = self._stamper.line
        with self._archiving:
            entries = [
                Archived(self.total + n, sent, payload)
                for n, (sent, payload) in enumerate(zip(sent_at_us, payloads, strict=True))
            ]
            self._archive.append([line(*entry) for entry in entries], self.total)
            self.total += len(entries)
            self._manifest.archived(self.total)
        return entries

    def republish(self, entries: Sequence[Archived], acknowledged: int) -> None:
        """Publishes what is archived already; afterwards all events below `acknowledged` are in the stream.

        Raises Stranded.
        """
        events, refused = {}, 0
        for seq, sent_at_us, payload in entries:
            event = self._stamper.event(seq, sent_at_us, payload)
            events[seq] = payload.author_id, event
            # It only stands for a payload that is unusable or too large then; *enrich* will reject it.
            refused += payload.tweet is None or len(event) < len(payload.tweet)
        self._sending_since_us = time.monotonic_ns() // 1000
        try:
            self._send_surely(events)
        finally:
            self._sent_us, self._sending_since_us = self.sending_us, 0
        self._acknowledge(acknowledged)
        self._telemetry.record([entry.sent_at_us for entry in entries])
        self._telemetry.show(RAW, [event for _, event in list(events.values())[-1:]])
        self.refused += refused

    def finish(self) -> None:
        """Nothing more will come. Raises DiskFull."""
        self._manifest.finish()

    def close(self) -> None:
        """Does not wait for a `send` that is going on in another thread."""
        self._archive.close()
        self._telemetry.close()
        self._mark.close()
        self._manifest.close()
        if self._producer and not self.sending:
            with suppress(MiddlewareError):  # everything acknowledged was flushed
                self._producer.close()

    def _send_surely(self, events: dict[int, tuple[str, bytes]]) -> None:
        deadline, wait = time.monotonic() + self._patience_s, FIRST_WAIT_SECONDS
        if not self.failing:
            self._mark.move()
        while events:
            try:
                if self.failing:
                    left = max(0.0, deadline - time.monotonic())
                    run = self._manifest.manifest.run
                    there = published(self._middleware, run, min(events), left, self._mark.position)
                    events = {seq: event for seq, event in events.items() if seq not in there}
                self._send(events)
                break
            except MiddlewareError as error:
                self.failing = True
                if self._stop.is_set() or time.monotonic() + wait > deadline:
                    raise Stranded(f"the middleware does not take events ({error}); {RESUMABLE}") from error
                log.warning("publishing again in %.1f s: %s", wait, error)
                self._stop.wait(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
        self.failing = False

    def _send(self, events: dict[int, tuple[str, bytes]]) -> None:
        self._producer = self._producer or self._middleware.data.producer(RAW)
        send = self._producer.send
        for author_id, event in events.values():
            send(author_id, event)
        slow_down(self._delay_us, len(events))
        self._producer.flush()

    def _acknowledge(self, count: int) -> None:
        """The events are in the stream: without room to say so it waits, since the next start would look for them."""
        while True:
            try:
                self._manifest.acknowledged(count)
                return
            except DiskFull as error:
                if self._stop.is_set():
                    raise Stranded(f"{error}; {RESUMABLE}") from error
                log.warning("trying again in %.0f s: %s", LONGEST_WAIT_SECONDS, error)
                self._stop.wait(LONGEST_WAIT_SECONDS)
