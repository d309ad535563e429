"""The queries on Spark itself, fed from files: each file is one micro-batch, each line one event."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import DataFrame, SparkSession

from common.tweets import (
    ENRICHED,
    HASHTAG_COUNTS,
    REJECTED,
    REJECTED_EVENT_BYTES,
    SLOT_US,
    TOTAL,
    RejectedEvent,
    SlotCount,
    enriched_tweet,
    hashtag_count,
)
from spark_jobs import transforms
from spark_jobs.accept_or_reject import Rules
from spark_jobs.tally import Tally
from tests import contract

LATENESS, FUTURE, SLACK = 600, 120, 180
RULES = Rules(1 << 20, LATENESS, FUTURE, 100)
DELAY_S = transforms.watermark_delay_s(LATENESS, FUTURE, SLACK)
START = int(time.time()) // 60 * 60
"""When the events of these tests were sent, in seconds; stamps must not be ahead of the clock."""

DATA = Path(__file__).parents[1] / "data"
Counts = dict[tuple[int, str], int]


class Feed:
    """A folder that Spark reads as a stream, one file per batch, and a checkpoint beside it."""

    def __init__(self, spark: SparkSession, folder: Path, shards: int = 1) -> None:
        self.spark, self.checkpoint, self.input, self.shards = spark, folder / "checkpoint", folder / "input", shards
        self.input.mkdir()
        self.slots: dict[tuple[int, int], int] = {}
        self._parts: dict[tuple[tuple[int, str], int], int] = {}
        self._slots: dict[tuple[tuple[int, int], int], int] = {}
        self.seen_shards: set[int] = set()
        self.parked: list[dict[str, Any]] = []
        self.counters = transforms.TrendingCounters.of(spark)
        self._numbers = count(1)

    def add(self, *batches: Iterable[bytes]) -> None:
        for batch in batches:
            number = next(self._numbers)
            file = self.input / f"{number:03}"
            file.write_bytes(b"".join(event + b"\n" for event in batch))
            os.utime(file, (number, number))  # Spark reads the oldest first

    def events(self) -> DataFrame:
        """Each at an offset that is its length, of partition 7."""
        lines = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.input))
        return lines.selectExpr("cast(value as binary) as event", "7 as partition", "length(value) as offset")

    def rows(self) -> list[dict[str, Any]]:
        """Runs *trending* over what has not been read yet; the rows of all batches."""
        emitted: list[dict[str, Any]] = []
        self.spark.conf.set("spark.sql.shuffle.partitions", self.shards)
        query = (
            transforms.count_hashtags(self.events(), DELAY_S, self.counters, self.shards)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(self.checkpoint))
            .foreachBatch(lambda rows, _: emitted.extend(row.asDict() for row in rows.collect()))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return emitted

    def counts(self) -> Counts:
        """Runs *trending* over what has not been read yet; the counts of what its batches told of, which must only
        grow, the shards added up.

        `slots` of the feed then holds those of slots of `sent_at_us`, by bucket and slot.
        """
        told: set[tuple[int, str]] = set()
        for row in self.rows():
            event = json.loads(row["event"])
            if row["stream"] == REJECTED:
                assert contract.differences(REJECTED, row["event"]) == []
                assert row["key"] == event["position"]
                self.parked.append(event)
                continue
            assert (row["key"], row["stream"]) == (event.get("hashtag", TOTAL), HASHTAG_COUNTS)
            assert contract.differences(HASHTAG_COUNTS, row["event"]) == []
            count = hashtag_count(row["event"])
            assert count.min_sent_us <= count.max_sent_us
            assert count.shards == self.shards
            counts, place = self._parts, (count.bucket_start, row["key"])
            if isinstance(count, SlotCount):
                assert count.min_sent_us // SLOT_US == count.max_sent_us // SLOT_US
                counts, place = self._slots, (count.bucket_start, count.min_sent_us // SLOT_US)
            else:
                told.add(place)
            assert count.count > counts.get((place, count.shard), 0)
            counts[place, count.shard] = count.count
        self.seen_shards = {shard for _, shard in self._parts}
        self.slots = summed(self._slots)
        return {place: number for place, number in summed(self._parts).items() if place in told}


def summed(counts: Mapping[tuple[Any, int], int]) -> dict[Any, int]:
    """place → count of all shards, from (place, shard) → count."""
    found: Counter[Any] = Counter()
    for (place, _), number in counts.items():
        found[place] += number
    return dict(found)


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Feed:
    """With one shard, or as many as the test's parameter tells."""
    return Feed(spark, tmp_path, getattr(request, "param", 1))


SHARDS = pytest.mark.parametrize("feed", [1, 3], indirect=True)


