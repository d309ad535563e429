"""Which of Spark's options for Kafka only make it faster."""

from __future__ import annotations

from common.settings import Settings
from middleware.kafka.producer import options
from middleware.kafka.spark import binding


def test_without_tuning_a_topic_is_read_and_written_by_the_defaults_of_the_client() -> None:
    found = binding(Settings(), "127.0.0.1:1", "lines")
    assert found.tuning <= {*found.read_options, *found.write_options}
    left = {name for name in {*found.read_options, *found.write_options} if name.startswith("kafka.")} - found.tuning
    assert left == {"kafka.bootstrap.servers", "kafka.acks"}


def test_clients_compress_where_the_documented_tuning_is_chosen() -> None:
    for tuning, compression in (("laptop", "none"), ("documented", "lz4")):
        settings = Settings.model_validate({"store_tuning": tuning})
        assert options(settings)["compression.type"] == compression
        assert binding(settings, "127.0.0.1:1", "lines").write_options["kafka.compression.type"] == compression
