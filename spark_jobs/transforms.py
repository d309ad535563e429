"""The two queries as pure functions from DataFrame to DataFrame: no server, no middleware, no settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from common.slowdown import slow_down
from common.tweets import BUCKET_SECONDS, HASHTAG_COUNTS, SLOT_US, TOTAL
from spark_jobs.enrichment import Rules, enrich_event

SLOT_MARK = "#"
"""Begins what stands for a slot among the hashtags, none of which holds this character."""

ENRICH_SCHEMA = "event binary, key string, stream string, reason string, late boolean, sent_at_us bigint, bytes int"

_ARROW_SCHEMA = pa.schema([
    ("event", pa.binary()), ("key", pa.string()), ("stream", pa.string()),
    ("reason", pa.string()), ("late", pa.bool_()), ("sent_at_us", pa.int64()), ("bytes", pa.int32()),
])  # fmt: skip

_ENRICHED_FIELDS = (
    "tweet_id bigint, created_at timestamp, hashtags array<string>, late boolean, ingest struct<sent_at_us: bigint>"
)


def enrich(raw: DataFrame, rules: Rules, delay_us: int = 0) -> DataFrame:
    """Rows for `tweets-enriched` and `tweets-rejected` from a DataFrame whose one binary column holds raw events.

    Result: (event, key, stream) for the sink, stream being a name of common/tweets.py, and (reason, late, sent_at_us,
    bytes) for the telemetry: reason is null for enriched tweets, sent_at_us for events with an unreadable stamp, bytes
    is the size of the raw event. Every event yields exactly one row. `delay_us` slows each down, for tests.
    """
    return raw.mapInArrow(_enrich_batches(rules, delay_us), ENRICH_SCHEMA)


def _enrich_batches(rules: Rules, delay_us: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            slow_down(delay_us, batch.num_rows)
            now_us = time.time_ns() // 1000
            events = [raw or b"" for raw in batch.column(0).to_pylist()]
            rows = [(*enrich_event(raw, rules, now_us), len(raw)) for raw in events]
            columns = zip(*rows, strict=True) if rows else ((),) * len(_ARROW_SCHEMA)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, _ARROW_SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_ARROW_SCHEMA)

    return run


def count_hashtags(enriched: DataFrame, watermark_delay_s: int) -> DataFrame:
    """Rows (event, key, stream) for `hashtag-counts` from a DataFrame whose one binary column holds enriched tweets.

    To be written in update mode: each batch emits the whole count, so far, of every (bucket, hashtag) that it touched.

    Why no tweet is lost: late tweets leave before the watermark sees them, so with S the largest `sent_at_us` read so
    far, the watermark W is at most S + future_tolerance - delay, and a tweet sent at s is created at or after
    s - allowed_lateness. With `watermark_delay_s` it is above W, and hence counted, as long as s >= S - slack:
    partitions, and ingesters, may be apart by the slack. (Nor can a wrong clock push S: *enrich* rejects stamps further
    than future_tolerance ahead of its own clock, and the slack is larger.) Both operators judge by the watermark of the
    batch before, the second by the end of the bucket, which is later than the tweet, so what the first lets through the
    second does too.

    Why none counts twice: the state drops a repeat of a tweet_id for at least `delay` of event time after the first; a
    repeat with the same `created_at` that comes later still is behind the watermark, so it is dropped as well.
    """
    return _rows(_count(_once(_ranked(enriched), watermark_delay_s)))


def watermark_delay_s(allowed_lateness_s: int, future_tolerance_s: int, slack_s: int) -> int:
    """See `count_hashtags`; one second more, because Spark counts equality with the watermark as late."""
    return allowed_lateness_s + future_tolerance_s + slack_s + 1


def _ranked(enriched: DataFrame) -> DataFrame:
    event = F.col(enriched.columns[0]).cast("string")
    tweet = enriched.select(F.from_json(event, _ENRICHED_FIELDS).alias("tweet")).select(
        "tweet.tweet_id", "tweet.created_at", "tweet.hashtags", "tweet.late", "tweet.ingest.sent_at_us"
    )
    return tweet.where(~F.col("late") & F.col("created_at").isNotNull()).drop("late")


def _once(tweets: DataFrame, delay_s: int) -> DataFrame:
    """The first of each tweet_id. In every batch Spark looks through all ids it remembers, those of 2 * `delay_s`."""
    return tweets.withWatermark("created_at", f"{delay_s} seconds").dropDuplicatesWithinWatermark(["tweet_id"])


def _count(tweets: DataFrame) -> DataFrame:
    """Count and range of `sent_at_us` per (bucket, hashtag); TOTAL stands for every tweet, and its slot beside it."""
    slot = F.concat(F.lit(SLOT_MARK), F.floor(F.col("sent_at_us") / SLOT_US).cast("string"))
    all_tweets = F.array(F.lit(TOTAL), F.coalesce(slot, F.lit(TOTAL)))
    hashtag = F.explode(F.array_distinct(F.concat(all_tweets, F.coalesce("hashtags", F.array()))))
    bucket = F.window("created_at", f"{BUCKET_SECONDS} seconds").alias("bucket")
    return (
        tweets.select(bucket, hashtag.alias("hashtag"), "sent_at_us")
        .groupBy("bucket", "hashtag")
        .agg(
            F.count("*").alias("count"),
            F.min("sent_at_us").alias("min_sent_us"),
            F.max("sent_at_us").alias("max_sent_us"),
        )
    )


def _rows(counts: DataFrame) -> DataFrame:
    hashtag = F.when(F.col("hashtag").startswith(SLOT_MARK), F.lit(TOTAL)).otherwise(F.col("hashtag"))
    counts = counts.withColumn("hashtag", hashtag)
    event = F.to_json(
        F.struct(
            F.col("bucket.start").cast("long").alias("bucket_start"),
            F.lit(BUCKET_SECONDS).alias("bucket_seconds"),
            "hashtag", "count", "min_sent_us", "max_sent_us",
        )
    )  # fmt: skip
    return counts.select(
        event.cast("binary").alias("event"), F.col("hashtag").alias("key"), F.lit(HASHTAG_COUNTS).alias("stream")
    )
