from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.tweets import WINDOWS, Window


def test_the_body_is_the_published_ranking(client: FlaskClient, ranking: dict[str, Any]) -> None:
    response = client.get("/api/v1/trending")
    assert response.status_code == 200
    assert response.json == ranking
    assert "naïve" in response.text


def test_limit_cuts_the_ranking(client: FlaskClient, ranking: dict[str, Any]) -> None:
    response = client.get("/api/v1/trending?window=5m&limit=2")
    assert response.json == ranking | {"hashtags": ranking["hashtags"][:2]}


def test_the_windows_of_the_api_are_those_that_are_counted() -> None:
    assert get_args(Window) == tuple(WINDOWS)


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
