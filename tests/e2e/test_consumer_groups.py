"""Several consumers in one group: some are killed, some stand still, one leaves, one is added; no tweet is lost or
twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
import redis

from common.process import manager
from middleware.registry import registry
from tests.search.servers import postgres_server
from tests.stack import ROOT, Stack, await_end, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

RATE, TWEETS = 200, 38_000

STANDSTILL_S = 15
"""Longer than a session, or a lease: others get the share of who stands still."""


@pytest.fixture(params=registry())
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    with postgres_server() as address:
        instance = Stack(
            f"test-groups-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_DATABASE_URL=address,
            MURMUR_PARTITIONS="3", MURMUR_SEARCH_CONSUMERS="2", MURMUR_TRENDING_CONSUMERS="2",
        )
        with instance.running():
            yield instance


@contextmanager
def added(instance: Stack, group: str, member: int) -> Iterator[None]:
    """One more member than the instance has by its setting, as long as the block lasts."""
    environment = {**instance.environment, "MURMUR_SETTINGS": str(instance.settings().settings_file)}
    process = subprocess.Popen(
        [sys.executable, "-m", f"consumers.{group}", "--member", str(member)], env=environment, cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def standing_still(instance: Stack, *names: str) -> Iterator[None]:
    pids = instance.pids()
    stopped = [psutil.Process(pid) for name in names for pid in pids[name]]
    for process in stopped:
        process.suspend()
    try:
        yield
    finally:
        for process in stopped:
            process.resume()


def completed(instance: Stack, stage: str, process: str) -> int:
    """How many tweets that process has told of."""
    settings = instance.settings()
    with redis.Redis.from_url(settings.redis_address) as client:
        content = client.get(f"{settings.redis_prefix}telemetry:{stage}:{process}")
    return json.loads(content)["total"] if content else 0


def test_members_that_come_and_go_lose_no_tweet_and_repeat_none(instance: Stack) -> None:
    asked = manager.ask(instance.settings(), manager.ENDED_SECONDS)

    def works(member: int) -> None:
        before = completed(instance, "searchable", f"search-{member}")
        eventually(f"member {member} makes tweets searchable",
                   lambda: completed(instance, "searchable", f"search-{member}") not in (0, before), 90)

    with instance.source(RATE, TWEETS) as source:
        works(0)
        works(1)
        for name in ("search", "trending-2", "search-2", "trending"):
            instance.kill(name)
            time.sleep(3)
        works(0)
        works(1)
        with standing_still(instance, "search-2", "trending-2"):
            time.sleep(STANDSTILL_S)
            works(0)
        works(1)
        with added(instance, "search", 2), added(instance, "trending", 2):
            works(2)
            asked.stopProcess("search-2")
            works(0)
            works(2)
            asked.startProcess("search-2")
            assert source.poll() is None, "the source has ended too early"
        works(1)
        await_end(source, 300)
    instance.audit_is_exact(TWEETS, timeout=240)
