"""Three replicas: one server that holds events stays dead for two minutes, another process is killed meanwhile; then
only one such server is left."""

from __future__ import annotations

import time
import xmlrpc.client
from collections.abc import Iterator
from functools import partial

import pytest

from common.process import manager
from common.settings import Settings
from deploy.local import stack
from deploy.local.middlewares import deployment
from deploy.local.processes.start_after import listens
from middleware.kafka.cluster import Cluster
from middleware.registry import driver, registry
from tests.stack import Stack, await_end, eventually, kill

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(1200)]

RATE, TWEETS = 200, 60_000
DEAD_SECONDS, TOO_FEW_SECONDS = 120, 20


@pytest.fixture(params=[name for name in registry() if driver(name).replicated])
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    instance = Stack(
        f"test-replicas-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_REPLICAS="3", MURMUR_PARTITIONS="2"
    )
    with instance.running():
        yield instance


def test_writes_go_on_without_one_replica_and_wait_with_only_one_and_nothing_is_lost_or_repeated(
    instance: Stack
) -> None:
    settings = instance.settings()
    servers = deployment(settings.middleware)
    (killed,) = [name for name in servers.killed if name != servers.syncing] or ["spark"]
    first, *others = [one.name for one in servers.processes(settings) if one.copy_of == servers.syncing]

    def acknowledged() -> int:
        return instance.acknowledged("long")

    def goes_on(why: str, seconds: int = 10) -> None:
        before = acknowledged()
        eventually(why, lambda: acknowledged() > before + seconds * RATE, 120)
        assert source.poll() is None, "the source has ended too early"

    with instance.source(RATE, TWEETS) as source:
        goes_on("tweets come in")
        victim = instance.pids()[killed]
        keep_dead(instance, first)
        died = time.monotonic()
        goes_on(f"without {first} tweets come in")
        kill(victim)
        goes_on(f"without {first}, {killed} being killed, tweets come in")
        time.sleep(max(0.0, died + DEAD_SECONDS - time.monotonic()))
        goes_on(f"tweets come in after two minutes without {first}")
        revive(settings, first)
        eventually(f"{first} is in step again", lambda: in_step(instance, first), 120)
        goes_on(f"with {first} again tweets come in")
        keep_dead(instance, *others)
        time.sleep(2)  # what was acknowledged before is in the manifest then
        before = acknowledged()
        time.sleep(TOO_FEW_SECONDS)
        assert acknowledged() == before, f"acknowledged by {first} alone"
        for name in others[1:]:
            revive(settings, name)
        goes_on(f"without {others[0]} tweets come in", 1)
        revive(settings, others[0])
        await_end(source, 600)
    instance.audit_is_exact(TWEETS, timeout=300)


def in_step(instance: Stack, name: str) -> bool:
    """Kafka needs one that was, and did not die, to go on with: it trusts no other's log after SIGKILL."""
    settings = instance.settings()
    if not listens(settings.address(*stack.process(settings, name).listens[0])):
        return False
    topics = Cluster(settings).metadata().topics.values() if settings.middleware == "kafka" else ()
    return all(len(one.isrs) == 3 for topic in topics for one in topic.partitions.values())


def keep_dead(instance: Stack, *names: str) -> None:
    """Killed by SIGKILL, and not started again by the process manager."""
    pids = instance.pids()
    for name in names:
        kill(pids[name])
    for name in names:
        eventually(f"{name} stays dead", partial(stops, instance.settings(), name), 30)


def stops(settings: Settings, name: str) -> bool:
    """False for one that has just ended by itself, and is about to be started again."""
    try:
        return bool(manager.ask(settings, manager.ENDED_SECONDS).stopProcess(name))
    except xmlrpc.client.Fault:
        return False


def revive(settings: Settings, name: str) -> None:
    manager.ask(settings, manager.ENDED_SECONDS).startProcess(name, False)
