"""What the buckets of the rankings should hold, and what they hold. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cli.audit.ledger import Finding
from common.tweets import TOTAL

Bucket = tuple[int, str]
"""(bucket_start in seconds, hashtag)"""

Tags = tuple[str, ...]
Counts = Mapping[Bucket, int]


class RankingLedger:
    """What the buckets should hold, from `tweets-enriched` alone: every tweet that is not late counts once.

    A tweet id that came with several creation times (the same tweet, replayed twice as of now) counts in one of its
    buckets at least and in each of them at most, as repeats are dropped for the length of the watermark only.
    """

    def __init__(self) -> None:
        self.expected: Counter[Bucket] = Counter()
        self._optional: Counter[Bucket] = Counter()
        self._known: defaultdict[str, int] = defaultdict(int)
        self._buckets: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, run: str, bucket: int, tags: Tags) -> None:
        """Takes the first event of a tweet."""
        self._buckets[run].add(bucket)
        for tag in (TOTAL, *tags):
            self.expected[bucket, tag] += 1

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
            self.expected[bucket, tag] -= 1
            self._optional[bucket, tag] += 1

    def buckets(self) -> set[int]:
        """Every bucket_start in which a tweet should count."""
        return set().union(*self._buckets.values())

    def check(self, runs: Iterable[str], counts: Counts, before: Counts, aged: Iterable[int] = (),
              cut: float = float("-inf"), lost: Sequence[tuple[int, int]] = ()) -> Finding:
        """Compares the buckets that `runs` touched with `counts`; hashtags are judged as strictly as totals.

        `before`: what was expected before the counts were read, which is what must be in them; what may be in them is
        what is expected now. `aged`: buckets that nobody holds any more. Of buckets up to `cut` some tweets are not in
        the stream any more, so that no count is too high. `lost`: (first, last) of the buckets whose counts may be too
        low, because retention overtook who counts: those that are judged are named, as what the query for rankings
        never read is not in the stream either.
        """
        names = set(runs)
        buckets = set().union(*(self._buckets[run] for run in names))
        known, gone = sum(self._known[run] for run in names), buckets.intersection(aged)
        totals, hashtags = Finding(), Finding()
        for key in self.expected.keys() | counts.keys():
            if key[0] not in buckets:
                continue
            finding = totals if key[1] == TOTAL else hashtags
            due, found = before.get(key, 0), counts.get(key, 0)
            finding.expected += due
            optional = self._optional[key]
            short = max(0, due - optional - found)
            if any(first <= key[0] <= last for first, last in lost):
                finding.lost_to_retention += short
                finding.expected -= short
            elif key[0] in gone:
                finding.aged_out += due
                continue
            else:
                finding.missing += short
            finding.duplicated += max(0, found - self.expected[key] - optional) if key[0] > cut else 0
        return Finding(
            expected=totals.expected + known,
            found=totals.expected - totals.missing,
            missing=totals.missing + hashtags.missing,
            duplicated=totals.duplicated + hashtags.duplicated,
            already_known=known,
            aged_out=totals.aged_out,
            lost_to_retention=totals.lost_to_retention,
            lost_buckets=[each for each in lost if any(each[0] <= start <= each[1] for start in buckets)],
            detail={"hashtags_expected": hashtags.expected, "hashtags_found": hashtags.expected - hashtags.missing},
        )
