"""What the buckets of the rankings should hold, and what they hold."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from audit.bounded_reader import TooLate
from audit.ledgers.run import Finding, Range
from audit.ledgers.tallies import Bucket, Counts, Parts, Tallies
from common.tweets import TOTAL

Tags = tuple[str, ...]


class RankingLedger:
    """What the buckets should hold, from `tweets-enriched` alone: every tweet that is not late counts once.

    A tweet id that came with several creation times (the same tweet, replayed twice as of now) counts in one of its
    buckets at least and in each of them at most, as repeats are dropped for the length of the watermark only.
    """

    def __init__(self) -> None:
        self._tallies = Tallies()
        self._due: Counter[Bucket] = Counter()
        self._optional: Counter[Bucket] = Counter()
        """What was taken since `settle`."""

        self._known: defaultdict[str, int] = defaultdict(int)
        self._buckets: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, run: str, bucket: int, tags: Tags) -> None:
        """Takes the first event of a tweet."""
        self._buckets[run].add(bucket)
        for tag in (TOTAL, *tags):
            self._due[bucket, tag] += 1

    def repeat(self, run: str, bucket: int, tags: Tags, first_bucket: int, first_tags: Tags) -> None:
        """Takes another event of a tweet, and where its first one counts."""
        self._buckets[run].add(bucket)
        self._known[run] += 1
        if first_bucket != bucket:
            self._optional.update((bucket, tag) for tag in (TOTAL, *tags))
            self._optional.update((first_bucket, tag) for tag in (TOTAL, *first_tags))

    def pass_over(self, bucket: int, tags: Tags) -> None:
        """What was added is not counted for sure: the reader gave the event up, or parked it."""
        for tag in (TOTAL, *tags):
            self._due[bucket, tag] -= 1
            self._optional[bucket, tag] += 1

    def settle(self) -> None:
        """What was taken so far must be in counts that are read from now on; what is taken later may be.

        To be called after every few thousand events as long as there is more to expect: what is not settled is held in
        memory, by bucket and hashtag.
        """
        self._tallies.expect(self._due, self._optional)
        self._due.clear()
        self._optional.clear()

    def streamed(self, counts: Parts) -> None:
        """Counts of `hashtag-counts`, of which the highest of each hashtag and shard holds."""
        self._tallies.streamed(counts)

    def forget_shown(self, since: float) -> None:
        """What Redis shows of the buckets that begin then or later is read anew."""
        self._tallies.forget_shown(since)

    def shown(self, counts: Counts) -> None:
        self._tallies.shown(counts)

    def buckets(self) -> set[int]:
        """Every bucket_start in which a tweet should count."""
        return set().union(*self._buckets.values())

    def check(self, runs: Iterable[str], until: float, *, horizon: float = float("-inf"), gone: float = float("-inf"),
              cut: float = float("-inf"), lost: Sequence[Range] = (), spans: Sequence[Range] = ()) -> Finding:
        """Compares the buckets that `runs` touched with their counts; hashtags are judged as strictly as totals.

        Raises TooLate at `until`, in monotonic seconds. From `horizon` on, buckets hold what was shown, and older ones
        what was streamed; those up to `gone` nobody holds any more. Of buckets up to `cut` some tweets are not in the
        stream any more, so that no count is too high. `lost`: (first, last) of the buckets whose counts may be too
        low, because retention overtook who counts: those that are judged are named, as what the query for rankings
        never read is not in the stream either. Those of which the stream may have nothing left are named if the runs
        were going on then: `spans` are the first and last bucket of each.
        """
        names = set(runs)
        buckets = sorted(set().union(*(self._buckets[run] for run in names)))
        known = sum(self._known[run] for run in names)
        totals, hashtags = Finding(), Finding()
        for start in buckets:
            if time.monotonic() > until:
                raise TooLate("the rankings could not be compared in time")
            is_lost = any(first <= start <= last for first, last in lost)
            for tag, due, optional, streamed, shown in self._tallies.of(start):
                finding = totals if tag == TOTAL else hashtags
                found = shown if start >= horizon else streamed
                optional += self._optional[start, tag]
                finding.expected += due
                short = max(0, due - optional - found)
                if is_lost:
                    finding.lost_to_retention += short
                    finding.expected -= short
                elif start <= gone:
                    finding.aged_out += due
                    continue
                else:
                    finding.missing += short
                most = due + self._due[start, tag] + optional
                finding.duplicated += max(0, found - most) if start > cut else 0
        return Finding(
            expected=totals.expected + known,
            found=totals.expected - totals.missing,
            missing=totals.missing + hashtags.missing,
            duplicated=totals.duplicated + hashtags.duplicated,
            already_known=known,
            aged_out=totals.aged_out,
            lost_to_retention=totals.lost_to_retention,
            lost_buckets=[(first, last) for first, last in lost
                          if any(first <= start <= last for start in buckets)
                          or any(first <= min(end, cut) and began <= min(last, cut) for began, end in spans)],
            detail={"hashtags_expected": hashtags.expected, "hashtags_found": hashtags.expected - hashtags.missing},
        )

    def close(self) -> None:
        self._tallies.close()
