"""Starting, killing and stopping real instances."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis

from common import control
from common.process import manager
from common.tweets import RAW, STREAMS
from deploy.local import instances
from deploy.local.middlewares import deployment
from middleware.registry import connect
from tests.stack import Stack, eventually

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def servers(stack: Stack) -> Iterator[Stack]:
    """A second instance beside the shared one: its servers only."""
    second = Stack("test-second")
    try:
        second.up("--servers-only")
        yield second
    finally:
        second.down()


def refused(stack: Stack, *words: str) -> str:
    """The message of a command that must fail."""
    process = stack.start(*words)
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "Traceback" not in errors
    return errors


def test_two_instances_run_side_by_side(stack: Stack, servers: Stack):
    one, other = stack.settings(), servers.settings()
    assert one.port_block != other.port_block
    for settings in (one, other):
        redis.Redis.from_url(settings.redis_address).set("whose", settings.instance)
    for settings in (one, other):
        assert redis.Redis.from_url(settings.redis_address).get("whose") == settings.instance.encode()


def test_up_again_is_harmless(servers: Stack):
    before = servers.status()
    assert "runs already" in servers.murmur("up", "--servers-only")
    assert [p["pid"] for p in servers.status()["processes"]] == [p["pid"] for p in before["processes"]]


def test_up_with_another_durability_says_what_to_do(servers: Stack):
    assert "murmur down" in refused(servers, "up", "--durability", "page-cache")


def test_each_process_has_a_session_of_its_own(stack: Stack):
    """The kernel shares the cores out by session."""
    for process in stack.status()["processes"]:
        assert os.getsid(process["pid"]) == process["pid"], process["name"]


def test_those_for_whom_users_wait_come_before_the_others(stack: Stack):
    """On a kernel that shares the cores out by session, and on one that does so by thread."""
    niceness = {process["name"]: nicenesses(process["pid"]) for process in stack.status()["processes"]}
    first = {niceness.pop(name) for name in ("redis", "milvus", "ingest-http", "web-0", "web-1", "control", "nginx")}
    assert len(first) == 1
    for name, of_process in niceness.items():
        assert all(own < other for own, other in zip(*first, of_process, strict=True)), name


def nicenesses(pid: int) -> tuple[int, ...]:
    """Of a process, and of its session where the kernel has such."""
    session = Path(f"/proc/{pid}/autogroup")
    own = os.getpriority(os.PRIO_PROCESS, pid)
    return (own, int(session.read_text().split()[-1])) if session.exists() else (own,)


def test_a_killed_process_comes_back(stack: Stack):
    before = stack.pids()["web-0"]
    stack.kill("web-0")
    eventually("web-0 comes back", lambda: stack.pids().get("web-0", before) != before, 30)
    assert all(psutil.pid_exists(pid) for pid in stack.pids()["web-0"])
    assert stack.get("pipeline")["middleware"] == stack.settings().middleware


@pytest.mark.slow
def test_everything_comes_back_with_its_data_after_everything_was_killed(servers: Stack):
    settings = servers.settings()
    events = [f'{{"n": {n}}}'.encode() for n in range(500)]
    with connect(settings) as middleware, middleware.data.producer(RAW) as producer:
        for event in events:
            producer.send("key", event)
        producer.flush()
    daemon = psutil.Process(manager.ask(settings).getPID())
    killed = instances.leftovers(settings)
    daemon.kill()
    _, alive = psutil.wait_procs(killed, timeout=10)
    assert alive == [], "processes outlive the process manager"

    servers.murmur("up", "--servers-only", timeout=240)
    found: list[bytes] = []
    with connect(servers.settings()) as middleware, middleware.data.consumer(RAW, "test", start="head") as consumer:
        eventually("all events are read", lambda: found.extend(consumer.poll(1000, 1.0)) or len(found) >= 500, 60)
    assert found == events


def test_status_is_for_programs_too(stack: Stack):
    found = stack.status()
    assert {"url", "middleware", "durability", "processes", "database"} <= found.keys()
    names = {process["name"] for process in found["processes"]}
    settings = stack.settings()
    servers = {server.name for server in deployment(settings.middleware).processes(settings)}
    others = {"redis", "milvus", "spark", "trending", "search", "ingest-http", "ledger", "web-0", "web-1", "control",
              "nginx"}
    assert names == servers | others
    assert control.token_file(settings).read_text() not in json.dumps(found)
    assert all(process["state"] == "running" and process["pid"] for process in found["processes"])


def test_logs_shows_a_process_and_names_what_there_is(stack: Stack):
    server = deployment(stack.settings().middleware).syncing
    assert stack.murmur("logs", server, "-n", "3")
    assert server in refused(stack, "logs", "nonsense")


def test_streams_exist_after_up(servers: Stack):
    with connect(servers.settings()) as middleware:
        for stream in STREAMS:
            middleware.data.producer(stream).close()


def test_down_ends_every_process_and_wipe_removes_the_state():
    """Of an instance of its own, as the other tests need theirs."""
    instance = Stack("test-wiped")
    try:
        instance.up("--servers-only")
        settings = instance.settings()
        assert instances.leftovers(settings)
        instance.murmur("down", "--wipe", "--yes")
        assert instances.leftovers(settings) == []
        assert not settings.instance_dir.exists()
    finally:
        instance.down()
