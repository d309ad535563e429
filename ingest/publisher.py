"""Archive first, then publish, then say so: what every payload goes through, in groups.

A group is synced to the archive, sent, flushed and only then acknowledged in the manifest. If the middleware fails, the
group is sent again, but for what is found in the stream; what can still come twice is an event that the server takes
after it was looked for, which the read-back makes improbable and *trending* and the database drop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress

from common.settings import Settings
from common.slowdown import delay_us, slow_down
from common.telemetry import StageTelemetry
from common.tweets import RAW, STAGES
from ingest.archive import Archive
from ingest.manifest import ManifestWriter, read_manifest, runs_dir
from ingest.readback import published
from ingest.source import Payload
from ingest.stamp import Archived, Stamper
from middleware.base import Middleware, MiddlewareError, Producer

log = logging.getLogger(__name__)

RETRY_SECONDS = 300.0
"""How long a middleware may stay away before a run ends."""

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 10.0


class Stranded(Exception):
    """The middleware stayed away; the run can be resumed."""


class Publisher:
    """Publishes one run; for one thread."""

    def __init__(
        self, settings: Settings, middleware: Middleware, manifest: ManifestWriter, producer: Producer | None = None,
        process: str | None = None,
    ) -> None:
        """`producer` of `tweets-raw`, where one is open already; `process` names this one among those of one source."""
        run = manifest.manifest
        self.total = run.archived
        self.refused = 0
        self._middleware = middleware
        self._manifest = manifest
        self._stamper = Stamper(run.source, run.run, settings.max_event_bytes)
        self._archive = Archive(settings, run.run, run.archived, lambda name: _acknowledged(settings, name))
        own = process or run.source
        self._telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, STAGES[0], own)
        self._producer = producer
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

    def publish(self, sent_at_us: Sequence[int], payloads: Sequence[Payload]) -> None:
        """Returns when the payloads are acknowledged. Raises Stranded."""
        entries = [
            Archived(self.total + n, sent, payload)
            for n, (sent, payload) in enumerate(zip(sent_at_us, payloads, strict=True))
        ]
        line = self._stamper.line
        self._archive.append([line(*entry) for entry in entries], self.total + len(entries))
        self.total += len(entries)
        self._manifest.archived(self.total)
        self.republish(entries, self.total)

    def republish(self, entries: Sequence[Archived], acknowledged: int) -> None:
        """Publishes what is archived already; afterwards all events below `acknowledged` are in the stream."""
        events, refused = {}, 0
        for seq, sent_at_us, payload in entries:
            event = self._stamper.event(seq, sent_at_us, payload)
            events[seq] = payload.author_id, event
            # It only stands for a payload that is unusable or too large then; *enrich* will reject it.
            refused += payload.tweet is None or len(event) < len(payload.tweet)
        self._sending_since_us = time.monotonic_ns() // 1000
        self._send_surely(events)
        self._sent_us, self._sending_since_us = self.sending_us, 0
        self._manifest.acknowledged(acknowledged)
        self._telemetry.record([entry.sent_at_us for entry in entries])
        self.refused += refused

    def finish(self) -> None:
        """Nothing more will come."""
        self._manifest.finish()

    def close(self) -> None:
        self._archive.close()
        self._telemetry.close()
        self._manifest.close()
        if self._producer:
            with suppress(MiddlewareError):  # everything acknowledged was flushed
                self._producer.close()

    def _send_surely(self, events: dict[int, tuple[str, bytes]]) -> None:
        deadline, wait, failed = time.monotonic() + RETRY_SECONDS, FIRST_WAIT_SECONDS, False
        while events:
            try:
                if failed:
                    there = published(self._middleware, self._manifest.manifest.run, min(events))
                    events = {seq: event for seq, event in events.items() if seq not in there}
                self._send(events)
                return
            except MiddlewareError as error:
                failed, self._producer = True, None
                if time.monotonic() + wait > deadline:
                    raise Stranded(
                        f"the middleware did not take events for {RETRY_SECONDS:.0f} s ({error}); nothing is lost: "
                        "`murmur ingest --resume` publishes what is archived once it is back"
                    ) from error
                log.warning("publishing again in %.1f s: %s", wait, error)
                time.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)

    def _send(self, events: dict[int, tuple[str, bytes]]) -> None:
        self._producer = self._producer or self._middleware.producer(RAW)
        send = self._producer.send
        for author_id, event in events.values():
            send(author_id, event)
        slow_down(self._delay_us, len(events))
        self._producer.flush()


def _acknowledged(settings: Settings, run: str) -> int:
    path = runs_dir(settings) / f"{run}.jsonl"
    manifest = read_manifest(path) if path.exists() else None
    return manifest.acknowledged if manifest else 0
