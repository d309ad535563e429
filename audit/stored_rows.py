"""Database and index against the enriched tweets: which have a row, which aged out, which are missing.

Positions are handed out in the order in which a partition's events are stored, without gaps, and the oldest rows go
first. So an event without a row aged out if a later event of its partition has one, and nothing is gone between the
oldest row and that one; and no more events aged out than there are positions below the oldest row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from audit.ledgers.run import Finding, RunLedger
from audit.ledgers.scratch import Pending, Scratch
from audit.ledgers.seqs import Seqs
from middleware.data import Start
from search.index import Index
from search.store import Store

EVICTED = 0
"""Stands for the position of a row that went after it was fetched: below every oldest one."""


class Rows:
    def __init__(self, store: Store, index: Index, scratch: Scratch, ledger: Callable[[str], RunLedger],
                 numbered: Sequence[RunLedger], start: Start) -> None:
        """`ledger` of a run by its name; `numbered` by its number."""
        self._store, self._index, self._scratch = store, index, scratch
        self._ledger, self._numbered = ledger, numbered
        self._since = store.newest_position() + 1 if start == "tail" else 1
        """Rows below are not looked at."""

        self._next = self._since
        self._positions = Seqs()
        self._survivors: dict[int, tuple[int, int]] = {}
        """By partition, of the first event with a row of its own: (ordinal, tweet id)."""

        self._aged_out = 0

    def fetch(self) -> None:
        """Reads the rows that came since the last time."""
        for run, rows in self._store.rows_by_run(self._next):
            ledger = self._ledger(run)
            ledger.repeats["stored"] += len(rows.seqs) - ledger.stored.add_all(rows.seqs)
            self._positions.add_all(rows.positions)
            self._next = max(self._next, int(rows.positions[-1]) + 1)

    def survived(self, partition: int, ordinal: int, tweet: int) -> None:
        """An event that has a row of its own, or had it when rows were fetched.

        It asks no server: events are handed out once, and one that failed here would be missing ever after.
        """
        known = self._survivors.get(partition)
        if known is None or known[0] > ordinal:
            self._survivors[partition] = ordinal, tweet

    def check(self, judged: Sequence[RunLedger]) -> dict[str, Finding]:
        """*stored* and *indexed*, of the rows fetched."""
        self._find()
        self._age()
        for number, count in self._scratch.settle_repeats().items():
            self._numbered[number].already_known += count
        stored = [ledger.check_stored(event.seq for event in self._scratch.pending_of(ledger.number))
                  for ledger in judged]
        indexed = self._indexed(judged, stored)
        stages = {"stored": sum(stored, Finding()), "indexed": sum(indexed, Finding())}
        for finding in stages.values():
            never_stored = min(finding.aged_out, self._never_stored())
            finding.aged_out -= never_stored
            finding.found -= never_stored
            finding.missing += never_stored
        return stages

    def _find(self) -> None:
        """Settles the events that have a row, or whose tweet has one by another event."""
        for chunk in self._scratch.pending():
            rest: list[Pending] = []
            for event in chunk:
                if event.seq in self._numbered[event.run].stored:
                    self.survived(event.partition, event.ordinal, event.tweet)
                else:
                    rest.append(event)
            positions = self._store.positions({event.tweet for event in rest})
            left = []
            for event in rest:
                if positions.get(event.tweet, self._next) < self._next:
                    self._numbered[event.run].already_known += 1
                else:
                    left.append(event)
            if len(left) < len(chunk):
                self._scratch.settle(chunk, left)

    def _age(self) -> None:
        """Settles the events whose rows aged out."""
        oldest = self._oldest()
        if oldest <= self._since:
            return
        positions = self._store.positions([tweet for _, tweet in self._survivors.values()])
        for partition, (ordinal, tweet) in self._survivors.items():
            gone = sum(end - first for first, end in self._positions.absent(oldest, positions.get(tweet, EVICTED)))
            for number, count in self._scratch.settle_before(partition, ordinal, but=gone).items():
                self._numbered[number].aged_out += count
                self._aged_out += count

    def _never_stored(self) -> int:
        """Events that are thought to have aged out, though there are no positions that they can have had."""
        end = self._oldest()
        held = end - self._since - self._positions.count(self._since, end)
        return max(0, self._aged_out - max(0, held))

    def _oldest(self) -> int:
        return self._store.oldest_position()

    def _indexed(self, judged: Sequence[RunLedger], stored: Sequence[Finding]) -> list[Finding]:
        """The ids of the index are read first: what is newer than they are is looked for in the next round. What became
        forgotten meanwhile is looked up once more.

        It is not to hold a row whose tweet no event brought: that is a repeat in the database. Nor one that is
        forgotten: such a row is found where the index does not have it, and missing as long as it does.
        """
        ids, counts = np.unique(np.fromiter(self._index.ids(), np.int64), return_counts=True)
        horizon = self._index.horizon(self._store.newest_position())
        kept = {ledger.number: Kept() for ledger in judged}
        lingering: dict[int, tuple[Kept, int]] = {}
        for run, rows in self._store.rows_by_run(horizon):
            ledger = self._ledger(run)
            if ledger.number not in kept:
                continue
            of_run, own = kept[ledger.number], rows.seqs < ledger.acknowledged
            present = np.isin(rows.tweet_ids, ids)
            of_run.count += int(own.sum())
            of_run.forgotten += int((own & rows.forgotten).sum())
            of_run.first = min(of_run.first, int(rows.seqs.min()))
            wrong, blank = own & ~present & ~rows.forgotten, own & present & rows.forgotten
            absent = dict(zip(rows.tweet_ids[wrong].tolist(), rows.seqs[wrong].tolist(), strict=True))
            of_run.missing += [absent[tweet] for tweet in self._scratch.known(list(absent))]
            seqs = zip(rows.tweet_ids[blank].tolist(), rows.seqs[blank].tolist(), strict=True)
            lingering |= {tweet: (of_run, seq) for tweet, seq in seqs}
            of_run.twice += int((counts[np.searchsorted(ids, rows.tweet_ids[own & present])] - 1).sum())
        still = lingering.keys() & set(self._index.ids()) if lingering else set()
        for tweet in self._scratch.known(list(still)):
            of_run, seq = lingering[tweet]
            of_run.missing.append(seq)
        return [self._indexed_of(ledger, finding, kept[ledger.number], ids)
                for ledger, finding in zip(judged, stored, strict=True)]

    def _indexed_of(self, ledger: RunLedger, stored: Finding, kept: Kept, ids: np.ndarray) -> Finding:
        """What has no row may be in the index all the same, or be older than what it keeps of the run."""
        missing, older = kept.missing, 0
        for event in self._scratch.pending_of(ledger.number) if stored.missing else ():
            at = np.searchsorted(ids, event.tweet)
            if at < len(ids) and ids[at] == event.tweet:
                continue
            if kept.count and event.seq < kept.first:
                older += 1
            else:
                missing.append(event.seq)
        aged_out = ledger.tweets - ledger.already_known - stored.missing - kept.count + older
        return ledger.check_indexed(stored, sorted(missing), kept.twice, max(0, aged_out), kept.forgotten)


@dataclass
class Kept:
    """A run's rows that are new enough for the index: how many, how many of them are forgotten, the lowest number, and
    what the index has of them."""

    count: int = 0
    forgotten: int = 0
    first: int = sys.maxsize
    missing: list[int] = field(default_factory=list)
    twice: int = 0
