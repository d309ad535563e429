"""Reads the parts of the ledger: manifests, database, Redis, index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

import numpy as np
import redis

from audit.live.index_rows import IndexRows, Rows
from audit.live.ledger import Acknowledged, Seen
from audit.live.rankings import Due, Shown
from common.settings import Settings
from common.stored_counts import highest
from common.tweets import TOTAL
from ingest.manifest import Manifest, read_manifest, runs_dir
from search.accounts import KEPT_SECONDS
from search.index import Index
from search.store import Store

MARGIN_S = 60
"""How long before Redis lets a bucket go it is looked for there no more."""

KEPT_MARGIN_S = 600
"""Likewise of the database's account."""

REDIS_TIMEOUT_S = 2.0


class Manifests:
    """What is acknowledged; a manifest of a run that has ended is read once."""

    def __init__(self, settings: Settings) -> None:
        self._folder = runs_dir(settings)
        self._runs: dict[str, Manifest] = {}

    def read(self) -> Acknowledged:
        names = {path.stem: path for path in self._folder.glob("*.jsonl")}
        self._runs = {run: manifest for run, manifest in self._runs.items() if run in names}
        for run, path in names.items():
            if not (run in self._runs and self._runs[run].finished) and (manifest := read_manifest(path)):
                self._runs[run] = manifest
        began = min((manifest.started_at_us for manifest in self._runs.values()), default=None)
        return Acknowledged({run: manifest.acknowledged for run, manifest in self._runs.items()}, began)


@contextmanager
def manifests(settings: Settings) -> Iterator[Callable[[], Acknowledged]]:
    yield Manifests(settings).read


@contextmanager
def database(settings: Settings) -> Iterator[Callable[[], Seen]]:
    with closing(Store.open(settings)) as store:
        index = Index.open(settings)

        def read() -> Seen:
            newest = store.newest_position()
            rows = rows_from(store, index.horizon(newest), newest)
            since = time.time() - min(settings.rankings_kept_s, KEPT_SECONDS - KEPT_MARGIN_S)
            due = Due(store.buckets(round(since)), since)
            return Seen({account.run: account for account in store.accounts()}, due, rows)

        with closing(index):
            yield read


@contextmanager
def rankings(settings: Settings, starts: Callable[[], Iterable[int]]) -> Iterator[Callable[[], Shown | None]]:
    """`starts`: the buckets that are looked for."""
    client = redis.Redis.from_url(settings.redis_address, decode_responses=True, socket_timeout=REDIS_TIMEOUT_S)
    prefix, kept_s = settings.redis_prefix, settings.rankings_kept_s

    def read() -> Shown | None:
        """In one transaction: as long as there is a marker the buckets are complete."""
        horizon = time.time() - kept_s + MARGIN_S
        asked = [start for start in starts() if start >= horizon]
        with client.pipeline() as pipe:
            pipe.mget(f"{prefix}marker", f"{prefix}kept_s")
            for start in asked:
                pipe.hget(f"{prefix}bucket:{start}", TOTAL)
            (marker, kept), *totals = pipe.execute()
        if marker is None or kept != str(kept_s):
            return None
        return Shown({start: highest(total) for start, total in zip(asked, totals, strict=True) if total}, horizon)

    with client:
        yield read


@contextmanager
def index(settings: Settings) -> Iterator[Callable[[], IndexRows]]:
    with closing(Store.open(settings)) as store, closing(Index.open(settings)) as index:

        def read() -> IndexRows:
            """The index first: what it has, the database has, and what the database forgets, the index forgets later.
            """
            held = index.counts()
            newest = store.newest_position()
            horizon = index.horizon(newest)
            gone = newest - horizon + 1 - store.count(horizon, newest)
            return IndexRows(held, index.shard_rows, horizon, rows_from(store, horizon, newest), gone)

        yield read


def rows_from(store: Store, first: int, newest: int) -> Rows:
    blank = store.forgotten_between(first, newest + 1).values()
    return Rows(newest, np.sort(np.fromiter(blank, np.int64, len(blank))))
