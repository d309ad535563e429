"""What the data source's benchmark calls tuned, and what its README tells of it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from common.settings import Settings
from middleware.kafka.spark import binding

CONNECTOR = Path("spark_pravega")


def test_the_benchmark_measures_the_options_of_the_jobs() -> None:
    systems = runpy.run_path(str(CONNECTOR / "benchmarks/systems.py"))
    jobs = binding(Settings(), "127.0.0.1:1", "lines")
    for tuned, options in (("TUNED_READ", jobs.read_options), ("TUNED_WRITE", jobs.write_options)):
        of_client = {name: value for name, value in options.items() if name.startswith("kafka.")}
        del of_client["kafka.bootstrap.servers"]
        of_client.pop("kafka.acks", None)  # what both kinds of writes ask for
        assert systems[tuned] == of_client


def test_the_readme_shows_the_results_that_lie_beside_the_benchmark() -> None:
    results = json.loads((CONNECTOR / "benchmarks/results.json").read_text())
    assert results["table"] in (CONNECTOR / "README.md").read_text()
