"""What the audit holds in memory does not grow with what ended runs left behind."""

from __future__ import annotations

import gc
import time
import tracemalloc
import types
from typing import Any

import pytest

from audit.bounded_reader import TooLate
from common.tweets import BUCKET_SECONDS, ENRICHED, HASHTAG_COUNTS, EnrichedTweet, to_json
from middleware.data import Consumer
from middleware.driver import Middleware
from tests.audit.chain import Chain, Rankings, counted, missing

HASHTAGS = 20
APART = (types.ModuleType, types.FunctionType, type, Middleware, Consumer, Rankings)


def entries(*roots: Any) -> int:
    """Of all dictionaries, lists and sets that belong to these objects; what servers and clients hold is theirs."""
    seen, left, count = set(), list(roots), 0
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, APART):
            continue
        seen.add(id(one))
        count += len(one) if isinstance(one, dict | list | set) else 0
        left += gc.get_referents(one)
    return count


def tweeted(chain: Chain, buckets: int) -> None:
    """In each bucket a tweet whose hashtags no other has, counted in the rankings and in `hashtag-counts`."""
    first_s = chain.now_s
    for number in range(buckets):
        chain.now_s = first_s - number * BUCKET_SECONDS
        start = chain.now_s // BUCKET_SECONDS * BUCKET_SECONDS
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(chain.now_s))
        tweets = [EnrichedTweet(1000 + each.seq, at, False, [f"{number}-{n}" for n in range(HASHTAGS)], each, "7", "en",
                                "x", "x") for each in chain.publish("ended", 1)]
        chain.send(ENRICHED, [("", to_json(tweet)) for tweet in tweets])
        chain.rank(tweets)
        chain.search(tweets)
        chain.send(HASHTAG_COUNTS, [(tag, counted(start, tag, count))
                                    for tag, count in chain.rankings.buckets[start].items()])


@pytest.mark.parametrize("ago_s", [0, 7 * 86_400])
def test_hashtags_of_buckets_are_not_held(chain: Chain, ago_s: int) -> None:
    """Whether Redis still has the buckets or only the stream does."""
    chain.now_s -= ago_s
    held = []
    for buckets in (100, 200):
        tweeted(chain, buckets)
        with chain.audit() as collector:
            collector.follow(chain.manifests)
            stages = collector.round(time.monotonic() + 600)
            held.append(entries(collector))
        assert all(finding.clean for finding in stages.values()), stages
        assert stages["ranked"].detail["hashtags_found"] == HASHTAGS * chain.manifests["ended"].acknowledged
    assert held[1] - held[0] < 200 * HASHTAGS / 4, held


def test_the_rankings_are_compared_by_the_deadline(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    tweeted(chain, 10)
    with chain.audit() as collector:
        collector.follow(chain.manifests)
        until = time.monotonic() + 600
        reads = collector._rows.fetch

        def late() -> None:
            """After the streams were read, and before the rankings are compared."""
            nonlocal fetched
            fetched += 1
            if fetched == 2:
                monkeypatch.setattr(time, "monotonic", lambda: until + 1)
            reads()

        fetched = 0
        monkeypatch.setattr(collector._rows, "fetch", late)
        with pytest.raises(TooLate, match="rankings"):
            collector.round(until)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_memory_does_not_grow_with_the_tweets_of_ended_runs(chain: Chain) -> None:
    """What is left grows with runs, buckets and bounds. (The middleware of the test itself copies 8 bytes an event, and
    garbage is collected when it is; an entry of a dictionary for each would be well over a hundred.)"""
    def peak() -> int:
        gc.collect()
        tracemalloc.start()
        try:
            assert not missing(chain.stages())
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peaks, held, many = [], 0, 300_000
    for count in (20_000, 20_000, many):  # the first time modules and caches are loaded
        for _ in range(held, count, 10_000):
            chain.through(chain.publish("ended", 10_000))
        held = count
        peaks.append(peak())
    assert peaks[2] - peaks[1] < 0.1 * peaks[1] + 40 * many, peaks
