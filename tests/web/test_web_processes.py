from __future__ import annotations

import time

from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.telemetry import processes as told

ONE: told.Process = {
    "name": "spark", "state": "running", "pid": 7, "up_since": 1_795_000_000.0, "restarts": 1, "cpu_share": 0.5,
    "memory_bytes": 1 << 30,
}


def test_what_nobody_tells_is_unknown(client: FlaskClient) -> None:
    assert client.get("/api/v1/processes").json == {"as_of": None, "processes": []}


def test_the_processes_are_as_they_were_told(client: FlaskClient, redis: Redis, settings: Settings) -> None:
    away: told.Process = {"name": "milvus", "state": "exited", "pid": None, "up_since": None, "restarts": 0,
                          "cpu_share": None, "memory_bytes": None}
    told.write(redis, settings.redis_prefix, {"as_of": time.time(), "manager": 1, "processes": [ONE, away]})
    body = client.get("/api/v1/processes").json
    assert body["as_of"]
    assert body["processes"] == [away, {**ONE, "up_since": "2026-11-18T11:06:40Z"}]


def test_what_is_not_told_any_more_becomes_unknown(client: FlaskClient, redis: Redis, settings: Settings) -> None:
    told.write(redis, settings.redis_prefix,
               {"as_of": time.time() - told.STALE_S - 1, "manager": 1, "processes": [ONE]})
    assert client.get("/api/v1/processes").json == {"as_of": None, "processes": []}
