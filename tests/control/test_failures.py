"""Failures that the page asks for, of real processes."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import psutil
import pytest
from redis import Redis
from redis.exceptions import RedisError

from common.experiments import experimenting
from common.process import manager
from common.settings import Settings
from tests.control.conftest import Ask
from tests.stack import eventually


def told(settings: Settings) -> list[bytes]:
    """Nothing while Redis is away."""
    with suppress(RedisError), Redis.from_url(settings.redis_address) as client:
        return client.lrange(f"{settings.redis_prefix}failures", 0, -1)
    return []


def test_a_process_is_killed_and_the_answer_does_not_wait_until_it_is_back(instance: Settings, opened: Ask) -> None:
    before = manager.ask(instance).getProcessInfo("redis")["pid"]
    answer = opened("failures", {"kind": "kill", "process": "redis"})
    assert answer.status_code == 202
    assert (answer.json["what"], answer.json["name"], answer.json["pid"]) == ("kill", "redis", before)
    eventually("it is gone", lambda: not psutil.pid_exists(before), 10)
    assert "back_after_s" not in answer.json
    eventually("it is told to be back", lambda: told(instance) and b"back_after_s" in told(instance)[0], 30)


def test_a_pause_ends_by_itself_and_there_is_one_at_a_time(instance: Settings, opened: Ask) -> None:
    process = psutil.Process(manager.ask(instance).getProcessInfo("nginx")["pid"])
    assert opened("failures", {"kind": "pause", "process": "nginx", "seconds": 2}).status_code == 202
    eventually("it is paused", lambda: process.status() == psutil.STATUS_STOPPED, 10)
    again = opened("failures", {"kind": "kill", "process": "nginx"})
    assert (again.status_code, again.mimetype) == (409, "application/problem+json")
    eventually("it goes on", lambda: process.status() != psutil.STATUS_STOPPED, 10)


def test_nothing_fails_while_an_experiment_runs(instance: Settings, opened: Ask) -> None:
    before = manager.ask(instance).getProcessInfo("redis")["pid"]
    with experimenting(instance):
        answer = opened("failures", {"kind": "kill", "process": "redis"})
        assert "an experiment runs" in opened("session", method="GET").json["refused"]
    assert answer.status_code == 409
    assert "an experiment runs" in answer.json["detail"]
    time.sleep(0.2)
    assert manager.ask(instance).getProcessInfo("redis")["pid"] == before
    assert opened("session", method="GET").json["refused"] is None


@pytest.mark.parametrize(("body", "status"), [
    ({"kind": "kill", "process": "nonsense"}, 409), ({"kind": "kill", "process": "control"}, 409),
    ({"kind": "kill", "process": "redis", "seconds": 5}, 409), ({"kind": "flush-cache", "process": "nginx"}, 409),
    ({"kind": "fill-disk", "process": "nginx"}, 409), ({"kind": "fill-disk", "process": "nonsense"}, 409),
    ({"kind": "pause", "process": "nginx", "seconds": 61}, 400),
    ({"kind": "pause", "process": "nginx", "seconds": 0}, 400), ({"kind": "drop", "process": "nginx"}, 400),
    ({"kind": "kill", "process": "redis", "more": 1}, 400), ([], 400), ("kill", 400), ({}, 400),
])
def test_what_cannot_be_done_is_refused_with_the_reason(
    instance: Settings, opened: Ask, body: Any, status: int
) -> None:
    answer = opened("failures", body)
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    assert answer.json["detail"]
    assert told(instance) == []


def test_what_may_be_done_is_told_by_process(instance: Settings, opened: Ask) -> None:
    actions = opened("session", method="GET").json["actions"]
    reasons = {(one["process"], one["kind"]): one["why_not"] for one in actions}
    assert [reasons[name, "kill"] for name in ("redis", "nginx")] == [None, None]
    assert "stores nothing in a folder of its own" in reasons["nginx", "fill-disk"]
    assert {name for name, kind in reasons if kind == "flush-cache"} == {"redis"}


def test_without_a_process_manager_nothing_can_be_done(opened: Ask) -> None:
    assert opened("failures", {"kind": "kill", "process": "redis"}).status_code == 503
