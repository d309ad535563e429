"""The query *enrich*: `tweets-raw` → `tweets-enriched` and `tweets-rejected`.

By itself: `spark-submit --py-files <wheel> spark_jobs/enrich.py`.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from common.slowdown import delay_us
from common.telemetry.reports import StageTelemetry
from common.tweets import ENRICHED, RAW, REJECTED
from middleware.driver import Middleware
from spark_jobs import measures, running, streams, transforms
from spark_jobs.accept_or_reject import Rules

NAME = "enrich"


def start(spark: SparkSession, middleware: Middleware) -> StreamingQuery:
    settings = middleware.settings
    rules = Rules(
        settings.max_event_bytes, settings.allowed_lateness_s, settings.future_tolerance_s, settings.max_hashtags
    )
    telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, "enriched", "spark")
    spark.streams.addListener(measures.EnrichTelemetry(telemetry))
    raw = streams.read(spark, middleware, RAW).select("event")
    enriched = transforms.enrich(raw, rules, delay_us(settings, "enriched"))
    rows = measures.observed(enriched)
    return streams.write(rows, middleware, (ENRICHED, REJECTED), NAME)


if __name__ == "__main__":
    running.run(NAME, [start])
