"""Both queries on a standalone master with two workers, whose executors are killed while tweets come in."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
import redis

from common.telemetry.stages import read_stages
from middleware.registry import registry
from tests.stack import PORT_BASE, Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

MASTER, WORKERS = PORT_BASE + 1900, 2
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
TWEETS = 24_000


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[psutil.Process]]:
    """A master and two workers of one core each, all on loopback."""
    spark_class = Path(sys.executable).with_name("spark-class")
    deploy = "org.apache.spark.deploy"

    def started(name: str, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [spark_class, *words], stdout=subprocess.DEVNULL, stderr=(tmp_path / f"{name}.log").open("wb"),
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}, start_new_session=True,
        )
        running.callback(end, process)
        return process

    with ExitStack() as running:
        started("master", f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(MASTER),
                "--webui-port", str(MASTER + 1))
        eventually("the master listens", lambda: listens(MASTER), 60)
        processes = [
            started(f"worker-{n}", f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--port", str(MASTER + 2 + 2 * n),
                    "--webui-port", str(MASTER + 3 + 2 * n), "--cores", "1", "--memory", "1g",
                    "--work-dir", str(tmp_path / f"work-{n}"), f"spark://127.0.0.1:{MASTER}")
            for n in range(WORKERS)
        ]  # fmt: skip
        yield [psutil.Process(process.pid) for process in processes]


def end(process: subprocess.Popen[bytes]) -> None:
    """The whole session, executors among it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(params=sorted(registry()))
def instance(request: pytest.FixtureRequest, workers: list[psutil.Process]) -> Iterator[Stack]:
    instance = Stack(
        f"test-master-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_PARTITIONS="2",
        MURMUR_SPARK_MASTER=f"spark://127.0.0.1:{MASTER}", MURMUR_TRENDING_SHARDS="2",
    )
    try:
        instance.up()
        yield instance
    finally:
        instance.down()


def executors(workers: list[psutil.Process]) -> list[psutil.Process]:
    found = []
    for worker in workers:
        for child in worker.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if EXECUTOR in child.cmdline() and child.name() == "java":
                    found.append(child)
    return found


def enriched(instance: Stack) -> int:
    """How many tweets *enrich* has told of."""
    settings = instance.settings()
    with redis.Redis.from_url(settings.redis_address) as client:
        return read_stages(client, settings.redis_prefix, time.time())["enriched"].total


def test_executors_that_are_killed_cost_no_tweet_and_repeat_none(
    instance: Stack, workers: list[psutil.Process]
) -> None:
    assert len(executors(workers)) == WORKERS
    source = instance.start("ingest", "--source", "synthetic", "--rate", "300", "--limit", str(TWEETS), "--run", "long")
    try:
        for kill in range(4):
            before = enriched(instance)
            eventually("tweets are enriched", lambda before=before: enriched(instance) > before + 500, 120)
            assert source.poll() is None, "the kill would come after the last tweet"
            victim = executors(workers)[kill % WORKERS]
            victim.kill()
            eventually("there are two again", lambda gone=victim.pid: {
                process.pid for process in executors(workers)} - {gone} and len(executors(workers)) == WORKERS, 120)
            time.sleep(1)
        _, errors = source.communicate(timeout=300)
        assert source.returncode == 0, errors
    finally:
        source.kill()
        source.wait()
    stages = instance.audit(timeout=240)
    found = {name: (stage["expected"], stage["missing"], stage["duplicated"]) for name, stage in stages.items()}
    assert found == dict.fromkeys(("published", "enriched", "ranked", "stored", "indexed"), (TWEETS, 0, 0))
