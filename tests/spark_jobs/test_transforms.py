"""The queries on Spark itself, fed from files: each file is one micro-batch, each line one event."""

from __future__ import annotations

import json
import os
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from common.tweets import BUCKET_SECONDS, ENRICHED, HASHTAG_COUNTS, REJECTED, SLOT_US, TOTAL
from spark_jobs import transforms
from spark_jobs.enrichment import Rules

LATENESS, FUTURE, SLACK = 600, 120, 180
RULES = Rules(1 << 20, LATENESS, FUTURE)
DELAY_S = transforms.watermark_delay_s(LATENESS, FUTURE, SLACK)
START = int(time.time()) // 60 * 60
"""When the events of these tests were sent, in seconds; stamps must not be ahead of the clock."""

DATA = Path(__file__).parents[1] / "data"
Counts = dict[tuple[int, str], int]


class Feed:
    """A folder that Spark reads as a stream, one file per batch, and a checkpoint beside it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.checkpoint, self.input = spark, folder / "checkpoint", folder / "input"
        self.input.mkdir()
        self.slots: Counts = {}
        self._numbers = count(1)

    def add(self, *batches: Iterable[bytes]) -> None:
        for batch in batches:
            number = next(self._numbers)
            file = self.input / f"{number:03}"
            file.write_bytes(b"".join(event + b"\n" for event in batch))
            os.utime(file, (number, number))  # Spark reads the oldest first

    def events(self) -> DataFrame:
        lines = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.input))
        return lines.selectExpr("cast(value as binary) as event")

    def counts(self) -> Counts:
        """Runs *trending* over what has not been read yet; the counts of all batches, which must only grow.

        `slots` of the feed then holds those of the totals that are of one slot of `sent_at_us`, by bucket and slot.
        """
        emitted: list[dict[str, Any]] = []
        query = (
            transforms.count_hashtags(self.events(), DELAY_S)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(self.checkpoint))
            .foreachBatch(lambda rows, _: emitted.extend(row.asDict() for row in rows.collect()))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        found: Counts = {}
        for row in emitted:
            event = json.loads(row["event"])
            assert (row["key"], row["stream"]) == (event["hashtag"], HASHTAG_COUNTS)
            assert event["bucket_seconds"] == BUCKET_SECONDS
            assert event["min_sent_us"] <= event["max_sent_us"]
            place = event["bucket_start"], event["hashtag"]
            slot = event["min_sent_us"] // SLOT_US
            if event["hashtag"] == TOTAL and event["max_sent_us"] // SLOT_US == slot:
                self.slots[event["bucket_start"], slot] = event["count"]
                found[place] = max(event["count"], found.get(place, 0))
                continue
            assert event["count"] > found.get(place, 0) or event["hashtag"] == TOTAL
            found[place] = event["count"]
        return found


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    return Feed(spark, tmp_path)


def rfc3339(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tweet(
    tweet_id: int, sent: float = 0, created: float | None = None, tags: Sequence[str] = (), late: bool = False
) -> bytes:
    """An event of `tweets-enriched`; times in seconds after START, `created` being `sent` unless given."""
    created_at = rfc3339(START + (sent if created is None else created))
    ingest = {"sent_at_us": int((START + sent) * 1e6), "source": "test", "run": "r", "seq": tweet_id}
    return json.dumps({"tweet_id": tweet_id, "created_at": created_at, "author_id": "1", "lang": "en", "text": "",
                       "clean_text": "", "hashtags": tags, "late": late, "ingest": ingest}).encode()


def totals(counts: Counts) -> Counter[str]:
    summed: Counter[str] = Counter()
    for (_, hashtag), number in counts.items():
        summed[hashtag] += number
    return summed


def raw_events(lines: Iterable[str]) -> list[bytes]:
    """The tweets of a file as events of `tweets-raw`, dated as `--timestamps now` does, ten a second."""
    events = []
    for seq, line in enumerate(lines):
        payload = json.loads(line)
        sent = START - 60 + seq / 10
        payload["data"]["created_at"] = rfc3339(sent)
        stamp = {"sent_at_us": int(sent * 1e6), "source": "replay", "run": "r", "seq": seq}
        events.append(json.dumps({"ingest": stamp, **payload}).encode())
    return events


def independent_count(lines: Iterable[str]) -> Counter[str]:
    """Tweets and, once per tweet, hashtags as X itself lists them; where it lists none, those of four known texts."""
    counted: Counter[str] = Counter()
    for line in lines:
        data = json.loads(line)["data"]
        listed = data.get("entities", {}).get("hashtags")
        words = [word.strip("?!,.") for word in data["text"].split() if word[0] in "#＃" and not word.endswith("…")]
        tags = [tag["tag"] for tag in listed] if listed is not None else words
        normal = {unicodedata.normalize("NFKC", tag).casefold().lstrip("#") for tag in tags}
        counted.update({tag for tag in normal if any(character.isalpha() for character in tag)} | {TOTAL})
    return counted


def enriched(spark: SparkSession, events: Sequence[bytes]) -> list[Any]:
    raw = spark.createDataFrame([(bytearray(event),) for event in events], "event binary")
    return transforms.enrich(raw.repartition(2), RULES).collect()


def test_300_tweets_are_enriched_and_counted_exactly(spark: SparkSession, feed: Feed):
    lines = (DATA / "tweets.jsonl").read_text().splitlines()
    rows = enriched(spark, raw_events(lines))
    assert [row.stream for row in rows] == [ENRICHED] * 300
    assert {row.key for row in rows} == {json.loads(line)["data"]["id"] for line in lines}
    assert not any(row.late or row.reason for row in rows)
    events = [bytes(row.event) for row in rows]
    feed.add(events[:100], events[100:])
    assert totals(feed.counts()) == independent_count(lines)


def test_each_event_yields_one_row_and_bad_ones_stop_nothing(spark: SparkSession):
    good = raw_events((DATA / "tweets.jsonl").read_text().splitlines()[:3])
    bad = [b"", b"\xff", b"{", b"[]", b"{}", good[0].replace(b'"id"', b'"di"')]
    rows = enriched(spark, [good[0], *bad, *good[1:]])
    assert Counter(row.stream for row in rows) == {ENRICHED: 3, REJECTED: len(bad)}
    assert sorted(row.bytes for row in rows) == sorted(map(len, good + bad))
    assert all(row.sent_at_us for row in rows if row.stream == ENRICHED)


def test_a_tweet_dated_2030_leaves_all_counts_exact(spark: SparkSession, feed: Feed):
    lines = (DATA / "tweets.jsonl").read_text().splitlines()[:30]
    events = raw_events(lines)
    ahead = json.loads(events[0])
    ahead["data"]["created_at"] = "2030-01-01T00:00:00Z"
    rows = enriched(spark, [*events[:15], json.dumps(ahead).encode(), *events[15:]])
    assert Counter(row.reason for row in rows) == {None: 30, "future": 1}
    events = [bytes(row.event) for row in rows if row.stream == ENRICHED]
    feed.add(events[:10], events[10:20], events[20:])
    assert totals(feed.counts()) == independent_count(lines)


def test_repeats_count_once_within_a_batch_across_batches_and_across_a_restart(feed: Feed):
    first, third = tweet(1, tags=["a"]), tweet(3, 1, tags=["a", "a"])
    feed.add([first, first, tweet(2)], [first, third])
    assert feed.counts() == {(START, TOTAL): 3, (START, "a"): 2}
    feed.add([third, tweet(2), tweet(4, 2, tags=["a"])])
    assert feed.counts() == {(START, TOTAL): 4, (START, "a"): 3}


def test_totals_are_counted_by_slot_of_their_sending_too(feed: Feed):
    """What was sent 50 ms apart over two batches: two tweets a slot, however they fall into batches."""
    events = [tweet(n, n * 0.05, created=0) for n in range(8)]
    feed.add(events[:3], [*events[3:], events[0]])
    assert feed.counts() == {(START, TOTAL): 8}
    first = START * 1_000_000 // SLOT_US
    assert feed.slots == {(START, first + slot): 2 for slot in range(4)}


def test_a_repeat_that_comes_long_after_is_not_counted_again(feed: Feed):
    hours, first = 3 * 3600, tweet(1, tags=["a"])
    feed.add([first], [tweet(2, hours)], [tweet(3, hours + 1)], [first, tweet(4, hours + 2)])
    assert feed.counts() == {(START, TOTAL): 1, (START, "a"): 1, (START + hours, TOTAL): 3}


def test_late_tweets_are_not_ranked(feed: Feed):
    feed.add([tweet(1, tags=["a"]), tweet(2, 0, -601, tags=["a"], late=True)])
    assert feed.counts() == {(START, TOTAL): 1, (START, "a"): 1}


def test_disorder_within_the_slack_loses_nothing(feed: Feed):
    """One partition is read SLACK ahead, with tweets dated as far ahead as enrich permits; the other brings the oldest
    that are not late."""
    first = tweet(1, 0, FUTURE)
    oldest = -SLACK - LATENESS
    feed.add([first], [tweet(2, 1)], [tweet(3, -SLACK, oldest, tags=["old"])], [tweet(4, -SLACK, oldest, tags=["old"])])
    assert feed.counts() == {
        (START + FUTURE, TOTAL): 1, (START, TOTAL): 1, (START + oldest, TOTAL): 2, (START + oldest, "old"): 2,
    }  # fmt: skip


def test_what_comes_beyond_the_slack_is_not_counted(feed: Feed):
    """The other side of the bound: Spark has forgotten the bucket, and must not count it from 0 again."""
    feed.add([tweet(1), tweet(2)], [tweet(3, DELAY_S)], [tweet(4, DELAY_S + 5)], [tweet(5, 0)])
    assert feed.counts() == {(START, TOTAL): 2, (START + DELAY_S - 1, TOTAL): 1, (START + DELAY_S + 4, TOTAL): 1}


def test_unreadable_events_are_passed_over(feed: Feed):
    feed.add([b"no json", b'{"late": false}', tweet(1)])
    assert feed.counts() == {(START, TOTAL): 1}
