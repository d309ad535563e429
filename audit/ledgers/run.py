"""What each stage should hold of a run and what it holds, as counts. Pure: it is fed events and rows, it reads nothing.

A run's events are numbered without gaps, so that a stage is judged by the sequence numbers found in it: a number that
is not there is missing, a number that is there twice is a repeat. Repeats of a *tweet* (one id under several numbers,
or in several runs) are legitimate: they are already known and appear once in what a user sees.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from audit.ledgers.seqs import Seqs
from common.storage.lost import Lost
from common.tweets import BUCKET_SECONDS, ENRICHED, RAW, REJECTED, Reader

RANGES_SHOWN = 20
"""Of what is missing at a stage; how many it is says the count."""

Range = tuple[int, int]
"""first ≤ seq < end"""


@dataclass
class Finding:
    """One stage. `expected` = found + already_known + missing; what aged out counts as found.

    What was lost to retention before this stage, or parked by its reader, is not expected here. `missing_seqs` are the
    first ranges (run, first, last) of what is missing; `lost_buckets` the ranges (first, last) of buckets whose counts
    were given up as too low, by how much nobody knows.
    """

    expected: int = 0
    found: int = 0
    missing: int = 0
    duplicated: int = 0
    already_known: int = 0
    aged_out: int = 0
    lost_to_retention: int = 0
    parked: int = 0
    missing_seqs: list[tuple[str, int, int]] = field(default_factory=list)
    lost_buckets: list[Range] = field(default_factory=list)
    detail: dict[str, int] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        return not self.missing and not self.duplicated

    def as_json(self) -> dict[str, Any]:
        content = asdict(self)
        return {**content.pop("detail"), **content}

    def __add__(self, other: Finding) -> Finding:
        mine, others = dict(vars(self)), dict(vars(other))
        detail = dict(Counter(mine.pop("detail")) + Counter(others.pop("detail")))
        seqs = (mine.pop("missing_seqs") + others.pop("missing_seqs"))[:RANGES_SHOWN]
        return Finding(**{name: mine[name] + others[name] for name in mine}, missing_seqs=seqs, detail=detail)


class Clock:
    """Roughly, when a run's numbers were sent: the lowest one of each interval, of which there are never many."""

    MARKS = 4096

    def __init__(self) -> None:
        self._interval_us = 1000
        self._lowest: dict[int, int] = {}

    def see(self, sent_at_us: int, seq: int) -> None:
        at = sent_at_us // self._interval_us
        if seq < self._lowest.get(at, sys.maxsize):
            self._lowest[at] = seq
            while len(self._lowest) > self.MARKS:
                self._coarsen()

    def first_since(self, since_us: int) -> int:
        """The lowest number seen that was surely sent then or later; more than any if there is none."""
        first = -(-since_us // self._interval_us)
        return min((seq for at, seq in self._lowest.items() if at >= first), default=sys.maxsize)

    def _coarsen(self) -> None:
        self._interval_us *= 2
        finer, self._lowest = self._lowest, {}
        for at, seq in finer.items():
            self._lowest[at // 2] = min(seq, self._lowest.get(at // 2, sys.maxsize))


class Truncation:
    """Which of a run's numbers a stream may have held before retention cut it.

    In each partition numbers only grow. So what a cut took of a run is below the first of its numbers that comes behind
    the cut; of a run that does not come there any more, it is what was sent before the first event behind the cut.
    """

    def __init__(self) -> None:
        self._behind: dict[int, int] = {}
        """By partition, the number of the last cut behind which the run was seen."""

        self._end = 0

    def see(self, partition: int, cut: int, seq: int) -> None:
        """An event of the run behind the cut of this number."""
        if self._behind.get(partition, 0) < cut:
            self._behind[partition] = cut
            self._end = max(self._end, seq)

    def end(self, cuts: Mapping[int, tuple[int, int]], sent: Clock, began_us: int) -> int:
        """Numbers below it may have been cut off. `cuts`: partition → (number, when its first event was sent)."""
        vanished = (sent.first_since(since_us) for partition, (number, since_us) in cuts.items()
                    if self._behind.get(partition, 0) < number and began_us < since_us)
        return max(self._end, *vanished, 0)


Cuts = Mapping[str, Mapping[int, tuple[int, int]]]
"""By stream, of each partition that was cut: (number of the cut, `sent_at_us` of the first event behind it)."""


@dataclass
class RunLedger:
    """One run's events by where they were found. `acknowledged` counts only if it is `judged`.

    `number` is what stands for it in the scratch database.
    """

    run: str
    number: int = 0
    judged: bool = False
    acknowledged: int = 0
    began_us: int = 0
    ended_us: int = 0
    published: Seqs = field(default_factory=Seqs)
    enriched: Seqs = field(default_factory=Seqs)
    """Rejected ones are among them."""

    stored: Seqs = field(default_factory=Seqs)
    lost: dict[Reader, list[Range]] = field(default_factory=dict)
    parked: dict[Reader, set[int]] = field(default_factory=dict)
    sent: Clock = field(default_factory=Clock)
    truncations: dict[str, Truncation] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)
    """By stage, how many more events or rows there are than numbers."""

    rejected: int = 0
    late: int = 0
    tweets: int = 0
    """Enriched events for which a row is expected, by the numbers that were acknowledged."""

    aged_out: int = 0
    already_known: int = 0

    def lose(self, lost: Lost) -> None:
        self.lost.setdefault(lost.reader, []).append((lost.first_seq, lost.last_seq + 1))

    def span(self) -> Range:
        """First and last bucket_start of the buckets in which it was going on."""
        first, last = (at // 1_000_000 // BUCKET_SECONDS * BUCKET_SECONDS
                       for at in (self.began_us, max(self.began_us, self.ended_us)))
        return first, last

    def truncation(self, stream: str) -> Truncation:
        return self.truncations.setdefault(stream, Truncation())

    def is_given_up(self, reader: Reader, seq: int) -> bool:
        """Whether the reader lost it to retention, or parked it."""
        return bool(self.lost or self.parked) and (seq in self.parked.get(reader, ()) or any(
            first <= seq < end for first, end in self.lost.get(reader, ())))

    def check_published(self, cuts: Cuts) -> Finding:
        return self._by_seq("published", self.published, cuts, (RAW,), ())

    def check_enriched(self, cuts: Cuts) -> Finding:
        lost = self.lost.get("enrich", ())
        finding = self._by_seq("enriched", self.enriched, cuts, (ENRICHED, REJECTED), lost)
        finding.detail = {"rejected": self.rejected, "late": self.late}
        return finding

    def check_stored(self, missing: Iterable[int]) -> Finding:
        """`missing`: numbers of enriched tweets without a row, in order."""
        count, shown = self._tally(_ranges(missing))
        return Finding(
            expected=self.tweets,
            found=self.tweets - count - self.already_known,
            missing=count,
            duplicated=self.repeats["stored"],
            already_known=self.already_known,
            aged_out=self.aged_out,
            lost_to_retention=sum(end - first for first, end in self.lost.get("search-consumer", ())),
            parked=len(self.parked.get("search-consumer", ())),
            missing_seqs=shown,
        )

    def check_indexed(
        self, stored: Finding, missing: Iterable[int], duplicated: int, aged_out: int, forgotten: int = 0
    ) -> Finding:
        """`missing`: numbers, in order, of tweets that are not in the index and have not aged out of it, or that are
        forgotten and still in it. `forgotten`: how many are that, deletions themselves included."""
        count, shown = self._tally(_ranges(missing))
        found = self.tweets - self.already_known - count
        return replace(stored, found=found, missing=count, duplicated=duplicated, aged_out=aged_out,
                       missing_seqs=shown, detail={"forgotten": forgotten} if forgotten else {})

    def _by_seq(self, stage: str, found: Seqs, cuts: Cuts, streams: tuple[str, ...], lost: Iterable[Range]) -> Finding:
        """A number that is not there was lost to retention, or cut off with the head of a stream, or is missing."""
        cut = max((self.truncations.get(name, Truncation()).end(cuts.get(name, {}), self.sent, self.began_us)
                   for name in streams), default=0)
        absent = list(found.absent(0, self.acknowledged))
        given_up = [(max(low, first), min(high, end)) for low, high in absent for first, end in lost
                    if max(low, first) < min(high, end)]
        absent = list(_without(absent, sorted(given_up)))
        aged = sum(min(end, cut) - first for first, end in absent if first < cut)
        gone = sum(end - first for first, end in given_up)
        count, shown = self._tally((max(first, cut), end) for first, end in absent if end > cut)
        expected = self.acknowledged - gone
        return Finding(
            expected=expected, found=expected - count, missing=count, duplicated=self.repeats[stage],
            aged_out=aged, lost_to_retention=gone, missing_seqs=shown,
        )

    def _tally(self, ranges: Iterable[Range]) -> tuple[int, list[tuple[str, int, int]]]:
        """How many numbers they are, and the first of them as they are shown."""
        count = 0
        shown: list[tuple[str, int, int]] = []
        for first, end in ranges:
            count += end - first
            if len(shown) < RANGES_SHOWN:
                shown.append((self.run, first, end - 1))
        return count, shown


def _ranges(seqs: Iterable[int]) -> Iterator[Range]:
    """Numbers as ranges; those in order join."""
    first = end = None
    for seq in seqs:
        if first is None or seq != end:
            if first is not None and end is not None:
                yield first, end
            first = seq
        end = seq + 1
    if first is not None and end is not None:
        yield first, end


def _without(ranges: Iterable[Range], gone: list[Range]) -> Iterator[Range]:
    """Ranges less other ranges, which are in order and may overlap."""
    for first, end in ranges:
        for low, high in gone:
            if high <= first or low >= end:
                continue
            if first < low:
                yield first, low
            first = max(first, high)
        if first < end:
            yield first, end
