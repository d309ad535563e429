"""Three replicas: one server that holds events stays dead for two minutes, another process is killed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from common.process import manager
from deploy.local.middlewares import deployment
from middleware.registry import driver, registry
from tests.stack import Stack, await_end, eventually, kill

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(1200)]

RATE, TWEETS = 200, 48_000
DEAD_SECONDS = 120


@pytest.fixture(params=[name for name in registry() if driver(name).replicated])
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    instance = Stack(
        f"test-replicas-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_REPLICAS="3", MURMUR_PARTITIONS="2"
    )
    with instance.running():
        yield instance


def test_writes_go_on_while_a_replica_is_dead_and_nothing_is_lost_or_repeated(instance: Stack) -> None:
    settings = instance.settings()
    servers = deployment(settings.middleware)
    (killed,) = [name for name in servers.killed if name != servers.syncing] or ["spark"]
    dead, asked = f"{servers.syncing}-2", manager.ask(settings, manager.ENDED_SECONDS)

    def goes_on(why: str) -> None:
        before = instance.acknowledged("long")
        eventually(why, lambda: instance.acknowledged("long") > before + 10 * RATE, 120)
        assert source.poll() is None, "the source has ended too early"

    with instance.source(RATE, TWEETS) as source:
        goes_on("tweets come in")
        victim = instance.pids()[killed]
        asked.stopProcess(dead)
        died = time.monotonic()
        goes_on(f"without {dead} tweets come in")
        kill(victim)
        goes_on(f"without {dead}, {killed} being killed, tweets come in")
        time.sleep(max(0.0, died + DEAD_SECONDS - time.monotonic()))
        goes_on(f"tweets come in after two minutes without {dead}")
        asked.startProcess(dead)
        await_end(source, 600)
    instance.audit_is_exact(TWEETS, timeout=300)
