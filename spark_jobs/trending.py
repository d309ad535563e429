"""The query *trending*: `tweets-enriched` → `hashtag-counts`, and `tweets-rejected` for what cannot be read.

By itself: `spark-submit --py-files <wheel> --jars hashtag-counts.jar spark_jobs/trending.py`.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from common.telemetry.reports import StageTelemetry
from common.tweets import ENRICHED, HASHTAG_COUNTS, REJECTED
from middleware.driver import Middleware
from spark_jobs import measures, resharding, running, streams, transforms

NAME = "trending"


def start(spark: SparkSession, middleware: Middleware) -> StreamingQuery:
    settings = middleware.settings
    shards = resharding.prepare(middleware, NAME, settings.trending_shards)
    delay_s = transforms.watermark_delay_s(
        settings.allowed_lateness_s, settings.future_tolerance_s, settings.watermark_slack_s
    )
    counters = transforms.TrendingCounters.of(spark)
    telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, NAME, "spark")
    spark.streams.addListener(measures.TrendingTelemetry(telemetry, counters))
    spark.conf.set("spark.sql.shuffle.partitions", shards)  # fixed by the query's first checkpoint
    enriched = streams.read(spark, middleware, ENRICHED)
    counts = transforms.count_hashtags(enriched, delay_s, counters, shards)
    # Counts are whole and the consumer keeps the maximum, and a parked event counts once per position: so a repeat
    # changes nothing. Each batch of enrich is counted as soon as it is there: at an interval of its own it would wait
    # for the next, and now and then miss that.
    return streams.write(
        counts, middleware, (HASHTAG_COUNTS, REJECTED), NAME, output_mode="update", may_repeat=True, interval_ms=0
    )


if __name__ == "__main__":
    running.run(NAME, [start])
