"""The query *trending*: `tweets-enriched` → `hashtag-counts`.

By itself: `spark-submit --py-files <wheel> --jars hashtag-counts.jar spark_jobs/trending.py`.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from common.tweets import ENRICHED, HASHTAG_COUNTS
from middleware.base import Middleware
from spark_jobs import running, streams, transforms

NAME = "trending"


def start(spark: SparkSession, middleware: Middleware) -> StreamingQuery:
    settings = middleware.settings
    delay_s = transforms.watermark_delay_s(
        settings.allowed_lateness_s, settings.future_tolerance_s, settings.watermark_slack_s
    )
    counts = transforms.count_hashtags(streams.read(spark, middleware, ENRICHED), delay_s)
    # Counts are whole and the consumer keeps the maximum, so a repeat changes nothing. Each batch of enrich is counted
    # as soon as it is there: at an interval of its own it would wait for the next, and now and then miss that.
    return streams.write(
        counts, middleware, (HASHTAG_COUNTS,), NAME, output_mode="update", may_repeat=True, interval_ms=0
    )


if __name__ == "__main__":
    running.run(NAME, [start])
