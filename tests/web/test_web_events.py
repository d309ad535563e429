"""The stream of events: the broadcast by itself, and a real gunicorn process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from redis import Redis

from common.settings import Settings
from tests.web.conftest import RANKING, free_port
from web.event_streams import Broadcast, Full, Message, Source, Subscription, TooMany, Topic

ROOT = Path(__file__).parents[2]


@contextmanager
def gunicorn(settings: Settings, port: int | None = None) -> Iterator[tuple[subprocess.Popen, str]]:
    """A gunicorn as an instance runs it, and its address; on a free port unless one is given."""
    settings.save()
    port = port or free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--config", "python:web.server", "--bind", f"127.0.0.1:{port}"],
        env=os.environ | {"MURMUR_SETTINGS": str(settings.settings_file), "MURMUR_HOME": str(settings.home)}, cwd=ROOT,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        eventually(lambda: responds(url))
        yield process, url
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def url(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server that allows two streams."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), redis_url=redis_server, web_streams=2)
    with gunicorn(settings) as (_, address):
        yield address


def responds(url: str) -> bool:
    try:
        return requests.get(f"{url}/healthz", timeout=10).ok
    except requests.ConnectionError:
        return False


def eventually(probe: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not probe():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def open_streams(url: str) -> float:
    lines = requests.get(f"{url}/metrics", timeout=10).text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("murmur_event_streams "))


class Stream:
    """An open stream: iterates over its events as dictionaries of their fields."""

    def __init__(self, url: str, query: str = "", client: str = "127.0.0.1") -> None:
        self.response = requests.get(
            f"{url}/api/v1/events{query}", headers={"X-Forwarded-For": client}, stream=True, timeout=30
        )
        self._lines = self.response.iter_lines(chunk_size=1, decode_unicode=True)

    def __iter__(self) -> Iterator[dict[str, str]]:
        fields: dict[str, str] = {}
        for line in self._lines:
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
            elif fields:
                yield fields
                fields = {}

    def next(self, event: str) -> dict[str, Any]:
        return json.loads(next(fields["data"] for fields in self if fields.get("event") == event))

    def close(self) -> None:
        self.response.close()


@pytest.mark.server
def test_a_stream_tells_ranking_and_pipeline(url: str, ranking: dict, redis: Redis, settings: Settings) -> None:
    stream = Stream(url, "?window=5m&limit=2")
    assert stream.response.headers["Content-Type"].startswith("text/event-stream")
    assert stream.response.headers["X-Accel-Buffering"] == "no"
    assert stream.response.headers["Cache-Control"] == "no-store"
    events = iter(stream)
    first = [next(events) for _ in range(3)]
    assert all(fields.keys() == {"event", "data"} for fields in first)
    bodies = {event["event"]: json.loads(event["data"]) for event in first}
    assert bodies["trending"] == RANKING | {"hashtags": RANKING["hashtags"][:2]}
    assert bodies["ledger"]["state"] == "unknown"
    assert bodies["pipeline"] == requests.get(f"{url}/api/v1/pipeline", timeout=10).json()

    redis.set(f"{settings.redis_prefix}ranking:5m", json.dumps(RANKING | {"tweets": 11}))
    assert stream.next("trending")["tweets"] == 11
    redis.delete(f"{settings.redis_prefix}ranking:5m")
    assert stream.next("problem")["status"] == 503
    stream.close()


@pytest.mark.server
def test_streams_are_bounded_and_given_back(url: str) -> None:
    eventually(lambda: open_streams(url) == 0)
    streams = [Stream(url), Stream(url)]
    refused = Stream(url).response
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "10")
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert requests.get(f"{url}/healthz", timeout=10).ok
    streams.pop().close()
    eventually(lambda: open_streams(url) == 1)
    third = Stream(url)
    assert third.next("pipeline")
    third.close()
    streams.pop().close()


@pytest.mark.server
def test_one_client_does_not_take_the_streams_of_all(settings: Settings) -> None:
    few = settings.model_copy(update={"web_streams": 3, "web_streams_per_client": 2})
    with gunicorn(few) as (_, address):
        mine = [Stream(address, client="10.0.0.1") for _ in range(3)]
        assert [each.response.status_code for each in mine] == [200, 200, 429]
        assert mine[2].response.headers["Retry-After"] == "10"
        assert mine[2].response.headers["Content-Type"] == "application/problem+json"
        others = Stream(address, client="10.0.0.2")
        assert others.next("pipeline")
        assert Stream(address, client="10.0.0.3").response.status_code == 503
        mine[0].close()
        eventually(lambda: open_streams(address) == 2)
        assert Stream(address, client="10.0.0.1").next("pipeline")
        for each in (mine[1], others):
            each.close()


@pytest.mark.server
def test_streams_end_when_the_server_is_told_to(settings: Settings, ranking: dict) -> None:
    with gunicorn(settings) as (process, address):
        stream = Stream(address)
        assert stream.next("pipeline")
        idle = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])))
        process.terminate()
        for _ in stream:  # ends, because the server ends the stream cleanly: a cut one would raise
            pass
        assert process.wait(30) == 0
        idle.close()


class Readings:
    """What a broadcast reads: counts how often."""

    def __init__(self) -> None:
        self.read: list[Source] = []
        self.body = "1"

    def __call__(self, source: Source) -> Callable[[int], Message]:
        self.read.append(source)
        return lambda limit: Message(source.event, f"{self.body}/{limit}")


PIPELINE = Topic(Source("pipeline"))


def frames(subscription: Subscription) -> Iterator[str]:
    return (frame.decode() for frame in subscription.frames())


def test_one_reading_serves_every_stream() -> None:
    readings = Readings()
    broadcast = Broadcast(readings, limit=100)
    streams = [frames(broadcast.subscribe("a", PIPELINE)) for _ in range(50)]
    for stream in streams:
        assert "open" in next(stream)
        assert "data: 1/0\n\n" in next(stream)
    assert len(readings.read) < 50


def test_a_window_is_read_once_however_many_limits_are_asked_for() -> None:
    readings = Readings()
    broadcast = Broadcast(readings, limit=100)
    broadcast._thread = threading.current_thread()  # none of its own: the rounds are those of this test
    window = Source("trending", "5m")
    streams = [broadcast.subscribe("a", Topic(window, limit)) for limit in range(1, 51)]
    broadcast._round()
    assert readings.read == [window]
    for limit, stream in enumerate(streams, start=1):
        waiting = frames(stream)
        next(waiting)
        assert f"data: 1/{limit}\n\n" in next(waiting)


def test_a_client_has_its_share_and_no_more() -> None:
    broadcast = Broadcast(Readings(), limit=3, per_client=2)
    first, _ = broadcast.subscribe("a", PIPELINE), broadcast.subscribe("a", PIPELINE)
    with pytest.raises(TooMany):
        broadcast.subscribe("a", PIPELINE)
    broadcast.subscribe("b", PIPELINE)
    with pytest.raises(Full):
        broadcast.subscribe("b", PIPELINE)
    broadcast.unsubscribe(first)
    broadcast.subscribe("a", PIPELINE)


def test_a_slow_client_gets_the_newest_only() -> None:
    subscription = Subscription("a", frozenset([PIPELINE]))
    stream = frames(subscription)
    next(stream)
    for n in range(1000):
        subscription.offer("pipeline", f"data: {n}\n\n".encode())
        subscription.offer("trending", f"data: t{n}\n\n".encode())
    assert next(stream) == "data: 999\n\ndata: t999\n\n"


def test_a_silent_stream_has_a_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.event_streams.HEARTBEAT_S", 0.01)
    stream = frames(Subscription("a", frozenset([PIPELINE])))
    next(stream)
    assert next(stream) == ": heartbeat\n\n"


def test_all_streams_end_when_the_process_ends() -> None:
    alive = threading.Event()
    alive.set()
    broadcast = Broadcast(Readings(), limit=2, alive=alive.is_set)
    stream = frames(broadcast.subscribe("a", PIPELINE))
    assert "open" in next(stream)
    assert "data: 1/0" in next(stream)
    alive.clear()
    assert list(stream) == []
    with pytest.raises(Full):
        broadcast.subscribe("a", PIPELINE)


def test_a_bad_reading_ends_neither_the_streams_nor_the_other_readings() -> None:
    readings = Readings()
    bad = Source("trending", "5m")

    def read(source: Source) -> Callable[[int], Message]:
        if source == bad:
            raise ValueError("bad")
        return readings(source)

    stream = frames(Broadcast(read, limit=1).subscribe("a", Topic(bad), PIPELINE))
    next(stream)
    assert "data: 1/0" in next(stream)
