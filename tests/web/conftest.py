"""The application against a real Redis of its own; what else it needs is absent unless a test starts it."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from common.settings import Settings
from web import create_app


def free_port() -> int:
    """A port that nothing listens on, low enough to be one of an instance's block."""
    while True:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            if (port := listener.getsockname()[1]) < 60_000:
                return port


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a Redis that holds nothing and keeps nothing."""
    port = free_port()
    folder = tmp_path_factory.mktemp("redis")
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    address = f"redis://127.0.0.1:{port}/0"
    try:
        Redis.from_url(address, retry=Retry(ConstantBackoff(0.05), 100)).ping()
        yield address
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture
def redis(redis_server: str) -> Iterator[Redis]:
    client = Redis.from_url(redis_server, decode_responses=True)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def settings(redis_server: str, tmp_path: Path) -> Settings:
    """Redis is there; Milvus and the database are not."""
    return Settings(
        home=tmp_path, redis_url=redis_server, milvus_uri=f"http://127.0.0.1:{free_port()}", web_streams=2,
    )


@pytest.fixture
def app(settings: Settings, redis: Redis) -> APIFlask:
    return create_app(settings)


@pytest.fixture
def client(app: APIFlask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def lonely(settings: Settings) -> FlaskClient:
    """A client of an application that has no Redis either."""
    return create_app(settings.model_copy(update={"redis_url": f"redis://127.0.0.1:{free_port()}/0"})).test_client()


RANKING = {
    "window": "5m",
    "as_of": "2026-11-21T08:00:05Z",
    "tweets": 10,
    "hashtags": [
        {"hashtag": "naïve", "count": 6, "share": 0.6, "rank": 1, "previous_rank": None},
        {"hashtag": "日本", "count": 3, "share": 0.3, "rank": 2, "previous_rank": 1},
        {"hashtag": "b", "count": 1, "share": 0.1, "rank": 3, "previous_rank": 3},
    ],
}


@pytest.fixture
def ranking(redis: Redis, settings: Settings) -> dict[str, Any]:
    """What the trending consumer has published for 5m."""
    redis.set(f"{settings.redis_prefix}ranking:5m", json.dumps(RANKING))
    return RANKING
