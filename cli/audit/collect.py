"""Reads every stage of an instance into ledgers: the four streams from their head, then Redis, database and index."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime

import orjson
import redis

from cli.audit.ledger import Bucket, Finding, RankingLedger, RunLedger
from common.search.index import Index
from common.search.store import Store
from common.settings import Settings
from common.tweets import BUCKET_SECONDS, ENRICHED, HASHTAG_COUNTS, RAW, REJECTED, enriched_tweet
from consumers.ranking import BUCKETS_KEPT_S
from ingest.manifest import Manifest
from middleware import connect
from middleware.base import Consumer, Start

POLL_EVENTS, POLL_S = 10_000, 0.1
QUIET_S = 0.8
"""How long no stream has anything when all is read."""

HEAD_BYTES = 1024
"""The stamp stands at the front of a raw event, so that its body need not be parsed."""


class Collector:
    """Follows the streams of an instance; each `drain` goes on where the last one ended."""

    def __init__(
        self, settings: Settings, manifests: dict[str, Manifest], consumers: dict[str, Consumer], start: Start
    ) -> None:
        """`start`: where the consumers begin; from the tail no earlier rows of the database are looked at either."""
        self._settings = settings
        self._consumers = consumers
        self.runs: dict[str, RunLedger] = {}
        self.follow(manifests)
        self.ranking = RankingLedger()
        self.counts: dict[Bucket, int] = {}
        self._store = Store.open(settings)
        self._since = self._store.newest_position() + 1 if start == "tail" else 1
        self._index = Index.open(settings)
        self._redis = redis.Redis.from_url(settings.redis_address, decode_responses=True)

    def follow(self, manifests: dict[str, Manifest]) -> None:
        """Counts these runs as well, from here on."""
        self.runs |= {run: RunLedger(manifest.acknowledged) for run, manifest in manifests.items()}

    def drain(self) -> None:
        """Reads the streams in turn until nothing comes from any."""
        readers: dict[str, Callable[[bytes], None]] = {
            RAW: self._published, ENRICHED: self._enriched, REJECTED: self._rejected, HASHTAG_COUNTS: self._counted,
        }
        heard = time.monotonic()
        while time.monotonic() - heard < QUIET_S:
            for stream, read in readers.items():
                # No stream is waited for while another has events.
                while events := self._consumers[stream].poll(POLL_EVENTS, timeout=0):
                    for event in events:
                        read(event)
                    heard = time.monotonic()
            time.sleep(POLL_S)

    def check(self) -> dict[str, Finding]:
        """The five stages, summed over the runs."""
        rows, horizon = Counter(self._index.ids()), self._index.horizon(self._store.newest_position())
        stages: dict[str, Finding] = {name: Finding() for name in ("published", "enriched")}
        stages["ranked"] = self.ranking.check(self.runs, self._visible_counts())
        stages |= {"stored": Finding(), "indexed": Finding()}
        for run, ledger in self.runs.items():
            stages["published"] += ledger.check_published()
            stages["enriched"] += ledger.check_enriched()
            stored = self._store.run_rows(run, self._since)
            positions = {tweet: position for tweet, _, position in stored}
            positions |= self._store.positions(set(ledger.tweets.values()) - positions.keys())
            aged_out = {tweet for tweet, position in positions.items() if position < horizon}
            seqs = [seq for _, seq, _ in stored]
            stages["stored"] += ledger.check_stored(seqs, positions, self._store.is_full())
            stages["indexed"] += ledger.check_indexed(rows, aged_out)
        return stages

    def _published(self, event: bytes) -> None:
        stamp = _stamp(event)
        if stamp and (ledger := self.runs.get(stamp["run"])):
            ledger.published[stamp["seq"]] += 1

    def _enriched(self, event: bytes) -> None:
        tweet = enriched_tweet(event)
        created = datetime.fromisoformat(tweet.created_at).timestamp()
        self.ranking.add(tweet, int(created) // BUCKET_SECONDS * BUCKET_SECONDS)
        if ledger := self.runs.get(tweet.ingest.run):
            seq = tweet.ingest.seq
            ledger.enriched[seq] += 1
            ledger.tweets[seq] = tweet.tweet_id
            ledger.late += tweet.late

    def _rejected(self, event: bytes) -> None:
        stamp = orjson.loads(event)["ingest"]
        if stamp and (ledger := self.runs.get(stamp["run"])):
            ledger.rejected[stamp["seq"]] += 1

    def _counted(self, event: bytes) -> None:
        count = orjson.loads(event)
        key = (count["bucket_start"], count["hashtag"])
        self.counts[key] = max(self.counts.get(key, 0), count["count"])

    def _visible_counts(self) -> dict[Bucket, int]:
        """Counts as Redis shows them; older buckets, which Redis has let go, as the stream holds them."""
        horizon = time.time() - BUCKETS_KEPT_S + 60
        visible = {key: count for key, count in self.counts.items() if key[0] < horizon}
        for start in (start for start in self.ranking.buckets() if start >= horizon):
            bucket = self._redis.hgetall(f"{self._settings.redis_prefix}bucket:{start}")
            visible |= {(start, str(tag)): int(count) for tag, count in bucket.items()}
        return visible


def _stamp(event: bytes) -> dict | None:
    """The `ingest` object of a raw event; None if it has none."""
    start = event.find(b'{"ingest":')
    end = event.find(b"}", 0, HEAD_BYTES)
    try:
        if start == 0 and end > 0:
            return orjson.loads(event[len(b'{"ingest":'):end + 1])
        return orjson.loads(event)["ingest"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


@contextmanager
def collecting(settings: Settings, manifests: dict[str, Manifest], start: Start = "head") -> Iterator[Collector]:
    """A collector whose consumer groups exist only as long as it is used."""
    group = f"audit-{uuid.uuid4().hex[:12]}"
    with ExitStack() as stack:
        middleware = stack.enter_context(connect(settings))
        consumers = {}
        for stream in (RAW, ENRICHED, REJECTED, HASHTAG_COUNTS):
            stack.callback(middleware.forget_group, stream, group)
            consumers[stream] = stack.enter_context(middleware.consumer(stream, group, start=start))
        yield Collector(settings, manifests, consumers, start)
