"""What each stage should hold and what it holds, as counts. Pure: it is fed events and rows, it reads nothing.

A run's events are numbered without gaps, so that a stage is judged by the sequence numbers found in it: a number that
is not there is missing, a number that is there twice is a repeat. Repeats of a *tweet* (one id under several numbers,
or in several runs) are legitimate: they are already known and appear once in what a user sees.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from common.tweets import TOTAL, EnrichedTweet

Bucket = tuple[int, str]
"""(bucket_start in seconds, hashtag)"""


@dataclass
class Finding:
    """One stage. `expected` = found + already_known + missing; rows that aged out count as found."""

    expected: int = 0
    found: int = 0
    missing: int = 0
    duplicated: int = 0
    already_known: int = 0
    detail: dict[str, int] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        return not self.missing and not self.duplicated

    def as_json(self) -> dict[str, Any]:
        content = asdict(self)
        return {**content.pop("detail"), **content}

    def __add__(self, other: Finding) -> Finding:
        mine, others = asdict(self), asdict(other)
        detail = Counter(mine.pop("detail")) + Counter(others.pop("detail"))
        return Finding(**{name: mine[name] + others[name] for name in mine}, detail=dict(detail))


@dataclass
class RunLedger:
    """Occurrences of one run's events: seq → how often, per place."""

    acknowledged: int
    published: Counter[int] = field(default_factory=Counter)
    enriched: Counter[int] = field(default_factory=Counter)
    rejected: Counter[int] = field(default_factory=Counter)
    late: int = 0
    tweets: dict[int, int] = field(default_factory=dict)
    """seq → tweet id, of the enriched events"""

    def check_published(self) -> Finding:
        return self._by_seq(self.published)

    def check_enriched(self) -> Finding:
        finding = self._by_seq(self.enriched + self.rejected)
        finding.detail = {"rejected": len(self.rejected), "late": self.late}
        return finding

    def check_stored(self, seqs: Iterable[int], known: Collection[int], aged_out: bool) -> Finding:
        """`seqs`: of the run's rows; `known`: those of its tweet ids that are stored at all.

        `aged_out`: the database has reached its bound, so that rows that are gone have aged out.
        """
        stored = Counter(seqs)
        missing = [seq for seq in self._expected_tweets() if seq not in stored]
        repeats = sum(self.tweets[seq] in known for seq in missing)
        return self._rows(stored, len(missing) - repeats, repeats, aged_out)

    def check_indexed(self, rows: Mapping[int, int], aged_out: Collection[int]) -> Finding:
        """`rows`: tweet id → how many rows of the index; `aged_out`: tweets that are stored, but too old for it."""
        ids = Counter(self.tweets[seq] for seq in self._expected_tweets())
        absent = [tweet for tweet in ids if tweet not in rows]
        aged = sum(tweet in aged_out for tweet in absent)
        return Finding(
            expected=ids.total(),
            found=len(ids) - len(absent) + aged,
            missing=len(absent) - aged,
            duplicated=sum(rows.get(tweet, 1) - 1 for tweet in ids),
            already_known=ids.total() - len(ids),
            detail={"aged_out": aged} if aged else {},
        )

    def _expected_tweets(self) -> list[int]:
        return [seq for seq in self.tweets if seq < self.acknowledged]

    def _by_seq(self, occurrences: Counter[int]) -> Finding:
        found = sum(seq < self.acknowledged for seq in occurrences)
        return Finding(
            expected=self.acknowledged,
            found=found,
            missing=self.acknowledged - found,
            duplicated=occurrences.total() - len(occurrences),
        )

    def _rows(self, stored: Counter[int], missing: int, known: int, aged_out: bool) -> Finding:
        expected = len(self._expected_tweets())
        aged = missing if aged_out else 0
        return Finding(
            expected=expected,
            found=expected - missing - known + aged,
            missing=missing - aged,
            duplicated=stored.total() - len(stored),
            already_known=known,
            detail={"aged_out": aged} if aged else {},
        )


class RankingLedger:
    """What the buckets should hold, from `tweets-enriched` alone: every tweet that is not late counts once.

    A tweet id that came with several creation times (the same tweet, replayed twice as of now) counts in one of its
    buckets at least and in each of them at most, as repeats are dropped for the length of the watermark only.
    """

    def __init__(self) -> None:
        self._first: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._expected: Counter[Bucket] = Counter()
        self._optional: Counter[Bucket] = Counter()
        self._known: defaultdict[str, int] = defaultdict(int)
        self._buckets: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, tweet: EnrichedTweet, bucket_start: int) -> None:
        """Takes one event; `bucket_start` is the bucket of its `created_at`."""
        if tweet.late:
            return
        run, tags = tweet.ingest.run, (TOTAL, *tweet.hashtags)
        self._buckets[run].add(bucket_start)
        first = self._first.setdefault(tweet.tweet_id, (bucket_start, tags))
        if first[1] is tags:
            for tag in tags:
                self._expected[bucket_start, tag] += 1
            return
        self._known[run] += 1
        if first[0] != bucket_start:
            self._optional.update((bucket_start, tag) for tag in tags)
            self._optional.update((first[0], tag) for tag in first[1])

    def buckets(self) -> set[int]:
        """Every bucket_start in which a tweet should count."""
        return set().union(*self._buckets.values())

    def check(self, runs: Iterable[str], counts: Mapping[Bucket, int]) -> Finding:
        """Compares the buckets that `runs` touched with `counts`; hashtags are judged as strictly as totals."""
        names = set(runs)
        buckets = set().union(*(self._buckets[run] for run in names))
        known = sum(self._known[run] for run in names)
        totals = self._compare(buckets, counts, totals=True)
        hashtags = self._compare(buckets, counts, totals=False)
        return Finding(
            expected=totals.expected + known,
            found=totals.found,
            missing=totals.missing + hashtags.missing,
            duplicated=totals.duplicated + hashtags.duplicated,
            already_known=known,
            detail={"hashtags_expected": hashtags.expected, "hashtags_found": hashtags.found},
        )

    def _compare(self, buckets: set[int], counts: Mapping[Bucket, int], totals: bool) -> Finding:
        finding = Finding()
        for key in self._expected.keys() | counts.keys():
            if key[0] not in buckets or (key[1] == TOTAL) is not totals:
                continue
            expected, optional, found = self._expected[key], self._optional[key], counts.get(key, 0)
            finding.expected += expected
            finding.found += min(found, expected)
            finding.missing += max(0, expected - optional - found)
            finding.duplicated += max(0, found - expected - optional)
        return finding
