from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from pyspark.sql import SparkSession

from common.telemetry.reports import StageTelemetry
from common.telemetry.stages import read_stages
from spark_jobs import measures, transforms
from spark_jobs.measures import EnrichTelemetry, TrendingTelemetry, sent_at_us
from spark_jobs.tally import Tally
from tests.spark_jobs.test_transforms import DATA, RULES, Feed, raw_events, tweet
from tests.stack import PORT_BASE, eventually

PORT = PORT_BASE + 1201


def test_events_are_in_the_middle_of_their_instant_and_the_newest_where_it_is():
    sent, counts = sent_at_us(Tally(instants=Counter({105: 2, 100: 3}), newest={"enriched": 1_057_777}))
    assert sent.tolist() == [1_005_000, 1_057_777]
    assert counts.tolist() == [3, 2]


@pytest.fixture
def redis_address(tmp_path: Path) -> Iterator[str]:
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(PORT), "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    with redis.Redis(port=PORT) as client:
        eventually("Redis answers", lambda: answers(client), 20)
    yield f"redis://127.0.0.1:{PORT}/0"
    server.terminate()
    server.wait(timeout=10)


def answers(client: redis.Redis) -> bool:
    with suppress(redis.ConnectionError):
        return bool(client.ping())
    return False


@pytest.mark.server
@pytest.mark.slow
def test_each_batch_is_recorded_once_with_its_reasons(spark: SparkSession, tmp_path: Path, redis_address: str):
    telemetry = StageTelemetry(redis_address, "test:", "enriched", "spark")
    listener = EnrichTelemetry(telemetry)
    zeros = reported(redis_address, "enriched")["extra"]
    assert zeros == dict.fromkeys(zeros, 0)
    assert {"rejected_not-json", "rejected_future", "rejected", "late", "unstamped"} < zeros.keys()
    spark.streams.addListener(listener)
    events = raw_events((DATA / "tweets.jsonl").read_text().splitlines())
    events[-1] = events[-1].replace(b'"created_at": "2026', b'"created_at": "2016')
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1").write_bytes(b"\n".join([*events[:200], b"no json"]))
    (tmp_path / "in" / "2").write_bytes(b"\n".join([*events[200:], events[0].replace(b'"id"', b'"di"')]))
    lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(tmp_path / "in"))
    rows = measures.observed(transforms.enrich(lines.selectExpr("cast(value as binary)"), RULES))
    query = rows.select("event", "stream").writeStream.format("noop").trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    await_end(redis_address)
    spark.streams.removeListener(listener)
    with redis.Redis.from_url(redis_address) as client:
        stage = read_stages(client, "test:", time.time())["enriched"]
    newest = sorted(int(event.split(b'"sent_at_us": ')[1][:16]) for event in events)
    assert stage.total == 301
    assert stage.sent_high_us == newest[-1]
    assert stage.passed_on == {"searchable": newest[-1], "ranked": newest[-2]}
    extra = {name: count for name, count in stage.extra.items() if count and name != "bytes"}
    assert extra == {"rejected": 2, "rejected_not-json": 1, "rejected_missing-field": 1, "late": 1, "unstamped": 1}
    assert stage.latencies.get_total_count() == 301


@pytest.mark.server
@pytest.mark.slow
def test_what_trending_leaves_out_is_told_and_logged_once_in_a_while(
    spark: SparkSession, tmp_path: Path, redis_address: str, caplog: pytest.LogCaptureFixture
):
    feed = Feed(spark, tmp_path)
    listener = TrendingTelemetry(StageTelemetry(redis_address, "test:", "trending", "spark"), feed.counters)
    assert reported(redis_address, "trending")["extra"] == {"behind_watermark": 0, "parked": 0}
    spark.streams.addListener(listener)
    hour = 3600
    feed.add([tweet(1, -hour)], [tweet(2)], [tweet(3, -hour), b"no json"], [tweet(4, -hour), tweet(5, -hour)])
    feed.counts()
    await_end(redis_address, "trending")
    spark.streams.removeListener(listener)
    assert reported(redis_address, "trending")["extra"] == {"behind_watermark": 3, "parked": 1}
    (logged,) = [record.getMessage() for record in caplog.records if record.name == measures.__name__]
    assert "behind the watermark" in logged


def reported(redis_address: str, stage: str) -> dict[str, Any]:
    """What Spark's process has reported of a stage, once it has."""
    with redis.Redis.from_url(redis_address) as client:
        deadline = time.monotonic() + 30
        while not (content := client.get(f"test:telemetry:{stage}:spark")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return json.loads(content)


def await_end(redis_address: str, stage: str = "enriched") -> None:
    """Returns when the query's end has been reported, and so its batches: Spark tells its listeners later, in order."""
    with redis.Redis.from_url(redis_address) as client:
        deadline = time.monotonic() + 30
        while not json.loads(client.get(f"test:telemetry:{stage}:spark") or '{"ended": false}')["ended"]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
