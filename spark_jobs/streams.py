"""Reading and writing streams of whichever middleware the settings name; only its SparkBinding is known here."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from middleware.driver import Middleware


def read(spark: SparkSession, middleware: Middleware, stream: str) -> DataFrame:
    """The events of a stream, from its head or the query's checkpoint: binary `event`, its `partition` and `offset`.

    What a query does not select of these costs nothing."""
    binding = middleware.spark.binding(stream)
    source = spark.readStream.format(binding.format).options(**binding.read_options).load()
    return source.select(
        F.col(binding.event_column).cast("binary").alias("event"),
        F.col(binding.partition_column).alias("partition"),
        F.expr(binding.offset_column).alias("offset"),
    )


def write(
    rows: DataFrame, middleware: Middleware, streams: Sequence[str], name: str, output_mode: str = "append",
    may_repeat: bool = False, interval_ms: int | None = None,
) -> StreamingQuery:  # fmt: skip
    """Starts the query `name`, which writes (event, key, stream) to `streams` through one sink.

    Exactly once where the middleware can, unless its events `may_repeat` without harm: that costs requests of its own,
    and events can be read only when the whole batch is written.
    `interval_ms` between its micro-batches is the setting, or given: 0 means whenever something has come.
    Its checkpoint lies apart by instance and middleware; its tasks share the machine fairly with the other queries.
    """
    settings, binding = middleware.settings, middleware.spark.binding(streams[0])
    interval_ms = settings.trigger_interval_ms if interval_ms is None else interval_ms
    options = {**binding.write_options, **(binding.repeating_options if may_repeat else {})}
    columns = [
        F.col("event").alias(binding.event_column),
        F.col("key").alias(binding.key_column),
        _name_on_server(middleware, streams).alias(binding.stream_column),
    ]
    rows.sparkSession.sparkContext.setLocalProperty("spark.scheduler.pool", name)
    return (
        rows.select(*columns)
        .writeStream.format(binding.format)
        .options(**options)
        .option("checkpointLocation", str(settings.checkpoint_dir / name))
        .queryName(name)
        .outputMode(output_mode)
        .trigger(processingTime=f"{interval_ms} milliseconds")
        .start()
    )


def _name_on_server(middleware: Middleware, streams: Sequence[str]) -> Column:
    names = [F.lit(name) for stream in streams for name in (stream, middleware.spark.stream_name(stream))]
    return F.element_at(F.create_map(*names), F.col("stream"))
