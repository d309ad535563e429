"""The stages of an instance in memory: streams, rankings and index; the database is a real one."""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import orjson

from audit.bounded_reader import reading
from audit.collect import Collector
from audit.ledgers.run import Finding
from common.settings import Settings
from common.storage.lost import read_lost
from common.tweets import (
    BUCKET_SECONDS,
    ENRICHED,
    RAW,
    REJECTED,
    STREAMS,
    TOTAL,
    BucketCount,
    EnrichedTweet,
    HashtagCount,
    Ingest,
    RejectedEvent,
    to_json,
)
from ingest.manifest import Manifest
from middleware.data import Start
from search.store import Store
from search.table import tweets
from tests.memory import Memory

ALL = ("published", "enriched", "ranked", "stored", "indexed")
LONG_AGO_S = 1_700_000_000


class Stamped(msgspec.Struct):
    ingest: Ingest


stamped = msgspec.json.Decoder(Stamped).decode


def counted(start: int, hashtag: str, count: int) -> bytes:
    """A row of `hashtag-counts`: of a hashtag, or of the whole bucket."""
    counts = start, BUCKET_SECONDS, 1, 0, count, 0, 0
    return to_json(HashtagCount(*counts, hashtag) if hashtag else BucketCount(*counts))


class Rankings:
    """What the audit asks of Redis."""

    def __init__(self) -> None:
        self.buckets: dict[int, Counter[str]] = {}
        self.kept_s: str | None = None
        self._asked: list[dict[str, str]] = []

    def pipeline(self, transaction: bool) -> Rankings:
        return self

    def __enter__(self) -> Rankings:
        return self

    def __exit__(self, *_: Any) -> None:
        self._asked = []

    def hgetall(self, key: str) -> None:
        counts = self.buckets.get(int(key.rpartition(":")[2]), {})
        self._asked.append({hashtag: str(count) for hashtag, count in counts.items()})

    def get(self, key: str) -> str | None:
        assert key.endswith("kept_s")
        return self.kept_s

    def execute(self) -> list[dict[str, str]]:
        return self._asked


class Ids:
    """What the audit asks of the index, which keeps the newest `max_rows`."""

    def __init__(self, max_rows: int) -> None:
        self.rows: list[int] = []
        self.max_rows = max_rows

    def ids(self) -> Iterator[int]:
        yield from self.rows

    def horizon(self, newest_position: int) -> int:
        return max(1, newest_position - self.max_rows + 1)


