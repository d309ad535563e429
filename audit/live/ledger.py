"""What became of everything that was acknowledged, told from what the stages themselves keep account of. Pure.

Nobody reads the large streams for it: manifests tell what is acknowledged, the database which numbers the search
consumer has seen, `tweets-rejected` which ones were no tweets, Redis what is ranked, the index how many rows it has.
What they tell is compared by rounds (rounds.py). What was called lost and comes all the same is taken back.

A figure that rests on one that was not read lately is None.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple

from audit.live.index_rows import Indexed, IndexRows, Rows, compare
from audit.live.numbers import Numbers, Tally
from audit.live.rankings import Due, Parked, Rankings, Shown, Totals, behind
from audit.live.reading import History, Reading
from audit.live.rounds import Positions, Rounds
from common.telemetry import ledger
from common.telemetry.ledger import Ledger, Stage, StageName
from common.tweets import Reader
from search.accounts import Account

log = logging.getLogger(__name__)

STORING: tuple[Reader, ...] = "enrich", "search-consumer", "search-consumer", "search-consumer"
"""A store with transactions may show what *enrich* has committed a moment later: the end is fixed again and again."""

RANKING: tuple[Reader, ...] = "trending", "trending-consumer"

NOTHING, NO_NUMBERS = Account("", 0, {}, 0, 0, 0), Numbers()


class Acknowledged(NamedTuple):
    """By run, how many numbers from 0 on; `since_us`: when the first of the runs began."""

    counts: Mapping[str, int]
    since_us: int | None


class Seen(NamedTuple):
    """What the database tells."""

    accounts: Mapping[str, Account]
    due: Due
    rows: Rows


class Rejected(NamedTuple):
    """What `tweets-rejected` tells: by run the numbers that nobody stores. `unstored`, `unranked`: how many events the
    search consumer, or *trending*, has parked, by bucket, so that the other one has more. `complete`: retention took
    none."""

    numbers: Mapping[str, Numbers]
    unstored: Parked
    unranked: Parked
    complete: bool


class Streams(NamedTuple):
    """What the stream store tells: the positions, and what was rejected before they were reached; None as long as that
    is not all read."""

    positions: Positions
    rejected: Rejected | None


class Parts(NamedTuple):
    """The last reading of each; None where there is none that still tells something."""

    acknowledged: Reading[Acknowledged]
    streams: Reading[Streams] | None
    seen: Reading[Seen] | None
    shown: Reading[Shown | None] | None
    """None within: the rankings are being built anew."""
    index_rows: Reading[IndexRows] | None


class Began(NamedTuple):
    """What a round of the tweets' way into database and index begins with."""

    acknowledged: Mapping[str, int]
    rows: Rows | None
    shown: Shown | None


class Counted:
    """How many numbers of a run are accounted for, lost, and rejected; most runs have ended, and are counted once."""

    def __init__(self) -> None:
        self._tally, self._others = Tally(), Tally()
        self._of: tuple[int, int, int, int] | None = None
        self.accounted = self.lost = self.rejected = 0

    def update(self, acknowledged: int, through: int, account: Account, others: Numbers) -> None:
        """`through`: how many of those that are acknowledged a round has ended with; `others` are rejected."""
        of = acknowledged, through, account.version, others.size
        if self._of and account.version < self._of[2]:  # of another database, which may have less
            self._tally = Tally()
        if self._of != of:
            self._of, sets = of, (account.whole, account.blocks, others.blocks)
            self.lost = through - self._tally.below(through, *sets)
            self.accounted = self._tally.below(acknowledged, *sets)
            self.rejected = self._others.below(acknowledged, 0, others.blocks, {})


