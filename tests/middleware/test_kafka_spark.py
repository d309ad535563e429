"""Which of Spark's options for Kafka only make it faster."""

from __future__ import annotations

from common.settings import Settings
from middleware.kafka.spark import binding


def test_without_tuning_a_topic_is_read_and_written_by_the_defaults_of_the_client() -> None:
    found = binding(Settings(), "127.0.0.1:1", "lines")
    assert found.tuning <= {*found.read_options, *found.write_options}
    left = {name for name in {*found.read_options, *found.write_options} if name.startswith("kafka.")} - found.tuning
    assert left == {"kafka.bootstrap.servers", "kafka.acks"}
