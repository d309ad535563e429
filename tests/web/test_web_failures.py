"""Failures as the page reads them: what `chaos` has kept of them, in the terms of the API."""

from __future__ import annotations

from dataclasses import replace

from flask.testing import FlaskClient
from redis import Redis

from chaos.record import KEPT, Record, keep
from common.settings import Settings

KILL = Record(at_us=1_795_000_000_500_000, what="kill", name="spark", pid=7)


def test_none_was_provoked(client: FlaskClient) -> None:
    assert client.get("/api/v1/failures").json == {"failures": []}


def test_more_is_told_as_it_is_known_and_the_newest_comes_first(
    client: FlaskClient, settings: Settings, redis: Redis
) -> None:
    keep(settings, Record(at_us=1, what="pause", name="milvus", pid=8, until_us=10_000_000, caught_up_after_s=1.5))
    keep(settings, KILL)
    began = {"process": "spark", "kind": "kill", "began_at": "2026-11-18T11:06:40.500000Z", "ended_at": None,
             "back_after_s": None, "caught_up_after_s": None}
    paused = {"process": "milvus", "kind": "pause", "began_at": "1970-01-01T00:00:00.000001Z",
              "ended_at": "1970-01-01T00:00:10Z", "back_after_s": None, "caught_up_after_s": 1.5}
    assert client.get("/api/v1/failures").json == {"failures": [began, paused]}
    keep(settings, replace(KILL, back_after_s=2.1, caught_up_after_s=6.4), instead_of=KILL)
    assert client.get("/api/v1/failures").json == {
        "failures": [{**began, "back_after_s": 2.1, "caught_up_after_s": 6.4}, paused]
    }


def test_they_are_bounded(client: FlaskClient, settings: Settings, redis: Redis) -> None:
    for n in range(KEPT + 3):
        keep(settings, replace(KILL, pid=n))
    assert len(client.get("/api/v1/failures").json["failures"]) == KEPT


def test_without_redis_it_is_unavailable(lonely: FlaskClient) -> None:
    assert lonely.get("/api/v1/failures").status_code == 503
