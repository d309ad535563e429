"""What flows through a stream, as its stages left it."""

from __future__ import annotations

import json
import time

import pytest
from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.telemetry import newest
from common.telemetry.reports import StageTelemetry
from common.tweets import ENRICHED, RAW, STREAMS


@pytest.mark.parametrize("stream", STREAMS)
def test_nothing_is_known_of_a_stream_at_first(client: FlaskClient, stream: str) -> None:
    assert client.get(f"/api/v1/streams?stream={stream}").json == {"stream": stream, "events": []}


def test_there_are_no_other_streams(client: FlaskClient) -> None:
    assert client.get("/api/v1/streams?stream=tweets").status_code == 400


def test_the_newest_event_comes_first_and_is_cut(client: FlaskClient, redis: Redis, settings: Settings) -> None:
    now = time.time()
    newest.leave(redis, settings.redis_prefix, RAW, "ä".encode() * newest.EVENT_BYTES, now - 1)
    newest.leave(redis, settings.redis_prefix, RAW, b'{"n": 2}\xff', now)
    found = client.get("/api/v1/streams?stream=tweets-raw").json["events"]
    assert [each["event"] for each in found] == ['{"n": 2}�', "ä" * (newest.EVENT_BYTES // 2)]
    assert all("T" in each["at"] for each in found)


def test_no_more_are_kept_than_are_shown_and_none_for_longer(redis: Redis, settings: Settings) -> None:
    now = time.time()
    for age in range(2 * newest.KEPT_SECONDS, -1, -1):
        newest.leave(redis, settings.redis_prefix, RAW, str(age).encode(), now - age)
    kept = newest.read(redis, settings.redis_prefix, RAW, now)
    assert [int(each.event) for each in kept] == list(range(newest.EVENTS))
    assert 0 < redis.ttl(newest.key(settings.redis_prefix, RAW)) <= newest.KEPT_SECONDS
    assert newest.read(redis, settings.redis_prefix, RAW, now + newest.KEPT_SECONDS + 1) == []


def test_a_stage_leaves_the_newest_of_what_it_was_shown(redis: Redis, settings: Settings) -> None:
    telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, "searchable", "0")
    for number in range(10):
        telemetry.show(ENRICHED, [b"{}", json.dumps({"n": number}).encode()])
    telemetry.show(ENRICHED, [])
    telemetry.close()
    kept = newest.read(redis, settings.redis_prefix, ENRICHED, time.time())
    assert kept[0].event == '{"n": 9}'
    assert len(kept) < 10
