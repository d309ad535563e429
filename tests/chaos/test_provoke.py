"""Failures of processes under a real process manager, and what is told of them; Redis is one of the processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from redis import Redis

from chaos import recovery
from chaos.failure import LONGEST_S, Failure, Refused
from chaos.provoke import Outcome, leased, names, provoke
from chaos.record import Record
from chaos.recovery import await_back
from common import modules
from common.process import manager
from common.process.identity import Identity, is_group
from common.settings import Port, Settings
from common.telemetry.failures import FAILURES
from deploy.local.processes.spec import Process
from tests.deploy.conftest import Start, start  # noqa: F401
from tests.deploy.processes.supervised import running
from tests.stack import ROOT, eventually
from tests.web.conftest import free_port


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = Settings(home=tmp_path, instance="one", port_base=free_port() - Port.REDIS)
    found.log_dir.mkdir(parents=True)
    return found


@pytest.fixture
def instance(settings: Settings, start: Start) -> Settings:  # noqa: F811
    """One of Redis and a process that stores nothing."""
    server = f"exec redis-server --port {settings.port(Port.REDIS)} --save '' --dir {settings.instance_dir}"
    start(redis=server, nginx="exec sleep 300")
    eventually("both run", lambda: running(settings) == {"redis", "nginx"}, 30)
    return settings


def provoked(settings: Settings, failure: Failure) -> tuple[list[Record], Outcome]:
    told: list[Record] = []
    return told, provoke(settings, failure, None, told.append)


def kept(settings: Settings) -> list[dict[str, object]]:
    with Redis.from_url(settings.redis_address) as client:
        return [json.loads(record) for record in client.lrange(f"{settings.redis_prefix}{FAILURES}", 0, -1)]


def killed(settings: Settings, start: Start, command: str) -> tuple[Process, int, float]:  # noqa: F811
    """A process that is ready as soon as it runs, its id until it was killed, and when that was."""
    (process,) = start(web=command)
    eventually("it runs", lambda: running(settings) == {"web"}, 30)
    found = Identity.of(manager.ask(settings).getProcessInfo("web")["pid"])
    assert found
    at = time.time()
    found.kill()
    return replace(process, ready=lambda started: True), found.pid, at


def test_a_killed_process_is_back_when_it_answers_anew(instance: Settings) -> None:
    told, outcome = provoked(instance, Failure("kill", "redis"))
    assert told[0].pid
    assert not psutil.pid_exists(told[0].pid)
    assert outcome.record.back_after_s is not None
    assert outcome.record.caught_up_after_s is None
    assert outcome.as_json() == {**outcome.record.as_json(), "flows": False, "recovered": True}
    assert kept(instance) == [outcome.record.as_json()]


def test_what_a_killed_process_has_left_running_does_not_answer_for_the_next(
    settings: Settings, start: Start,  # noqa: F811
) -> None:
    """As the workers of a web server do until they find their parent gone."""
    process, pid, at = killed(settings, start, "sleep 4 & exec sleep 300")
    assert await_back(settings, process, pid, at)
    assert not is_group(pid)
    eventually("it runs again", lambda: running(settings) == {"web"}, 30)


def test_a_process_has_the_time_that_its_start_may_take(
    settings: Settings, start: Start, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    monkeypatch.setattr(recovery, "PATIENCE_S", 0.0)
    process, pid, at = killed(settings, start, "exec sleep 300")
    assert await_back(settings, process, pid, at)
    eventually("it runs again", lambda: running(settings) == {"web"}, 30)  # one that just starts may outlive its end


def test_a_pause_is_told_with_its_end(instance: Settings) -> None:
    told, outcome = provoked(instance, Failure("pause", "nginx", 0.5))
    assert told[0].until_us
    assert told[0].until_us - told[0].at_us == 500_000
    assert outcome.record.until_us
    assert outcome.record.until_us >= told[0].at_us + 400_000
    assert kept(instance) == [outcome.record.as_json()]


def test_a_pause_whose_guard_is_killed_has_not_been_held_to_its_end(instance: Settings) -> None:
    def kill_guard(record: Record) -> None:
        (guard,) = (child for child in psutil.Process().children() if modules.Chaos.GUARD in child.cmdline())
        guard.kill()

    outcome = provoke(instance, Failure("pause", "nginx", 30.0), None, kill_guard)
    assert "before its time: the guard of nginx ended with -9" in outcome.problem
    assert not outcome.has_recovered
    assert kept(instance) == [outcome.record.as_json()]
    assert outcome.record.pid
    assert psutil.Process(outcome.record.pid).status() != psutil.STATUS_STOPPED


def test_a_process_that_the_process_manager_does_not_know_is_refused_with_those_that_it_does(
    instance: Settings
) -> None:
    assert names(instance) == ["nginx", "redis"]
    with pytest.raises(Refused, match="no process 'sshd'; there are nginx, redis"):
        provoked(instance, Failure("kill", "sshd"))


def test_a_disk_is_filled_only_if_it_is_of_its_own(instance: Settings) -> None:
    (instance.instance_dir / "redis").mkdir()
    with pytest.raises(Refused, match="would fill the disk of others"):
        provoked(instance, Failure("fill-disk", "redis", 5.0))
    with pytest.raises(Refused, match="nginx stores nothing in a folder of its own"):
        provoked(instance, Failure("fill-disk", "nginx", 5.0))
    assert kept(instance) == []


DISKS = """
import subprocess, sys
import pytest
from chaos.failure import Refused
from chaos.provoke import disk_of_its_own
from common.settings import Settings

def refused_for(other):
    with pytest.raises(Refused, match=f"the same file system as {other}:"):
        disk_of_its_own(settings, "redis")

settings = Settings(home=sys.argv[1], instance="one", middleware="kafka")
folder = settings.instance_dir / "redis"
subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
assert disk_of_its_own(settings, "redis") == folder
for other in (settings.state_dir, settings.log_dir, settings.state_dir / "milvus"):
    subprocess.run(["mount", "--bind", folder, other], check=True)
    refused_for(other)
    subprocess.run(["umount", other], check=True)
subprocess.run(["mount", "-t", "tmpfs", "none", settings.instance_dir], check=True)
folder.mkdir()
refused_for(settings.instance_dir)
"""


def test_a_disk_that_others_are_on_too_is_not_filled(settings: Settings) -> None:
    """Each beside the one of all instances, and seen by this test's process alone."""
    for folder in (settings.instance_dir / "redis", settings.instance_dir / "kafka" / "milvus"):
        folder.mkdir(parents=True)
    done = subprocess.run(["unshare", "--mount", sys.executable, "-c", DISKS, str(settings.home)], cwd=ROOT,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_no_lease_is_longer_than_the_bound(settings: Settings) -> None:
    with pytest.raises(Refused, match="60 s at most"):
        leased(settings, Failure("pause", "redis", LONGEST_S + 1))
