"""How Spark's jobs have Kafka read and written is what the data source's benchmark calls tuned."""

from __future__ import annotations

import runpy
from pathlib import Path

from common.settings import Settings
from middleware.kafka.spark import binding

SYSTEMS = Path("spark_pravega/benchmarks/systems.py")


def test_the_benchmark_measures_the_options_of_the_jobs() -> None:
    systems, jobs = runpy.run_path(str(SYSTEMS)), binding(Settings(), "127.0.0.1:1", "lines")
    for tuned, options in (("TUNED_READ", jobs.read_options), ("TUNED_WRITE", jobs.write_options)):
        of_client = {name: value for name, value in options.items() if name.startswith("kafka.")}
        del of_client["kafka.bootstrap.servers"]
        of_client.pop("kafka.acks", None)  # what both kinds of writes ask for
        assert systems[tuned] == of_client