class Chain:
    """Events go through it stage by stage, as a test asks; `database_rows` and `index_rows` are the bounds."""

    def __init__(self, folder: Path, partitions: int = 1, database_rows: int = 1000, index_rows: int = 100) -> None:
        self.settings = Settings(home=folder, instance="chain")
        self.settings.state_dir.mkdir(parents=True, exist_ok=True)
        self.memory = Memory(self.settings)
        for stream in STREAMS:
            self.memory.admin.create_stream(stream, partitions)
        self.store = Store(f"sqlite:///{folder}/tweets.db", database_rows)
        self.index, self.rankings = Ids(index_rows), Rankings()
        self.manifests: dict[str, Manifest] = {}
        self.now_s = int(time.time())

    def publish(self, run: str, count: int) -> list[Ingest]:
        """Acknowledged events of `tweets-raw`."""
        manifest = self.manifests.setdefault(run, Manifest(run, "test", self._now_us(0)))
        stamps = [Ingest(self._now_us(seq), "test", run, seq)
                  for seq in range(manifest.acknowledged, manifest.acknowledged + count)]
        self.send(RAW, [(str(s.seq), orjson.dumps({"ingest": orjson.loads(to_json(s)), "data": {}})) for s in stamps])
        manifest.acknowledged += count
        return stamps

    def made(self, stamps: Iterable[Ingest], first_id: int = 1_000_000) -> list[EnrichedTweet]:
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.now_s))
        return [EnrichedTweet(first_id + s.seq, at, False, ["a"], s, "7", "en", "x", "x") for s in stamps]

    def enrich(self, stamps: Iterable[Ingest], first_id: int = 1_000_000) -> list[EnrichedTweet]:
        enriched = self.made(stamps, first_id)
        self.send(ENRICHED, [(str(t.ingest.seq), to_json(t)) for t in enriched])
        return enriched

    def rank(self, tweets: Iterable[EnrichedTweet]) -> None:
        bucket = self.rankings.buckets.setdefault(self.now_s // BUCKET_SECONDS * BUCKET_SECONDS, Counter())
        for tweet in tweets:
            bucket.update((TOTAL, *tweet.hashtags))

    def search(self, tweets: Iterable[EnrichedTweet]) -> None:
        """Stores and indexes them, one batch."""
        stored = self.store.insert(list(tweets))
        rows = [*self.index.rows, *(tweet for tweet in stored.positions if tweet in stored.new - stored.blank)]
        self.index.rows = [tweet for tweet in rows if tweet not in stored.forgotten][-self.index.max_rows :]

    def flow(self, run: str, count: int, first_id: int = 1_000_000) -> list[EnrichedTweet]:
        """All the way, in batches of 100, so that the bounds are kept."""
        tweets: list[EnrichedTweet] = []
        for start in range(0, count, 100):
            tweets += self.through(self.publish(run, min(100, count - start)), first_id)
        return tweets

    def through(self, stamps: Iterable[Ingest], first_id: int = 1_000_000) -> list[EnrichedTweet]:
        tweets = self.enrich(stamps, first_id)
        self.rank(tweets)
        self.search(tweets)
        return tweets

    def park(self, reader: Any, event: bytes, position: str) -> None:
        """As its readers do, in Python and in Java: with the stamp, where that can be read."""
        try:
            stamp = stamped(event).ingest
        except ValueError:
            stamp = None
        rejected = RejectedEvent("unreadable", base64.b64encode(event).decode(), len(event), "", stamp, "",
                                 stage=reader, position=position)
        self.send(REJECTED, [("", to_json(rejected))])

    def send(self, stream: str, events: Iterable[tuple[str, bytes]]) -> None:
        with self.memory.data.producer(stream) as producer:
            for key, event in events:
                producer.send(key, event)

    def delete_rows(self, where: str) -> None:
        with self.store._engine.begin() as connection:
            connection.exec_driver_sql(f"DELETE FROM tweets WHERE {where}")

    def repeat_row(self, run: str, seq: int) -> None:
        """The same event under another tweet id: the primary key itself forbids the same id twice."""
        columns = [column.name for column in tweets.c]
        changed = {"tweet_id": "5", "position": "(SELECT max(position) + 1 FROM tweets)"}
        values = ", ".join(changed.get(column, column) for column in columns)
        with self.store._engine.begin() as connection:
            connection.exec_driver_sql(f"INSERT INTO tweets SELECT {values} FROM tweets WHERE run = ? AND seq = ?",
                                       (run, seq))

    @contextmanager
    def audit(self, start: Start = "head") -> Iterator[Collector]:
        with ExitStack() as stack:
            readers = reading(stack, self.memory, start)
            collector = Collector(
                self.settings, readers, self.store, self.index, self.rankings, start,  # type: ignore[arg-type]
                read_lost(self.settings))
            stack.callback(collector.close)
            yield collector

    def stages(self, *runs: str) -> dict[str, Any]:
        """One round of an audit from the head."""
        with self.audit() as collector:
            collector.follow({run: self.manifests[run] for run in runs or self.manifests})
            return collector.round(time.monotonic() + 600)

    def _now_us(self, seq: int) -> int:
        return self.now_s * 1_000_000 + seq


def missing(stages: dict[str, Finding]) -> dict[str, int]:
    return {name: finding.missing for name, finding in stages.items() if finding.missing}


def check_sums(stages: dict[str, Finding]) -> None:
    for name, finding in stages.items():
        assert finding.expected == finding.found + finding.already_known + finding.missing, (name, finding)
