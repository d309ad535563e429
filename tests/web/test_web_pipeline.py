from __future__ import annotations

import time
from datetime import datetime
from typing import get_args

import pytest
from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.telemetry import durability, history, retention
from common.telemetry.reports import StageTelemetry, fold_ended
from common.telemetry.stages import newest_source, read_stages, readings
from common.tweets import STAGES, Reader, SourceKind
from web.pipeline import STAGE_OF


def test_what_is_unknown_is_null(client: FlaskClient) -> None:
    body = client.get("/api/v1/pipeline").json
    assert (body["middleware"], body["durability"], body["durability_asked"]) == ("pravega", None, None)
    assert [body[f"source{what}"] for what in ("", "_kind", "_ended_at", "_problem")] == [None] * 4
    assert [stage["name"] for stage in body["stages"]] == ["published", "enriched", "ranked", "searchable"]
    for stage in body["stages"]:
        assert stage["rate_per_s"] is stage["lag_events"] is stage["lag_seconds"] is None
        assert stage["latency_ms"] == {"p50": None, "p95": None, "p99": None}
        assert stage["retention_used"] is None


@pytest.mark.parametrize(("asked", "label"), [(True, "true"), (False, "false")])
def test_the_durability_is_the_one_in_force_and_how_it_is_known(
    client: FlaskClient, settings: Settings, redis: Redis, asked: bool, label: str
) -> None:
    assert settings.durability == "fsync"
    durability.tell(redis, settings.redis_prefix, "page-cache", asked)
    body = client.get("/api/v1/pipeline").json
    assert (body["durability"], body["durability_asked"]) == ("page-cache", asked)
    assert f'murmur_instance_info{{durability="page-cache",durability_asked="{label}"' in client.get("/metrics").text


@pytest.fixture
def enriched(settings: Settings, redis: Redis) -> None:
    """Ten tweets are published, and enriched 50 ms later; one event was rejected."""
    durability.tell(redis, settings.redis_prefix, "fsync", asked=True)
    now = time.time_ns() // 1000
    for stage, completed in (("published", now), ("enriched", now + 50_000)):
        telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, stage, "0")
        telemetry.record([now] * 10, completed)
        if stage == "enriched":
            telemetry.add(**{"rejected": 1, "rejected_not-json": 1, "parked": 2, "behind_watermark": 3})
        telemetry.close()


def test_the_source_is_that_of_the_newest_tweets(client: FlaskClient, settings: Settings, redis: Redis) -> None:
    """Whichever run began last, and whatever has not published anything yet; also once it has ended."""
    now = time.time_ns() // 1000
    for source, sent_us in (("synthetic", now), ("bluesky", now + 1000), ("replay", now - 1000), ("x", None)):
        telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, "published", source, source)
        telemetry.record([] if sent_us is None else [sent_us] * 10, now)
        telemetry.close()
    assert client.get("/api/v1/pipeline").json["source"] == "bluesky"
    fold_ended(redis, settings.redis_prefix, "published", time.time() + 60)
    assert client.get("/api/v1/pipeline").json["source"] == "bluesky"


