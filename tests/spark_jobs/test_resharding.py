"""Another number of shards on existing state: exact, or not yet, with the way out."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from audit.ledgers.tallies import Tallies
from common.settings import Settings
from common.tweets import BUCKET_SECONDS, ENRICHED, TOTAL, SlotCount, hashtag_count
from middleware.checkpoint import Batch, last_planned
from middleware.errors import MiddlewareError
from spark_jobs import application
from spark_jobs.resharding import prepare, sent_until
from tests.memory import Memory
from tests.spark_jobs.test_transforms import START, Feed, tweet

SENT_S = START


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(Settings(home=tmp_path)) as memory:
        memory.admin.create_stream(ENRICHED, 2)
        with memory.data.producer(ENRICHED) as producer:
            for number in range(20):
                producer.send(str(number), tweet(number, sent=number))
        yield memory


def checkpoint(memory: Memory, shards: int, watermark_s: float) -> Path:
    """Of a query that has planned a batch, as Spark notes it."""
    folder = memory.settings.checkpoint_dir / "trending"
    (folder / "offsets").mkdir(parents=True)
    noted = {"batchWatermarkMs": int(watermark_s * 1000), "batchTimestampMs": 0,
             "conf": {"spark.sql.shuffle.partitions": str(shards)}}
    (folder / "offsets" / "9").write_text(f"v1\n{json.dumps(noted)}\n{{}}")
    return folder


def test_the_same_number_goes_on(memory: Memory) -> None:
    folder = checkpoint(memory, 2, 0)
    assert prepare(memory, "trending", 2) == 2
    assert (folder / "offsets" / "9").exists()


def test_without_state_there_is_nothing_to_change(memory: Memory) -> None:
    assert prepare(memory, "trending", 2) == 2
    assert not memory.settings.checkpoint_dir.exists()


@pytest.mark.parametrize("watermark_s", [0, SENT_S - 900], ids=["none yet", "before all"])
def test_another_number_begins_anew_where_the_stream_holds_all(memory: Memory, watermark_s: float) -> None:
    folder = checkpoint(memory, 1, watermark_s)
    left = folder.with_name("trending.before-5-shards")
    left.mkdir()
    assert prepare(memory, "trending", 2) == 2
    assert list(folder.parent.iterdir()) == []
    assert memory.log(ENRICHED).groups == {}


def test_what_retention_took_is_no_harm_once_its_buckets_are_done(memory: Memory) -> None:
    memory.truncate(ENRICHED, 3, partition=0)
    until = sent_until(memory)
    slack_s = memory.settings.watermark_slack_s + memory.settings.future_tolerance_s
    assert SENT_S < until < SENT_S + 20
    folder = checkpoint(memory, 1, until + slack_s + 2 * BUCKET_SECONDS)
    assert prepare(memory, "trending", 2) == 2
    assert not folder.exists()


@pytest.mark.parametrize(("watermark_s", "left", "why"), [
    (0, True, "no bucket is done yet"),
    (SENT_S - 900, True, r"tweets up to 1,\d\d\d s younger than the buckets that are done"),
    (SENT_S + 300, True, r"tweets up to \d s younger than the buckets that are done"),
    (SENT_S + 300, False, "nothing is left of a partition"),
], ids=["none yet", "before all", "after the last", "nothing left"])
def test_where_neither_count_would_be_whole_it_goes_on_with_the_old_number(
    memory: Memory, caplog: pytest.LogCaptureFixture, watermark_s: float, left: bool, why: str
) -> None:
    memory.truncate(ENRICHED, 3 if left else memory.log(ENRICHED).partitions[1].end, partition=1)
    folder = checkpoint(memory, 1, watermark_s)
    assert prepare(memory, "trending", 2) == 1
    (said,) = caplog.messages
    assert "goes on with 1" in said
    assert "MURMUR_TRENDING_SHARDS=1" in said
    assert re.search(why, said), said
    assert (folder / "offsets" / "9").exists()
    assert memory.log(ENRICHED).groups == {}


def test_what_the_stream_does_not_tell_in_time_changes_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_jobs.resharding.SILENCE_S", -1)
    memory.truncate(ENRICHED, 3, partition=1)
    folder = checkpoint(memory, 1, SENT_S + 3000)
    assert prepare(memory, "trending", 2) == 1
    assert (folder / "offsets" / "9").exists()


def test_no_query_runs_before_that_is_decided(spark: SparkSession, memory: Memory) -> None:
    """Or else a checkpoint that cannot be read would end *enrich* in the middle of a batch, at each start again."""
    (checkpoint(memory, 1, 0) / "offsets" / "9").write_text("v1\n{}\n{}")
    first, *_ = application.QUERIES
    with pytest.raises(MiddlewareError, match="does not tell of its batch"):
        first(spark, memory)


def test_a_partition_of_which_nothing_is_left_could_have_held_anything(memory: Memory) -> None:
    assert sent_until(memory) == -math.inf
    memory.truncate(ENRICHED, memory.log(ENRICHED).partitions[1].end, partition=1)
    assert sent_until(memory) == math.inf


class Counted:
    """What readers of `hashtag-counts` make of its rows."""

    def __init__(self) -> None:
        self._tallies, self._buckets = Tallies(), set[int]()

    def take(self, feed: Feed) -> None:
        for row in feed.rows():
            count = hashtag_count(row["event"])
            if not isinstance(count, SlotCount):
                self._buckets.add(count.bucket_start)
                self._tallies.streamed({(count.bucket_start, count.hashtag, count.shards, count.shard): count.count})

    def totals(self) -> Mapping[tuple[int, str], int]:
        return {(start, tally.tag): tally.streamed for start in self._buckets for tally in self._tallies.of(start)}


@pytest.mark.slow
def test_one_shard_becomes_three_and_one_again_in_the_middle_of_a_bucket(spark: SparkSession, tmp_path: Path) -> None:
    """With repeats across each change, and a batch that the changed query has not come to when it is changed again."""
    feed, counted = Feed(spark, tmp_path, 1), Counted()
    events = [tweet(n, n % 12, tags=[f"tag{n % 3}"]) for n in range(120)]
    feed.add(events[:30])
    counted.take(feed)
    for shards, more in ((3, events[20:70]), (1, [*events[60:100], events[0]]), (2, events[100:])):
        noted = last_planned(feed.checkpoint)
        assert noted == Batch(feed.shards, noted.watermark_ms if noted else 0)
        shutil.rmtree(feed.checkpoint)  # as `prepare` does
        feed.shards = shards
        feed.add(more)
        counted.take(feed)
    expected: dict[tuple[int, str], int] = {}
    for n in range(120):
        start = START + n % 12 // BUCKET_SECONDS * BUCKET_SECONDS
        for tag in (TOTAL, f"tag{n % 3}"):
            expected[start, tag] = expected.get((start, tag), 0) + 1
    assert counted.totals() == expected