class LedgerKeeper:
    """Is shown the parts again and again, about once a second."""

    def __init__(self) -> None:
        self._storing = Rounds[Began](STORING)
        self._ranking = Rounds[Totals](RANKING)
        self._stored, self._due = History[Began](), History[Totals]()
        self._rankings = Rankings()
        self._ranked_once, self._shown_once = False, False
        self._indexed: Indexed | None = None
        self._counted: dict[str, Counted] = {}
        self._lost_before: dict[str, int] = {}

    def look(self, parts: Parts, now_us: int) -> Ledger:
        self._go_on(parts)
        self._compare(parts)
        acknowledged = sum(parts.acknowledged.value.counts.values())
        rejected = parts.streams.value.rejected if parts.streams else None
        accounted, lost = self._numbers(parts, rejected)
        enriched = row("enriched", acknowledged, accounted, lost, twice=0, repeated=_repeated(parts))
        stages = [enriched, self._ranked(parts, enriched, rejected), *self._stored_and_indexed(parts, enriched)]
        known, seen = enriched["accounted"] is not None, parts.seen.value.accounts.values() if parts.seen else None
        return {
            "state": state(stages), "as_of_us": now_us, "since_us": parts.acknowledged.value.since_us,
            "acknowledged": acknowledged, "stages": stages,
            "rejected": sum(one.rejected for one in self._counted.values()) if known else None,
            "late": None if seen is None else sum(one.late for one in seen),
            "aged_out": parts.index_rows.value.horizon - 1 if parts.index_rows else None,
        }

    def _go_on(self, parts: Parts) -> None:
        """Rounds go on while the stream store answers; one begins with what is known of the rest."""
        if parts.streams is None:
            return
        positions = Reading(parts.streams.value.positions, parts.streams.began, parts.streams.ended)
        known = [each for each in (parts.acknowledged, parts.seen, parts.shown) if each]
        at = max(each.ended for each in known)
        began = Began(parts.acknowledged.value.counts, parts.seen.value.rows if parts.seen else None,
                      parts.shown.value if parts.shown else None)
        if (stored := self._storing.look(positions, began, at)) is not None:
            self._stored.add(stored, positions.ended)
        if parts.seen is None:  # a round that begins without what is due would find that nothing is missing
            return
        due = {start: bucket.new for start, bucket in parts.seen.value.due.buckets.items()}
        if (ranked := self._ranking.look(positions, due, at)) is not None:
            self._due.add(ranked, positions.ended)

    def _compare(self, parts: Parts) -> None:
        """What rounds that have ended say of what was read afterwards."""
        if parts.shown and parts.shown.value and (due := self._due.at(parts.shown.began)) is not None:
            self._rankings.compare_due(due, parts.shown.value)
            self._ranked_once = True
        if parts.seen and (before := self._stored.at(parts.seen.began)) and before.shown:
            self._rankings.compare_shown(before.shown, parts.seen.value.due)
            self._shown_once = True
        if parts.index_rows and (settled := self._stored.at(parts.index_rows.began)) and settled.rows:
            self._indexed = compare(parts.index_rows.value, settled.rows)

    def _numbers(self, parts: Parts, rejected: Rejected | None) -> tuple[int | None, int | None]:
        """How many numbers are accounted for, and how many are lost."""
        if not parts.seen or not rejected:
            return None, None
        ended = self._stored.at(parts.seen.began)
        counts = parts.acknowledged.value.counts
        found = self._counted = {run: self._counted.get(run) or Counted() for run in counts}
        for run, acknowledged in counts.items():
            through = min(acknowledged, ended.acknowledged.get(run, 0)) if ended else 0
            account, others = parts.seen.value.accounts.get(run, NOTHING), rejected.numbers.get(run, NO_NUMBERS)
            found[run].update(acknowledged, through, account, others)
        lost = {run: one.lost for run, one in found.items() if one.lost}
        if rejected.complete:
            self._tell(lost)
        known = ended is not None and (rejected.complete or not lost)
        return sum(one.accounted for one in found.values()), sum(lost.values()) if known else None

    def _tell(self, lost: dict[str, int]) -> None:
        for run in lost.keys() | self._lost_before.keys():
            before, now = self._lost_before.get(run, 0), lost.get(run, 0)
            if now > before:
                log.error("%d tweets of run %s are lost: nobody has them, and all readers have passed them", now, run)
            elif now < before:
                log.warning("%d tweets of run %s that were called lost have come", before - now, run)
        self._lost_before = lost

    def _ranked(self, parts: Parts, enriched: Stage, rejected: Rejected | None) -> Stage:
        shown = parts.shown.value if parts.shown else None
        if not (parts.seen and shown and rejected and enriched["in_flight"] is not None):
            return ledger.unknown_stage("ranked")
        lost = self._rankings.lost(rejected.unranked) if self._ranked_once else None
        twice = self._rankings.twice(rejected.unstored) if self._shown_once else None
        waiting = enriched["in_flight"] + behind(parts.seen.value.due, shown)
        return later("ranked", parts, waiting, lost, twice)

    def _stored_and_indexed(self, parts: Parts, enriched: Stage) -> tuple[Stage, Stage]:
        waiting = enriched["in_flight"]
        if waiting is None or not parts.index_rows:
            return ledger.unknown_stage("stored"), ledger.unknown_stage("indexed")
        stored = later("stored", parts, waiting + parts.index_rows.value.gone, parts.index_rows.value.gone, 0)
        if not self._indexed:
            return stored, ledger.unknown_stage("indexed")
        lost, twice, not_there = self._indexed
        return stored, later("indexed", parts, waiting + not_there, lost, twice)


def row(name: StageName, acknowledged: int, accounted: int | None, lost: int | None, twice: int | None,
        repeated: int | None) -> Stage:
    in_flight = None if accounted is None else max(0, acknowledged - accounted - (lost or 0))
    return {"name": name, "accounted": accounted, "in_flight": in_flight, "lost": lost,
            "twice": None if accounted is None else twice, "repeated": repeated}


def later(name: StageName, parts: Parts, waiting: int, lost: int | None, twice: int | None) -> Stage:
    """A stage behind *enriched*; what was lost there is no business of it. `waiting`: what has not come, lost or not.

    Tweets that were not acknowledged yet are among it, for a moment.
    """
    acknowledged = sum(parts.acknowledged.value.counts.values())
    in_flight = min(max(0, waiting - (lost or 0)), acknowledged - min(acknowledged, lost or 0))
    return {"name": name, "accounted": max(0, acknowledged - in_flight - (lost or 0)), "in_flight": in_flight,
            "lost": lost, "twice": twice, "repeated": 0}


def _repeated(parts: Parts) -> int | None:
    return sum(one.repeated for one in parts.seen.value.accounts.values()) if parts.seen else None


def state(stages: list[Stage]) -> ledger.State:
    figures = [figure for stage in stages for figure in (stage["lost"], stage["twice"])]
    if any(figures):
        return "differs"
    return "unknown" if None in figures else "exact"
