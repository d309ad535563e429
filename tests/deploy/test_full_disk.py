"""Two full disks, each a file system of its own in a mount namespace of this test: the archive's, and that of all that
an instance stores. Needs root; where a mount is refused, the tests fail.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from common.settings import Port
from common.storage.files import last_lines
from common.tweets import rfc3339
from middleware.registry import registry
from tests.stack import PORT_BASE, ROOT, Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(1200)]

CLONE_NEWNS = 0x00020000
INSTANCES = ROOT / ".murmur" / "instances"
INSTANCE_MIB, ARCHIVE_MIB = 900, 64
OUTAGE_SECONDS = 30.0
READY_SECONDS = 60.0
RATE, TWEETS = 100, 9000


@pytest.fixture(autouse=True)
def mounts() -> Iterator[None]:
    """What this thread mounts, it and the processes that it starts see, and nobody else."""
    before = os.open("/proc/thread-self/ns/mnt", os.O_RDONLY)
    call("unshare", CLONE_NEWNS)
    try:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        yield
    finally:
        call("setns", before, CLONE_NEWNS)
        os.close(before)
        os.chdir(ROOT)


def call(function: str, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, function)(*arguments):
        raise OSError(ctypes.get_errno(), f"{function}: {os.strerror(ctypes.get_errno())}")


@contextmanager
def running(middleware: str) -> Iterator[Stack]:
    """An instance on a file system of its own, which hides all other instances: hence ports apart."""
    INSTANCES.mkdir(parents=True, exist_ok=True)
    mount(INSTANCES, INSTANCE_MIB)
    instance = Stack("test-full-disk", MURMUR_MIDDLEWARE=middleware, MURMUR_PORT_BASE=str(PORT_BASE + 1000))
    try:
        instance.murmur("up", timeout=300)
        yield instance
    except BaseException:
        for log in sorted(instance.settings().log_dir.glob("*.log")):
            print(f"== {log.name}", *last_lines(log, 15), sep="\n")
        raise
    finally:
        instance.down()


def mount(folder: Path, mebibytes: int) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=0700", "tmpfs", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """A file that leaves no room beside it."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        for size in (1 << 20, 1 << 12):
            while os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize >= size:
                file.write(bytes(size))
                file.flush()
    return ballast


def push(instance: Stack, text: str) -> int:
    """Status with which a tweet that is pushed is answered."""
    now_us = time.time_ns() // 1000
    tweet = {"data": {"id": str(now_us), "text": text, "author_id": "1", "created_at": rfc3339(now_us)}}
    return requests.post(
        f"{instance.url}/api/v1/tweets", data=json.dumps(tweet), timeout=30,
        headers={"Authorization": f"Bearer {instance.settings().ingest_token}"},
    ).status_code


def is_answered(instance: Stack, text: str, *expected: int) -> bool:
    assert (status := push(instance, text)) in expected, f"a push was answered with {status}"
    return True


def is_found(instance: Stack, word: str) -> bool:
    return any(word in hit["text"] for hit in instance.get("search", q=word)["hits"])


def is_counted(instance: Stack, tag: str) -> bool:
    return instance.ranking().get(tag, 0) >= 1


def is_well(instance: Stack) -> bool:
    """Every process runs, and those that can be asked say that they are ready."""
    settings = instance.settings()
    states = {process["name"]: process["state"] for process in instance.status()["processes"]}
    assert {name: state for name, state in states.items() if state != "running"} == {}
    ports = [settings.port(Port.INGEST), *(settings.port(Port.WEB, n) for n in range(settings.web_replicas))]
    for address in (settings.url, *(f"http://127.0.0.1:{port}" for port in ports)):
        answer = requests.get(f"{address}/readyz", timeout=10)
        assert answer.status_code == 200, f"{answer.url}: {answer.text}"
    return True


def judge(instance: Stack, ingester: subprocess.Popen[str], run: str) -> None:
    """Ready within a minute from now on, without a command; the source goes on by itself; and nothing was lost."""
    until = time.monotonic() + READY_SECONDS
    eventually("a tweet is taken", lambda: is_answered(instance, "again #roomagain", 200), until - time.monotonic())
    eventually("it is ranked", lambda: is_counted(instance, "roomagain"), until - time.monotonic())
    eventually("it is found", lambda: is_found(instance, "roomagain"), until - time.monotonic())
    eventually("all is well", lambda: is_well(instance), until - time.monotonic())
    output, errors = ingester.communicate(timeout=300)
    assert ingester.returncode == 0, f"{output}\n{errors}"
    stages = instance.audit(timeout=180)
    assert {name: (one["missing"], one["duplicated"]) for name, one in stages.items()} == dict.fromkeys(stages, (0, 0))
    assert instance.audit("--run", run)["published"]["found"] == TWEETS


def ingesting(instance: Stack, run: str) -> subprocess.Popen[str]:
    amount = ("--rate", str(RATE), "--limit", str(TWEETS))
    source = instance.start("ingest", "--source", "synthetic", *amount, "--run", run)
    eventually("the first tweets are published", lambda: instance.acknowledged(run) > 0, 60)
    return source


@pytest.mark.parametrize("middleware", registry())
def test_the_disk_of_the_whole_instance(middleware: str) -> None:
    with running(middleware) as instance:
        ingester = ingesting(instance, "full")
        ballast = fill(INSTANCES)
        eventually("a push is refused for want of room", lambda: is_answered(instance, "no room", 503, 507), 30)
        time.sleep(OUTAGE_SECONDS)
        assert ingester.poll() is None, ingester.communicate()
        ballast.unlink()
        judge(instance, ingester, "full")


def test_the_disk_of_the_archive() -> None:
    with running(registry()[0]) as instance:
        archive = instance.settings().archive_dir
        archive.mkdir(parents=True, exist_ok=True)
        mount(archive, ARCHIVE_MIB)
        ingester = ingesting(instance, "full")
        ballast = fill(archive)
        eventually("a push is refused for want of room", lambda: is_answered(instance, "no room", 507), 30)
        time.sleep(OUTAGE_SECONDS)
        assert ingester.poll() is None, ingester.communicate()
        ballast.unlink()
        judge(instance, ingester, "full")
