"""Reads every stage of an instance into ledgers: the four streams to ends that were fixed, Redis, both stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime

import redis

from audit.bounded_reader import BoundedReader, latest, reading
from audit.events import stamp_of
from audit.ledgers.ranking import RankingLedger
from audit.ledgers.run import Cuts, Finding, RunLedger
from audit.ledgers.scratch import Pending, Scratch, Seen
from audit.ranking_counts import RankingCounts
from audit.stored_rows import Rows
from common.settings import Settings
from common.storage.lost import Lost, read_lost
from common.tweets import (
    BUCKET_SECONDS,
    ENRICHED,
    HASHTAG_COUNTS,
    RAW,
    REFUSALS,
    REJECTED,
    Ingest,
    Reader,
    RejectedEvent,
    enriched_tweet,
    rejected_event,
)
from ingest.manifest import Manifest
from middleware.data import Start
from middleware.registry import connect
from search.index import Index
from search.store import Store

COUNTING: tuple[Reader, ...] = ("trending", "trending-consumer")
SEPARATOR = "\n"
"""Of the hashtags of a tweet, which hold no white space."""


class Collector:
    """Follows an instance; each round goes on where the last one ended."""

    def __init__(
        self, settings: Settings, readers: Mapping[str, BoundedReader], store: Store, index: Index,
        client: redis.Redis, start: Start, lost: list[Lost],
    ) -> None:
        """`start`: where the readers begin; from the tail no earlier rows of the database are looked at either."""
        self._settings, self._readers = settings, readers
        self._runs: dict[str, RunLedger] = {}
        self._numbered: list[RunLedger] = []
        self._lost = lost
        self._lost_buckets = [(each.first_seq, each.last_seq) for each in lost if each.reader in COUNTING]
        self._ranking = RankingLedger()
        self._counts = RankingCounts(settings, readers[HASHTAG_COUNTS], client, self._ranking)
        self._scratch = Scratch()
        self._rows = Rows(store, index, self._scratch, self._ledger, self._numbered, start)
        self._ordinal = 0
        self._unreadable: Counter[str] = Counter()
        self._parked: Counter[str] = Counter()
        """By reader, parked events whose run is not known."""

        self._parked_at: set[tuple[str, str]] = set()

    def follow(self, manifests: Mapping[str, Manifest]) -> None:
        """Judges what is acknowledged of these runs; before anything of them is read."""
        for run, manifest in manifests.items():
            ledger = self._ledger(run)
            ledger.judged, ledger.acknowledged = True, manifest.acknowledged
            ledger.began_us, ledger.ended_us = manifest.started_at_us, manifest.changed_at_us
        self._judged = [self._runs[run] for run in manifests]
        self._all_enriched = False
        self._published_end = self._readers[RAW].end()

    def round(self, until: float) -> dict[str, Finding]:
        """The five stages, summed over the runs that are judged. Raises TooLate at `until`, in monotonic seconds.

        What was acknowledged is in *tweets-raw* already, so that this is read to one end. What comes out of the stages
        is read to ends that are fixed anew; but once all of it is enriched, the rankings need not have what follows, or
        a source that goes on would always be ahead of them.
        """
        self._readers[RAW].read_to(self._published_end, self._published, until)
        self._rows.fetch()
        self._drain(REJECTED, self._rejected, until)
        if not self._all_enriched:
            self._drain(ENRICHED, self._settled, until)
            self._ranking.settle()
        self._counts.read(until)
        self._drain(ENRICHED, self._enriched, until)  # whatever is in the counts
        self._rows.fetch()
        stages = self._check(until)
        if not self._all_enriched and not stages["enriched"].missing:
            self._ranking.settle()  # what has come meanwhile may be the last of it
            self._all_enriched = True
        return stages

    def repeated(self) -> dict[str, int]:
        """By run, how many more enriched events there are than numbers."""
        return {ledger.run: ledger.repeats["enriched"] for ledger in self._judged}

    def close(self) -> None:
        self._scratch.close()
        self._ranking.close()

    def _check(self, until: float) -> dict[str, Finding]:
        cuts, names = self._cuts(), [ledger.run for ledger in self._judged]
        stages = {
            "published": _total(ledger.check_published(cuts) for ledger in self._judged),
            "enriched": _total(ledger.check_enriched(cuts) for ledger in self._judged),
            "ranked": self._ranking.check(
                names, until, horizon=self._counts.horizon, gone=self._counts.gone, cut=self._ranked_cut(),
                lost=self._lost_buckets, spans=[ledger.span() for ledger in self._judged]),
            **self._rows.check(self._judged),
        }
        for stage, readers in (("ranked", COUNTING), ("stored", ("search-consumer",)),
                               ("indexed", ("search-consumer",))):
            stages[stage].parked += sum(self._parked[reader] for reader in readers)
        stages["ranked"].parked += sum(
            len(seqs) for ledger in self._judged for reader, seqs in ledger.parked.items() if reader in COUNTING)
        for stage, unreadable in (("published", self._unreadable[RAW]), ("enriched", self._unreadable[ENRICHED]),
                                  ("ranked", self._counts.unreadable)):
            if unreadable:
                stages[stage].detail["unreadable"] = unreadable
        return stages

    def _drain(self, stream: str, take: Callable[[list[bytes], list[int]], None], until: float) -> None:
        reader = self._readers[stream]
        reader.read_to(reader.end(), take, until)

    def _ledger(self, run: str) -> RunLedger:
        """Runs that are not judged have one, too: their events and rows tell what aged out."""
        ledger = self._runs.get(run)
        if ledger is None:
            ledger = self._runs[run] = RunLedger(run, number=len(self._numbered))
            self._numbered.append(ledger)
            for lost in self._lost:
                if lost.run == run:
                    ledger.lose(lost)
        return ledger

    def _published(self, events: list[bytes], partitions: list[int]) -> None:
        for event, partition in zip(events, partitions, strict=True):
            stamp = stamp_of(event)
            if stamp is None:
                self._unreadable[RAW] += 1
                continue
            ledger = self._ledger(stamp.run)
            self._place(RAW, partition, ledger, stamp)
            if not ledger.published.add(stamp.seq):
                ledger.repeats["published"] += 1

    def _settled(self, events: list[bytes], partitions: list[int]) -> None:
        """Enriched tweets that must be in counts that are read afterwards."""
        self._enriched(events, partitions)
        self._ranking.settle()

    def _enriched(self, events: list[bytes], partitions: list[int]) -> None:
        seen: list[Seen] = []
        places: list[int] = []
        for event, partition in zip(events, partitions, strict=True):
            try:
                tweet = enriched_tweet(event)
                created = datetime.fromisoformat(tweet.created_at).timestamp()
            except REFUSALS:
                self._unreadable[ENRICHED] += 1
                continue
            stamp, late = tweet.ingest, tweet.late
            ledger = self._ledger(stamp.run)
            self._place(ENRICHED, partition, ledger, stamp)
            if not ledger.enriched.add(stamp.seq):
                ledger.repeats["enriched"] += 1
                continue
            ledger.late += late and stamp.seq < ledger.acknowledged
            bucket = None if late else int(created) // BUCKET_SECONDS * BUCKET_SECONDS
            tags = None if late else SEPARATOR.join(tweet.hashtags)
            self._ordinal += 1
            seen.append(Seen(tweet.tweet_id, self._ordinal, ledger.number, stamp.seq, bucket, tags))
            places.append(partition)
        self._account(seen, places)

    def _account(self, events: list[Seen], partitions: list[int]) -> None:
        """Expects enriched tweets in the rankings and in the database."""
        earlier = self._scratch.see(events)
        pending: list[Pending] = []
        for event, partition in zip(events, partitions, strict=True):
            first = earlier.get(event.tweet)
            if first and first.ordinal == event.ordinal:
                first = None
            ledger = self._numbered[event.run]
            if event.bucket is not None:
                self._rank(ledger, event, first, earlier)
            if ledger.is_given_up("search-consumer", event.seq):
                continue
            ledger.tweets += event.seq < ledger.acknowledged
            if event.seq in ledger.stored:
                self._rows.survived(partition, event.ordinal, event.tweet)
            elif event.seq < ledger.acknowledged or not ledger.judged:
                pending.append(Pending(event.ordinal, partition, event.run, event.seq, event.tweet,
                                       first.ordinal if first else None))
        self._scratch.wait_for(pending)

    def _rank(self, ledger: RunLedger, event: Seen, first: Seen | None, earlier: dict[int, Seen]) -> None:
        bucket, tags = _ranked(event)
        if first and first.bucket is not None:
            self._ranking.repeat(ledger.run, bucket, tags, *_ranked(first))
            return
        if first:  # those before it were late
            self._scratch.rank(event)
            earlier[event.tweet] = first._replace(bucket=event.bucket, tags=event.tags)
        self._ranking.add(ledger.run, bucket, tags)
        if any(ledger.is_given_up(reader, event.seq) for reader in COUNTING):
            self._ranking.pass_over(bucket, tags)

    def _rejected(self, events: list[bytes], partitions: list[int]) -> None:
        for event, partition in zip(events, partitions, strict=True):
            try:
                rejected = rejected_event(event)
            except REFUSALS:
                self._unreadable[REJECTED] += 1
                continue
            stamp = rejected.ingest
            ledger = self._ledger(stamp.run) if stamp else None
            if stamp and ledger:
                self._place(REJECTED, partition, ledger, stamp)
            if rejected.stage != "enrich":
                self._park(rejected, ledger)
            elif stamp and ledger:
                if ledger.enriched.add(stamp.seq):
                    ledger.rejected += stamp.seq < ledger.acknowledged
                else:
                    ledger.repeats["enriched"] += 1

    def _park(self, rejected: RejectedEvent, ledger: RunLedger | None) -> None:
        """A reader passed over this event, so nothing is expected of it behind that reader."""
        at = (rejected.stage, rejected.position)
        if at in self._parked_at:
            return
        self._parked_at.add(at)
        if ledger is None or rejected.ingest is None:
            self._parked[rejected.stage] += 1
            return
        seq = rejected.ingest.seq
        ledger.parked.setdefault(rejected.stage, set()).add(seq)
        if seq not in ledger.enriched:
            return
        if rejected.stage == "search-consumer":
            if self._scratch.forget(ledger.number, seq):
                ledger.tweets -= seq < ledger.acknowledged
        elif (seen := self._scratch.seen(ledger.number, seq)) and seen.bucket is not None:
            self._ranking.pass_over(*_ranked(seen))

    def _place(self, stream: str, partition: int, ledger: RunLedger, stamp: Ingest) -> None:
        """Notes when the event was sent, and whether it is the first of its run behind a cut."""
        ledger.sent.see(stamp.sent_at_us, stamp.seq)
        cut = self._readers[stream].cuts.get(partition)
        if cut is None:
            return
        if cut.since_us is None:
            cut.since_us = stamp.sent_at_us
        ledger.truncation(stream).see(partition, cut.number, stamp.seq)

    def _cuts(self) -> Cuts:
        return {stream: {partition: (cut.number, cut.since_us or 0) for partition, cut in reader.cuts.items()}
                for stream, reader in self._readers.items()}

    def _ranked_cut(self) -> float:
        """Buckets that begin later hold no tweet that retention took from *tweets-enriched*."""
        return latest(self._readers[ENRICHED].cuts.values()) + self._settings.future_tolerance_s


def _ranked(event: Seen) -> tuple[int, tuple[str, ...]]:
    assert event.bucket is not None
    return event.bucket, tuple(event.tags.split(SEPARATOR)) if event.tags else ()


def _total(findings: Iterable[Finding]) -> Finding:
    return sum(findings, Finding())


@contextmanager
def collecting(settings: Settings, start: Start = "head") -> Iterator[Collector]:
    """A collector whose consumer groups exist only as long as it is used."""
    with ExitStack() as stack:
        middleware = stack.enter_context(connect(settings))
        readers = reading(stack, middleware, start)
        store, index = Store.open(settings), Index.open(settings)
        stack.callback(index.close)
        stack.callback(store.close)
        client = stack.enter_context(redis.Redis.from_url(settings.redis_address, decode_responses=True))
        collector = Collector(settings, readers, store, index, client, start, read_lost(settings))
        stack.callback(collector.close)
        yield collector
