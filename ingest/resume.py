"""Goes on with runs whose ingester died.

What is archived and not acknowledged is looked for in the stream, and published if it is not there: with the same run,
seq, tweet id and `created_at`, but a `sent_at_us` of now, the time at which it is now meant to be sent. Then a run that
had a limit, and a replay, goes on to its end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from common.settings import Settings
from ingest.archive import files
from ingest.manifest import Manifest, ManifestWriter, read_manifests
from ingest.publisher import RESUMABLE, Publisher, Stranded
from ingest.readback import published
from ingest.sources.base import Source
from ingest.sources.replay import Replay
from ingest.sources.synthetic import Synthetic, synthetic
from ingest.stamp import Archived, created_now
from middleware.admin import Admin
from middleware.driver import Middleware
from middleware.errors import Unreachable

log = logging.getLogger(__name__)

GROUP_EVENTS = 2048
READY_SECONDS, ASK_SECONDS = 120.0, 5.0


def dead_runs(settings: Settings, source: str | None = None) -> Iterator[ManifestWriter]:
    """Unfinished runs that no living process holds, the oldest first, optionally of one source only."""
    for manifest in read_manifests(settings).values():
        if manifest.finished or (source and manifest.source != source):
            continue
        if writer := ManifestWriter.reopen(settings, manifest.run):
            yield writer


def recover(settings: Settings, middleware: Middleware, manifest: ManifestWriter,
            stop: threading.Event | None = None) -> Publisher:
    """Publishes what of the run is archived and not in the stream; the publisher can go on with the run.

    Waits for the middleware: what ended the ingester may have ended that too. Raises Unreachable or another
    MiddlewareError, or Stranded, which comes early once `stop` is set; the run can then be recovered again.
    """
    with ExitStack() as undo:
        undo.enter_context(manifest)
        _await(middleware.admin, stop or threading.Event())
        run = manifest.manifest
        dated_now = run.options.get("timestamps") == "now"
        unacknowledged = [entry.seq for entry in files.read(settings, run.run, run.acknowledged)]
        there = published(middleware, run.run, run.acknowledged) if unacknowledged else set()
        run.archived = max([run.acknowledged, *(seq + 1 for seq in unacknowledged)])
        publisher = undo.enter_context(Publisher(settings, middleware, manifest, stop=stop))
        missing = (entry for entry in files.read(settings, run.run, run.acknowledged) if entry.seq not in there)
        count = 0
        while group := list(islice(missing, GROUP_EVENTS)):
            count += len(group)
            publisher.republish([_sent_now(entry, dated_now) for entry in group], group[-1].seq + 1)
        manifest.acknowledged(run.archived)
        undo.pop_all()
    log.info("run %s: %d events were published again, %d were in the stream", run.run, count, len(there))
    return publisher


def rest(run: Manifest) -> Source | None:
    """The source of what the run had still to bring; None if nothing is left, or nobody can bring it."""
    options = run.options
    source: Source | None = None
    if run.source == Synthetic.name and options.get("limit"):
        source = synthetic(run.run, options)
    elif run.source == Replay.name:
        source = Replay([Path(path) for path in options["path"]], options["timestamps"], options.get("speed"))
    if source:
        source.skip(run.archived)
    return source


def _await(admin: Admin, stop: threading.Event) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            return admin.wait_until_ready(ASK_SECONDS)
        except Unreachable as error:
            if stop.is_set():
                raise Stranded(f"{error}; {RESUMABLE}") from error
            if time.monotonic() > deadline:
                raise


def _sent_now(entry: Archived, dated_now: bool) -> Archived:
    payload = created_now(entry.payload, entry.sent_at_us) if dated_now else entry.payload
    return Archived(entry.seq, time.time_ns() // 1000, payload)
