"""The two queries as pure functions from DataFrame to DataFrame: no server, no middleware, no settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Self

import pyarrow as pa
from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from common.slowdown import slow_down
from common.tweets import BUCKET_SECONDS, ENRICHED, HASHTAG_COUNTS, REJECTED, REJECTED_EVENT_BYTES, SLOT_US
from spark_jobs.accept_or_reject import Rules, enrich_event
from spark_jobs.tally import Tally

ENRICH_SCHEMA = "event binary, key string, stream string, tally string"

_ARROW_SCHEMA = pa.schema([
    ("event", pa.binary()), ("key", pa.string()), ("stream", pa.string()), ("tally", pa.string()),
])  # fmt: skip


def enrich(raw: DataFrame, rules: Rules, delay_us: int = 0) -> DataFrame:
    """Rows for `tweets-enriched` and `tweets-rejected` from a DataFrame whose one binary column holds raw events.

    Result: (event, key, stream) for the sink, stream being a name of common/tweets.py, and `tally` for the telemetry:
    a Tally as JSON in one row of each Arrow batch, for all rows of it, and null in the others. Every event yields
    exactly one row. `delay_us` slows each down, for tests.
    """
    return raw.mapInArrow(_enrich_batches(rules, delay_us), ENRICH_SCHEMA)


def _enrich_batches(rules: Rules, delay_us: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            slow_down(delay_us, batch.num_rows)
            now_us = time.time_ns() // 1000
            events = [raw or b"" for raw in batch.column(0).to_numpy(zero_copy_only=False)]  # faster than a list
            utf8 = _is_utf8(batch.column(0))
            outcomes = [enrich_event(raw, rules, now_us, utf8) for raw in events]
            tallies: list[str | None] = [None] * len(outcomes)
            if outcomes:
                tallies[0] = Tally.of(outcomes, sum(map(len, events))).to_json()
            columns = ([o.event for o in outcomes], [o.key for o in outcomes], [o.stream for o in outcomes], tallies)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, _ARROW_SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_ARROW_SCHEMA)

    return run


def _is_utf8(column: pa.Array) -> bool:
    try:
        column.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


class TrendingCounters(NamedTuple):
    """What *trending* leaves out, counted while it runs: accumulators of Spark."""

    behind_watermark: JavaObject
    """Tweets that came too late to be counted."""

    parked: JavaObject
    """Events that are not of the contract."""

    @classmethod
    def of(cls, spark: SparkSession) -> Self:
        context = spark.sparkContext._jsc.sc()
        return cls(*(context.longAccumulator(name) for name in cls._fields))


def count_hashtags(
    enriched: DataFrame, watermark_delay_s: int, counters: TrendingCounters, shards: int = 1
) -> DataFrame:
    """Rows (event, key, stream) for `hashtag-counts` and `tweets-rejected` from a DataFrame of enriched tweets: binary
    `event`, `partition`, `offset`.

    To be written in update mode: each batch emits the whole count, so far, of every bucket that it touched, and of the
    hashtags and slots in it. spark_jobs/hashtag_counts, in Java, does it in one stateful operator, by `shards` tasks,
    each for the tweets whose ids belong to it: the session is to have as many shuffle partitions when the query starts.

    Why no tweet is lost: late tweets leave before the watermark sees them, so with S the largest `sent_at_us` read so
    far, the watermark W is at most S + future_tolerance - delay, and a tweet sent at s is created at or after
    s - allowed_lateness. With `watermark_delay_s` it is above W, and hence counted, as long as s >= S - slack:
    partitions, and ingesters, may be apart by the slack. (Nor can a wrong clock push S: *enrich* rejects stamps further
    than future_tolerance ahead of its own clock, and the slack is larger. Once it is set back by more than the slack,
    tweets are behind W until it has caught up: they are counted in `behind_watermark` instead.) A batch has one W, of
    what was read before it: it counts what is above W, and forgets the buckets whose end is not. As W never falls, no
    tweet comes to a bucket that was forgotten, and no count begins anew.

    Why none counts twice: by the contract a repeated event bears the `created_at` of the first. So it comes to the same
    bucket, which knows the ids that it has counted for as long as it lives; later the repeat is behind W. Where one id
    comes with several dates (the same tweets replayed as of now), each of their buckets counts it once. What was
    counted and what is known are one state, which a batch changes as a whole or not at all.

    An event that is not of the contract is parked in `tweets-rejected` with its position; a batch that runs again may
    write it twice.
    """
    spark = enriched.sparkSession
    java = spark._jvm.murmuration.spark  # type: ignore[union-attr]
    counting = java.Counting(BUCKET_SECONDS * 1000, SLOT_US, HASHTAG_COUNTS, java.Shards(shards))
    parking = java.Parking(ENRICHED, REJECTED, REJECTED_EVENT_BYTES)
    rows = java.HashtagCounts.of(
        enriched._jdf, watermark_delay_s, counting, parking, counters.behind_watermark, counters.parked
    )
    return DataFrame(rows, spark)


def watermark_delay_s(allowed_lateness_s: int, future_tolerance_s: int, slack_s: int) -> int:
    """See `count_hashtags`; one second more, because equality with the watermark counts as late."""
    return allowed_lateness_s + future_tolerance_s + slack_s + 1
