from __future__ import annotations

import json
import subprocess
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from common.settings import Settings
from middleware.errors import Overtaken
from middleware.registry import connect
from spark_jobs.running import end_predecessor, reason_of_end


def test_what_an_earlier_run_left_is_ended(tmp_path: Path):
    left = subprocess.Popen(["sleep", "600"])
    file = tmp_path / "spark.jvm"
    file.write_text(json.dumps({"pid": left.pid, "created": psutil.Process(left.pid).create_time()}))
    end_predecessor(file)
    assert left.poll() is not None


def test_another_process_of_the_same_id_is_left_alone(tmp_path: Path):
    other = subprocess.Popen(["sleep", "600"])
    try:
        file = tmp_path / "spark.jvm"
        file.write_text(json.dumps({"pid": other.pid, "created": psutil.Process(other.pid).create_time() - 1}))
        end_predecessor(file)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_nothing_is_started_beside_one_that_cannot_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As one that waits for a disk that does not answer."""
    monkeypatch.setattr(psutil.Process, "kill", lambda _: None)
    monkeypatch.setattr("spark_jobs.running.PREDECESSOR_SECONDS", 0.1)
    with subprocess.Popen(["sleep", "600"]) as left:
        try:
            file = tmp_path / "spark.jvm"
            file.write_text(json.dumps({"pid": left.pid, "created": psutil.Process(left.pid).create_time()}))
            with pytest.raises(RuntimeError, match=f"process {left.pid}, does not end"):
                end_predecessor(file)
        finally:
            left.kill()


def test_nothing_known_is_nothing_to_end(tmp_path: Path):
    end_predecessor(tmp_path / "absent")
    (tmp_path / "torn").write_text('{"pid": 1')
    end_predecessor(tmp_path / "torn")


def failed(spark: SparkSession, folder: Path, message: str) -> StreamingQuery:
    """A query *enrich* whose task failed with this message."""
    (folder / "in").mkdir()
    (folder / "in" / "1").write_text("x")
    rows = spark.readStream.text(str(folder / "in")).select(F.raise_error(F.concat(F.lit(message), "value")))
    query = rows.writeStream.format("noop").queryName("enrich").option("checkpointLocation", str(folder / "c")).start()
    with pytest.raises(Exception, match="x"):
        query.processAllAvailable()
    return query


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kafka", "[KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE] Some data may have been lost"),
        ("kafka", "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position is out of range"),
        ("pravega", "segment a/b/0.#epoch.0 was truncated beyond the place to read from: events are lost."),
    ],
)
def test_a_query_that_retention_has_overtaken_names_the_way_out(
    spark: SparkSession, tmp_path: Path, name: str, message: str
):
    with connect(Settings(middleware=name)) as middleware:
        reason = reason_of_end(failed(spark, tmp_path, message), middleware)
    assert isinstance(reason, Overtaken)
    assert "`murmur accept-loss --reader enrich`" in str(reason)
    assert message[:40] in str(reason.__cause__)


def test_any_other_end_keeps_its_own_reason(spark: SparkSession, tmp_path: Path):
    with connect(Settings(middleware="kafka")) as middleware:
        reason = reason_of_end(failed(spark, tmp_path, "out of memory"), middleware)
    assert not isinstance(reason, Overtaken)
    assert "out of memory" in str(reason)
