from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.tweets import BUCKET_SECONDS, TOTAL, WINDOWS
from consumers.ranking import PREVIOUS_S, Rankings


def test_the_body_is_the_published_ranking(client: FlaskClient, ranking: dict[str, Any]) -> None:
    response = client.get("/api/v1/trending")
    assert response.status_code == 200
    assert response.json == ranking
    assert "naïve" in response.text


def test_limit_cuts_the_ranking(client: FlaskClient, ranking: dict[str, Any]) -> None:
    response = client.get("/api/v1/trending?window=5m&limit=2")
    assert response.json == ranking | {"hashtags": ranking["hashtags"][:2]}


def test_windows_are_as_long_as_they_are_called() -> None:
    assert WINDOWS == {"1m": 60, "5m": 300, "15m": 900, "1h": 3600}
    assert PREVIOUS_S == {"1m": 60, "5m": 300, "15m": 300, "1h": 300}


@pytest.mark.parametrize("window", WINDOWS)
def test_what_the_consumer_publishes_is_the_body(
    client: FlaskClient, redis: Redis, settings: Settings, window: str
) -> None:
    rankings, start = Rankings(10), 1_795_000_000
    rankings.advance(start + BUCKET_SECONDS)
    rankings.update(start, {TOTAL: 3, "a": 2})
    rankings.update(start - PREVIOUS_S[window], {TOTAL: 2, "b": 1})
    published = rankings.ranking(window)
    redis.set(f"{settings.redis_prefix}ranking:{window}", json.dumps(published))
    assert client.get(f"/api/v1/trending?window={window}").json == published
    assert published["hashtags"]


@pytest.mark.parametrize("window", ["1m", "15m", "1h"])
def test_each_window_has_its_own_ranking(
    client: FlaskClient, redis: Redis, settings: Settings, ranking: dict[str, Any], window: str
) -> None:
    assert client.get(f"/api/v1/trending?window={window}").status_code == 503
    redis.set(f"{settings.redis_prefix}ranking:{window}", json.dumps(ranking | {"window": window, "hashtags": []}))
    assert client.get(f"/api/v1/trending?window={window}").json["window"] == window


def test_no_ranking_yet(client: FlaskClient) -> None:
    response = client.get("/api/v1/trending")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
    assert "trending consumer" in response.json["detail"]


@pytest.mark.parametrize(("query", "field"), [
    ("window=2m", "window"),
    ("window=", "window"),
    ("window=5M", "window"),
    ("limit=0", "limit"),
    ("limit=-1", "limit"),
    ("limit=5001", "limit"),
    ("limit=1.5", "limit"),
    ("limit=many", "limit"),
    ("limit=", "limit"),
    ("limit=99999999999999999999999", "limit"),
    ("limit=5_0", "limit"),
    ("limit=5&limit=6", "limit"),
    ("window=1m&window=1m", "window"),
    ("windows=1m", "windows"),
])
@pytest.mark.parametrize("path", ["/api/v1/trending", "/api/v1/events"])
def test_a_wrong_parameter_is_named(client: FlaskClient, path: str, query: str, field: str) -> None:
    response = client.get(f"{path}?{query}")
    assert (response.status_code, response.mimetype) == (400, "application/problem+json")
    assert [error["field"] for error in response.json["errors"]] == [field]
    assert response.json["detail"].startswith(field)


def test_every_wrong_parameter_is_named(client: FlaskClient) -> None:
    response = client.get("/api/v1/trending?window=x&limit=x")
    assert {error["field"] for error in response.json["errors"]} == {"window", "limit"}
