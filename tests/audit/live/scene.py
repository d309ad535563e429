"""The chain of tests/audit with a ledger that watches it. Its readers pass events only as a test says."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from audit.live import sources
from audit.live.index_rows import IndexRows
from audit.live.ledger import Acknowledged, LedgerKeeper, Parts
from audit.live.rankings import Shown
from audit.live.reading import Reading
from audit.live.streams import StreamsReader
from common.telemetry.ledger import Ledger, Stage
from common.tweets import REJECTED, TOTAL, Reader
from middleware.readers import READERS
from search.index import Index
from tests.audit.chain import Chain

T = TypeVar("T")

GROUPS = tuple(replace(reader, kind="group", place=reader.name) for reader in READERS)
"""The memory of a test has no checkpoints of Spark."""

ROUND = 12
"""So many looks end two rounds whose readers have passed everything: the one that goes on, and the next."""


class Scene(Chain):
    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__(folder, index_rows=10_000)
        url = f"sqlite:///{folder}/tweets.db"
        self.settings = self.settings.model_copy(update={"database_url": url, "index_max_rows": 100})
        self.pass_all()
        self.keeper = LedgerKeeper()
        rejected = stack.enter_context(self.memory.data.consumer(REJECTED, "ledger", start="head"))
        self.streams = StreamsReader(self.memory, rejected, GROUPS)
        self.database = stack.enter_context(sources.database(self.settings))
        self.away: set[str] = set()
        """Parts that cannot be read."""

    def pass_all(self, *names: Reader) -> None:
        """These readers, or all, have passed everything that is there."""
        for reader in GROUPS:
            if not names or reader.name in names:
                end = self.memory.data.end(reader.stream)
                self.memory.logs[reader.stream].groups[reader.place] = dict(end.offsets)

    def look(self) -> Ledger:
        def read(name: str, part: Callable[[], T]) -> Reading[T] | None:
            began = time.monotonic()
            return None if name in self.away else Reading(part(), began, time.monotonic())

        acknowledged = read("manifests", self._acknowledged)
        assert acknowledged
        parts = Parts(acknowledged, read("streams", self.streams.read), read("database", self.database),
                      read("redis", self._shown), read("index", self._index_rows))
        return self.keeper.look(parts, now_us=1)

    def after_a_round(self) -> Ledger:
        return [self.look() for _ in range(ROUND)][-1]

    def _acknowledged(self) -> Acknowledged:
        return Acknowledged({run: manifest.acknowledged for run, manifest in self.manifests.items()}, None)

    def _shown(self) -> Shown:
        return Shown({start: counts[TOTAL] for start, counts in self.rankings.buckets.items()}, self.now_s - 3600)

    def _index_rows(self) -> IndexRows:
        index, newest = Index("", "scene", self.settings.index_max_rows), self.store.newest_position()
        horizon, positions = index.horizon(newest), self.store.positions(self.index.rows)
        held: dict[int, int] = {}
        for tweet in self.index.rows:
            if positions.get(tweet, 0) >= horizon:
                shard = int(index.shard_of(positions[tweet]))
                held[shard] = held.get(shard, 0) + 1
        rows = self.store.count(horizon, newest)
        index.close()
        now = sources.rows_from(self.store, horizon, newest)
        return IndexRows(held, index.shard_rows, horizon, now, newest - horizon + 1 - rows)


def stage(ledger: Ledger, name: str) -> Stage:
    return next(stage for stage in ledger["stages"] if stage["name"] == name)


def figures(ledger: Ledger, kind: str) -> list[int | None]:
    """Of each stage: enriched, ranked, stored, indexed."""
    return [stage[kind] for stage in ledger["stages"]]  # type: ignore[literal-required]
