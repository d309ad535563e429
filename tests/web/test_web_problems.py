from __future__ import annotations

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from redis import Redis
from werkzeug.test import TestResponse

from common.settings import Settings


def assert_problem(response: TestResponse, status: int) -> None:
    assert (response.status_code, response.mimetype) == (status, "application/problem+json")
    assert response.json["status"] == status
    assert response.json["type"] == "about:blank"
    assert response.json["title"]
    assert response.json["detail"]


@pytest.mark.parametrize("path", [
    "/", "/api", "/api/v1/nothing", "/api/v1/trending/", "/static/x", "/docs", "/%00",
    "/healthz//", "/api//v1/trending",
])
def test_not_found(client: FlaskClient, path: str) -> None:
    assert_problem(client.get(path), 404)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_method_not_allowed(client: FlaskClient, method: str) -> None:
    response = client.open("/api/v1/trending", method=method)
    assert_problem(response, 405)
    assert "GET" in response.headers["Allow"]


def test_a_body_is_bounded(client: FlaskClient) -> None:
    assert_problem(client.get("/api/v1/trending", data=b"x" * (64 << 10) + b"x"), 413)


def test_a_mistake_shows_nothing_of_the_inside(client: FlaskClient, redis: Redis, settings: Settings) -> None:
    redis.set(f"{settings.redis_prefix}ranking:5m", '{"secret": "inside"}')
    response = client.get("/api/v1/trending")
    assert_problem(response, 500)
    assert "secret" not in response.text
    assert "validation" not in response.text.lower()


@pytest.mark.parametrize("path", ["/api/v1/trending", "/api/v1/pipeline"])
def test_without_redis(lonely: FlaskClient, path: str) -> None:
    response = lonely.get(path)
    assert_problem(response, 503)
    assert response.headers["Retry-After"] == "2"


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/nothing", "/api/v1/trending?window=x", "/openapi.json"])
def test_every_answer_has_the_security_headers(client: FlaskClient, path: str) -> None:
    headers = client.get(path, headers={"Origin": "http://elsewhere.example"}).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


def test_it_is_not_in_debug_mode(app: APIFlask) -> None:
    assert not app.debug