def test_a_source_has_ended_once_none_of_its_runs_goes_on(
    client: FlaskClient, settings: Settings, redis: Redis
) -> None:
    """However its last run ended: also one that was killed, and whatever else goes on or ended later."""
    def run(name: str, source: str, kind: SourceKind | None, sent: bool) -> StageTelemetry:
        made = StageTelemetry(settings.redis_address, settings.redis_prefix, "published", name, source, kind)
        made.record([time.time_ns() // 1000] if sent else [])
        made.save()
        return made

    def told() -> tuple[str, str | None, float | None]:
        body = client.get("/api/v1/pipeline").json
        at = body["source_ended_at"]
        return body["source"], body["source_kind"], datetime.fromisoformat(at).timestamp() if at else None

    before = time.time()
    pushed = run("0", "http", "pushed", sent=True)
    one, other = run("1", "bluesky", "live", sent=True), run("2", "bluesky", "live", sent=False)
    one.close()
    assert told() == ("bluesky", "live", None)
    other.close()
    source, kind, ended_at = told()
    assert (source, kind) == ("bluesky", "live")
    assert ended_at is not None
    assert before < ended_at < time.time()
    time.sleep(0.1)
    pushed.close()
    fold_ended(redis, settings.redis_prefix, "published", time.time() + 60)
    assert told() == ("bluesky", "live", pytest.approx(ended_at, abs=1e-6))
    run("http", "http", "pushed", sent=True).close()
    assert told() == ("http", "pushed", None)
    run("3", "of-my-own", None, sent=True)
    assert told() == ("of-my-own", None, None)
    stages = read_stages(redis, settings.redis_prefix, time.time() + 16)  # as if it had been killed
    assert newest_source(stages) == ("of-my-own", None, pytest.approx(time.time(), abs=5))
    assert newest_source(read_stages(redis, settings.redis_prefix, time.time() + 9)) == ("of-my-own", None, None)


def test_what_keeps_a_live_source_is_told_before_its_first_tweet_and_until_it_is_over(
    client: FlaskClient, settings: Settings
) -> None:
    def told() -> str | None:
        return client.get("/api/v1/pipeline").json["source_problem"]

    runs = [StageTelemetry(settings.redis_address, settings.redis_prefix, "published", source, source)
            for source in ("wikimedia", "bluesky", "synthetic")]
    for telemetry in runs[:2]:
        telemetry.problem = f"{telemetry.source}: it is not reached"
        telemetry.save()
    assert told() == "bluesky: it is not reached; wikimedia: it is not reached"
    runs[1].problem = ""
    runs[1].save()
    assert told() == "wikimedia: it is not reached"
    for telemetry in runs:
        telemetry.close()
    assert told() is None


def test_the_stages_that_report_are_known(client: FlaskClient, enriched: None) -> None:
    stages = {stage["name"]: stage for stage in client.get("/api/v1/pipeline").json["stages"]}
    assert (stages["enriched"]["lag_events"], stages["enriched"]["lag_seconds"]) == (0, 0)
    assert stages["enriched"]["latency_ms"]["p99"] == pytest.approx(50, abs=1)
    assert stages["ranked"]["lag_events"] is None


def test_the_retention_of_a_stage_is_that_of_its_slowest_reader(
    client: FlaskClient, settings: Settings, redis: Redis
) -> None:
    retention.write(redis, settings.redis_prefix, {"enrich": 0.25, "trending": 0.5, "trending-consumer": 0.125})
    used = {stage["name"]: stage["retention_used"] for stage in client.get("/api/v1/pipeline").json["stages"]}
    assert used == {"published": None, "enriched": 0.25, "ranked": 0.5, "searchable": None}
    lines = [line for line in client.get("/metrics").text.splitlines() if line.startswith("murmur_retention_used{")]
    assert lines == [
        'murmur_retention_used{reader="enrich"} 0.25',
        'murmur_retention_used{reader="trending"} 0.5',
        'murmur_retention_used{reader="trending-consumer"} 0.125',
    ]


def test_every_reader_belongs_to_a_stage() -> None:
    assert set(STAGE_OF) == set(get_args(Reader))
    assert set(STAGE_OF.values()) == set(STAGES) - {"published"}


def test_metrics(client: FlaskClient, enriched: None) -> None:
    response = client.get("/metrics")
    assert response.mimetype == "text/plain"
    lines = response.text.splitlines()
    for line in (
        'murmur_instance_info{durability="fsync",durability_asked="true",middleware="pravega"} 1.0',
        "murmur_redis_up 1.0",
        'murmur_stage_tweets_total{stage="enriched"} 10.0',
        'murmur_stage_lag_events{stage="enriched"} 0.0',
        'murmur_rejected_events_total{reason="not-json"} 1.0',
        'murmur_stage_counter_total{counter="parked",stage="enriched"} 2.0',
        'murmur_stage_counter_total{counter="behind_watermark",stage="enriched"} 3.0',
        "murmur_event_streams 0.0",
    ):
        assert line in lines
    assert not [line for line in lines if "NaN" in line or 'stage="ranked"' in line]


def test_who_completes_no_stage_has_its_counters_alone(client: FlaskClient, settings: Settings) -> None:
    telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, "trending", "spark")
    telemetry.add(behind_watermark=0)
    telemetry.close()
    lines = [line for line in client.get("/metrics").text.splitlines() if 'stage="trending"' in line]
    assert lines == ['murmur_stage_counter_total{counter="behind_watermark",stage="trending"} 0.0']


def test_metrics_without_redis(lonely: FlaskClient) -> None:
    response = lonely.get("/metrics")
    assert response.status_code == 200
    assert "murmur_redis_up 0.0" in response.text
    assert "stage=" not in response.text


def test_the_stage_that_limits_is_named_since_when_it_does(
    client: FlaskClient, settings: Settings, redis: Redis
) -> None:
    now = time.time()
    sent = [int((now - 20) * 1e6), int(now * 1e6)]
    for stage, completed in (("published", sent), ("enriched", sent), ("searchable", sent[:1])):
        telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, stage, "0")
        telemetry.record(completed)
        telemetry.close()
    found = client.get("/api/v1/pipeline").json["limiting"]
    assert (found["stage"], found["trend"]) == ("searchable", "steady")
    slot = now // history.EVERY_S * history.EVERY_S - history.EVERY_S
    history.write(redis, settings.redis_prefix, slot, readings(read_stages(redis, settings.redis_prefix, now), now))
    found = client.get("/api/v1/pipeline").json["limiting"]
    assert datetime.fromisoformat(found["since"]).timestamp() == slot