def rfc3339(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tweet(
    tweet_id: int, sent: float = 0, created: float | None = None, tags: Sequence[str] = (), late: bool = False
) -> bytes:
    """An event of `tweets-enriched`; times in seconds after START, `created` being `sent` unless given."""
    created_at = rfc3339(START + (sent if created is None else created))
    ingest = {"sent_at_us": int((START + sent) * 1e6), "source": "test", "run": "r", "seq": tweet_id}
    return json.dumps({"tweet_id": tweet_id, "created_at": created_at, "late": late, "hashtags": tags,
                       "ingest": ingest, "author_id": "1", "lang": "en", "text": "", "clean_text": ""}).encode()


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


def tally(rows: Sequence[Any]) -> Tally:
    """Of all rows together."""
    summed = Tally()
    for row in rows:
        if row.tally:
            summed.add(Tally.from_json(row.tally))
    return summed


@SHARDS
def test_300_tweets_are_enriched_and_counted_exactly(spark: SparkSession, feed: Feed):
    lines = (DATA / "tweets.jsonl").read_text().splitlines()
    rows = enriched(spark, raw_events(lines))
    assert [row.stream for row in rows] == [ENRICHED] * 300
    assert {row.key for row in rows} == {json.loads(line)["data"]["id"] for line in lines}
    assert not tally(rows).counts["late"]
    events = [bytes(row.event) for row in rows]
    feed.add(events[:100], events[100:])
    assert totals(feed.counts()) == independent_count(lines)
    assert feed.seen_shards == set(range(feed.shards))


def test_each_event_yields_one_row_and_bad_ones_stop_nothing(spark: SparkSession):
    good = raw_events((DATA / "tweets.jsonl").read_text().splitlines()[:3])
    bad = [b"", b"\xff", b"{", b"[]", b"{}", good[0].replace(b'"id"', b'"di"')]
    rows = enriched(spark, [good[0], *bad, *good[1:]])
    assert Counter(row.stream for row in rows) == {ENRICHED: 3, REJECTED: len(bad)}
    assert tally(rows).counts["bytes"] == sum(map(len, good + bad))
    assert tally(rows).instants.total() == len(rows) - tally(rows).counts["unstamped"]


def test_a_tweet_dated_2030_leaves_all_counts_exact(spark: SparkSession, feed: Feed):
    lines = (DATA / "tweets.jsonl").read_text().splitlines()[:30]
    events = raw_events(lines)
    ahead = json.loads(events[0])
    ahead["data"]["created_at"] = "2030-01-01T00:00:00Z"
    rows = enriched(spark, [*events[:15], json.dumps(ahead).encode(), *events[15:]])
    assert Counter(row.stream for row in rows) == {ENRICHED: 30, REJECTED: 1}
    assert tally(rows).counts["rejected_future"] == 1
    events = [bytes(row.event) for row in rows if row.stream == ENRICHED]
    feed.add(events[:10], events[10:20], events[20:])
    assert totals(feed.counts()) == independent_count(lines)


@SHARDS
def test_repeats_count_once_within_a_batch_across_batches_and_across_a_restart(feed: Feed):
    first, third = tweet(1, tags=["a"]), tweet(3, 1, tags=["a", "a"])
    feed.add([first, first, tweet(2)], [first, third])
    assert feed.counts() == {(START, TOTAL): 3, (START, "a"): 2}
    feed.add([third, tweet(2), tweet(4, 2, tags=["a"])])
    assert feed.counts() == {(START, TOTAL): 4, (START, "a"): 3}


@SHARDS
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


@SHARDS
def test_an_id_that_comes_with_several_dates_counts_once_in_each_of_their_buckets(feed: Feed):
    """In the same batch and in another one, in the same bucket and in others."""
    feed.add([tweet(1, 0), tweet(1, 0, 1)], [tweet(1, 0, 2), tweet(1, 60)])
    feed.add([tweet(1, 0, -60), tweet(1, 0), tweet(1, 60)])
    assert feed.counts() == {(START, TOTAL): 1, (START - 60, TOTAL): 1, (START + 60, TOTAL): 1}


@SHARDS
def test_each_of_many_ids_is_remembered(feed: Feed):
    """Thousands that are alike but for their lower bits, and some of which the lower or upper ones are 0 or 1 only."""
    ids = [*range(3000), *(n << 31 for n in range(1, 100)), *((n << 32) - 1 for n in range(1, 100)), (1 << 63) - 1]
    events = [tweet(n) for n in ids]
    feed.add(events[::2], events[1::3], events, reversed(events))
    assert feed.counts() == {(START, TOTAL): len(ids)}


@SHARDS
def test_ids_are_known_until_the_watermark_has_passed_their_bucket(feed: Feed):
    """A repeat above the watermark is known although the watermark is within its bucket; then it is behind."""
    first = tweet(1, 0, 4)
    feed.add([first], [tweet(2, DELAY_S + 3)], [first, tweet(3, DELAY_S + 5)], [tweet(4, DELAY_S + 6)], [first])
    assert feed.counts() == {(START, TOTAL): 1, (START + DELAY_S - 1, TOTAL): 1, (START + DELAY_S + 4, TOTAL): 2}
    assert feed.counters.behind_watermark.value() == 1


def test_hashtags_of_any_characters_are_counted_under_their_names(feed: Feed):
    tags = ['"', "\\", "a\nb", "\x00", "türkiye", "日本", "😀", "x" * 70_000]
    feed.add([tweet(1, tags=tags)], [tweet(2, tags=[*tags, *tags])])
    assert feed.counts() == {(START, tag): 2 for tag in (TOTAL, *tags)}


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


@SHARDS
def test_unreadable_events_are_parked_and_hold_nothing_up(feed: Feed):
    good = json.loads(tweet(1))
    wrong = [{"tweet_id": "1"}, {"tweet_id": None}, {"tweet_id": 1 << 63}, {"tweet_id": 1.5}, {"created_at": "today"},
             {"created_at": "2026-02-30T00:00:00.000Z"}, {"created_at": "+999999999-01-01T00:00:00Z"},
             {"created_at": 1}, {"hashtags": "a"}, {"hashtags": [1]}, {"late": None}, {"late": "no"}, {"ingest": 1},
             {"ingest": {"sent_at_us": "1"}}, {"ingest": {"sent_at_us": -1}}, {"ingest": {"sent_at_us": 1 << 53}},
             {"ingest": {}}, {"ingest": None}]  # fmt: skip
    events = [json.dumps({**good, "tweet_id": n, **fields}).encode() for n, fields in enumerate(wrong, 2)]
    events += [b"no json", b'{"late": false}', b"[]", b"", tweet(9)[:-1], tweet(9)[:40], b"[" * 100_000]
    feed.add([events[0], tweet(1), *events[1:]], [tweet(3, late=True), tweet(2)])
    assert feed.counts() == {(START, TOTAL): 2}
    assert {(event["sha256"], base64.b64decode(event["event"])) for event in feed.parked} == {
        (hashlib.sha256(event).hexdigest(), event[:REJECTED_EVENT_BYTES]) for event in events
    }
    assert feed.counters.parked.value() == len(feed.parked) == len(events)


def test_a_parked_event_is_of_the_contract_and_tells_where_it_stands(feed: Feed):
    feed.add([b"no json"])
    assert feed.counts() == {}
    (event,) = feed.parked
    assert msgspec.convert(event, RejectedEvent, strict=True).event == base64.b64encode(b"no json").decode()
    at = datetime.fromisoformat(event.pop("rejected_at"))
    assert abs(time.time() - at.timestamp()) < 3600
    assert event == {
        "reason": "unreadable", "event": "bm8ganNvbg==", "bytes": 7, "sha256": hashlib.sha256(b"no json").hexdigest(),
        "ingest": None, "stage": "trending", "position": f"{ENRICHED}/7/7",
    }  # fmt: skip


def test_a_parked_event_that_python_reads_bears_its_stamp(feed: Feed):
    """So that the audit does not expect it in the rankings: a date without a zone is one of Python's only."""
    odd = json.loads(tweet(1, tags=["ü"]))
    odd |= {"created_at": odd["created_at"].removesuffix("Z")}
    feed.add([json.dumps(odd).encode()])
    assert feed.counts() == {}
    (event,) = feed.parked
    assert event["ingest"] == odd["ingest"]
    assert msgspec.convert(event, RejectedEvent, strict=True).ingest == enriched_tweet(json.dumps(odd).encode()).ingest


def test_a_clock_that_is_set_back_is_seen_in_the_count_of_what_is_behind(feed: Feed):
    """By 20 minutes: more than the watermark waits, so nothing is ranked until the clock is where it was before."""
    back = -20 * 60
    feed.add([tweet(1), tweet(2)], [tweet(3)], [tweet(n, back + n) for n in range(4, 14)], [tweet(14, 1)])
    assert feed.counts() == {(START, TOTAL): 4}
    assert feed.counters.behind_watermark.value() == 10


def test_the_order_of_fields_does_not_matter(feed: Feed):
    event = json.loads(tweet(1, tags=["a"]))
    backwards = json.dumps(dict(reversed(event.items()))).encode()
    feed.add([backwards])
    assert totals(feed.counts()) == {TOTAL: 1, "a": 1}


def test_a_batch_without_any_tweet_is_no_obstacle(feed: Feed):
    feed.add([b"no json"], [tweet(1)], [b"no json"], [tweet(1), tweet(2)])
    assert feed.counts() == {(START, TOTAL): 2}
