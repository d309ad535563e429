"""A query of Spark that copies a stream to text files, to its end: `python -m tests.conformance.query STREAM NAME OUT`.

Its checkpoint is that of the query NAME of the instance whose settings MURMUR_SETTINGS names.
"""

from __future__ import annotations

import sys

from common.settings import Settings
from middleware.registry import connect
from spark_jobs.session import spark_session


def main(stream: str, name: str, out: str) -> None:
    settings = Settings.load()
    spark = spark_session(settings, name)
    with connect(settings) as middleware:
        binding = middleware.spark.binding(stream)
    source = spark.readStream.format(binding.format).options(**binding.read_options).load()
    query = (
        source.selectExpr(f"cast({binding.event_column} as string) as value")
        .writeStream.format("text")
        .option("checkpointLocation", str(settings.checkpoint_dir / name))
        .trigger(availableNow=True)
        .start(out)
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
