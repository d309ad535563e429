"""Finds what each reader has lost: from manifests, the streams and what comes after the reader."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import get_args

import msgspec
import redis
from msgspec import Struct

from audit.loss.lost_numbers import Run, lost
from common.storage.lost import Lost, read_lost
from common.tweets import BUCKET_SECONDS, ENRICHED, RAW, REFUSALS, REJECTED, Ingest, Reader
from ingest.manifest import Manifest, read_manifests
from middleware.driver import Middleware
from middleware.readers import StreamReader
from middleware.reread import reread
from search.store import Store

DATABASE = "database"


class Stamped(Struct, gc=False):
    """Of any event about a tweet, its stamp, and who rejected or parked it."""

    ingest: Ingest | None = None
    stage: str = "enrich"


class Dated(Struct, gc=False):
    """Of an event, the moment whose ranking it counts in: `bucket_start`, or the bucket of `created_at`."""

    bucket_start: int | None = None
    created_at: str = ""


_stamped, _dated = msgspec.json.Decoder(Stamped).decode, msgspec.json.Decoder(Dated).decode


def find(middleware: Middleware, reader: StreamReader) -> list[Lost]:
    """What the reader has lost, now that its stream begins where it does, and was not recorded before.

    Raises MiddlewareError.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    ranges = _FINDERS[reader.name](middleware, reader)
    return [Lost(reader.name, run, first, last, now) for run, first, last in ranges]


def _tweets_not_enriched(middleware: Middleware, reader: StreamReader) -> Iterator[tuple[str, int, int]]:
    runs = _runs(middleware, reader, read_manifests(middleware.settings))
    _read(middleware, RAW, runs, Run.there)
    cut = [stream for stream in (ENRICHED, REJECTED) if middleware.data.head(stream).is_cut()]
    for stream in (ENRICHED, REJECTED):
        _read(middleware, stream, runs, partial(Run.done, place=stream))
    return lost(list(runs.values()), all_passed=True, forgets=cut)


def _tweets_not_stored(middleware: Middleware, reader: StreamReader) -> Iterator[tuple[str, int, int]]:
    """Of several partitions, a tweet that was known by another number is among them: the database has its first one."""
    manifests = read_manifests(middleware.settings)
    runs = _runs(middleware, reader, manifests)
    _read(middleware, ENRICHED, runs, Run.there)
    _read(middleware, REJECTED, runs, partial(Run.done, place=REJECTED), ("enrich", reader.name))
    store = Store.open(middleware.settings)
    try:
        for run in runs.values():
            for rows in store.run_seqs(run.name):
                for seq in rows.seqs.tolist():
                    run.done(seq, DATABASE)
        forgets = [DATABASE] if store.is_full() else []
    finally:
        store.close()
    if all(len(middleware.data.end(stream).offsets) == 1 for stream in (RAW, ENRICHED)):
        _spare_what_was_read(runs, manifests)
    return lost(list(runs.values()), all_passed=False, forgets=forgets)


def _spare_what_was_read(runs: dict[str, Run], manifests: Mapping[str, Manifest]) -> None:
    """One partition keeps the order in which tweets were published: up to the last with a row the reader has read all,
    those that the database knew by other numbers, too."""
    reached_us = max((manifests[name].started_at_us for name, run in runs.items() if run.is_done(DATABASE)), default=0)
    for name, run in runs.items():
        manifest = manifests[name]
        ended_before = manifest.finished and manifest.started_at_us < reached_us > manifest.changed_at_us
        run.not_lost(0, run.acknowledged - 1 if ended_before else run.last_done(DATABASE))


def _buckets_not_counted(middleware: Middleware, reader: StreamReader) -> Iterator[tuple[str, int, int]]:
    """Up to the newest bucket among the first events that are left, from the oldest that may still have been counted.

    That is `allowed_lateness_s` before the newest that is shown; where none is, before the first run began.
    """
    settings = middleware.settings
    with redis.Redis.from_url(settings.redis_address, decode_responses=True, socket_timeout=5) as shown:
        buckets = [int(key.rpartition(":")[2]) for key in shown.scan_iter(f"{settings.redis_prefix}bucket:*", 1000)]
    with closing(reread(middleware, reader.stream)) as events:
        left = [_bucket(event) for event in next(events, [])]
    last = max(filter(None, left), default=_floored(time.time()))
    began = min((run.started_at_us // 1_000_000 for run in read_manifests(settings).values()), default=last)
    yield "", min(last, _floored(max(buckets, default=began) - settings.allowed_lateness_s)), last


_FINDERS: dict[Reader, Callable[[Middleware, StreamReader], Iterator[tuple[str, int, int]]]] = {
    "enrich": _tweets_not_enriched, "search-consumer": _tweets_not_stored,
    "trending": _buckets_not_counted, "trending-consumer": _buckets_not_counted,
}  # fmt: skip


def _runs(middleware: Middleware, reader: StreamReader, manifests: Mapping[str, Manifest]) -> dict[str, Run]:
    runs = {name: Run(name, manifest.acknowledged) for name, manifest in manifests.items()}
    for before in read_lost(middleware.settings):
        if before.reader == reader.name and before.run in runs:
            runs[before.run].not_lost(before.first_seq, before.last_seq)
    return runs


def _read(
    middleware: Middleware, stream: str, runs: dict[str, Run], found: Callable[[Run, int], None],
    stages: Collection[str] = get_args(Reader),
) -> None:
    """Calls `found` with every number in the stream that its run has acknowledged; `stages`: of what these parked."""
    with closing(reread(middleware, stream)) as batches:
        for event in (event for batch in batches for event in batch):
            try:
                stamped = _stamped(event)
            except REFUSALS:
                continue  # it is nobody's tweet, or was parked with its stamp
            stamp = stamped.ingest if stamped.stage in stages else None
            if stamp and (run := runs.get(stamp.run)) and stamp.seq < run.acknowledged:
                found(run, stamp.seq)


def _bucket(event: bytes) -> int | None:
    try:
        dated = _dated(event)
        return dated.bucket_start or _floored(datetime.fromisoformat(dated.created_at).timestamp())
    except REFUSALS:
        return None


def _floored(moment: float) -> int:
    return int(moment) // BUCKET_SECONDS * BUCKET_SECONDS
