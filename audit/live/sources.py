"""Reads the parts of the ledger: manifests, database, Redis, index."""

from __future__ import annotations

import math
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
from search.accounts import KEPT_RUNS, KEPT_SECONDS, Account
from search.index import Index
from search.store import Store

MARGIN_S = 60
"""How long before Redis lets a bucket go it is looked for there no more."""

KEPT_MARGIN_S = 600
"""Likewise of the database's account."""

ROWS_S = 5.0
"""How often it is read which rows there should be: the index is not counted more often, and what is older is true."""

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


class Accounts:
    """What the search consumer has seen of each run; what has not changed is not read again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = 0
        self._runs: dict[str, Account] = {}

    def read(self) -> dict[str, Account]:
        version, changed = self._store.accounts(self._version)
        if version < self._version:  # of another database
            self._runs = {}
        for account in changed:
            self._runs[account.run] = joined(self._runs.pop(account.run, None), account)  # the newest last
        while len(self._runs) > KEPT_RUNS:
            self._runs.pop(next(iter(self._runs)))
        self._version = version
        return dict(self._runs)


def joined(before: Account | None, changed: Account) -> Account:
    """With the blocks that have not changed. A mapping that others may look at loses none."""
    blocks = before.blocks if before else {}
    if before and before.whole < changed.whole:
        blocks = {number: bits for number, bits in blocks.items() if number >= changed.whole}
    blocks.update({number: bits for number, bits in changed.blocks.items() if number >= changed.whole})
    return changed._replace(blocks=blocks)


@contextmanager
def database(settings: Settings) -> Iterator[Callable[[], Seen]]:
    with closing(Store.open(settings)) as store:
        index, accounts = Index.open(settings), Accounts(store)
        rows, read_at = Rows(0, np.zeros(0, np.int64)), -math.inf

        def read() -> Seen:
            nonlocal rows, read_at
            if time.monotonic() >= read_at + ROWS_S:
                newest, read_at = store.newest_position(), time.monotonic()
                rows = rows_from(store, index.horizon(newest), newest)
            since = time.time() - min(settings.rankings_kept_s, KEPT_SECONDS - KEPT_MARGIN_S)
            due = Due(store.buckets(round(since)), since)
            return Seen(accounts.read(), due, rows)

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
