"""The smallest instance that has controls, as it is deployed: a real kill through Nginx, and what is left of it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import requests

from common import control
from common.process import manager
from common.settings import Settings
from deploy.local import instances, nginx, redis, stack
from deploy.local.processes import supervisor
from deploy.local.processes.wait_ready import is_ready
from tests.deploy.processes.supervised import running
from tests.stack import PORT_BASE, eventually

pytestmark = pytest.mark.server


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Settings]:
    """Redis, the controls and Nginx."""
    settings = Settings(home=tmp_path, port_base=PORT_BASE + 1850, milvus_uri="elsewhere", middleware_uri="elsewhere")
    settings.save()
    control.make(settings)
    stack.write_configuration(settings)
    processes = [redis.process(settings), stack.controls(settings), nginx.process(settings)]
    supervisor.write_configuration(settings, processes)
    supervisor.start(settings)
    try:
        eventually("all run", lambda: running(settings) == {"redis", "control", "nginx"}, 60)
        eventually("the controls answer", lambda: is_ready(processes[1], 0.0), 60)
        yield settings
    finally:
        supervisor.stop(settings, processes)
        eventually("all has ended", lambda: not instances.leftovers(settings), 20)


def test_a_process_is_killed_through_nginx(deployed: Settings) -> None:
    assert stat.S_IMODE(control.socket_path(deployed).stat().st_mode) == 0o600
    page, token = requests.Session(), control.token_file(deployed).read_text()
    page.headers["Origin"] = deployed.url
    kill = {"kind": "kill", "process": "redis"}
    pid = manager.ask(deployed).getProcessInfo("redis")["pid"]

    refused = page.post(f"{deployed.url}/control/failures", json=kill, timeout=10)
    assert (refused.status_code, refused.headers["Content-Type"]) == (401, "application/problem+json")
    foreign = page.post(f"{deployed.url}/control/session", json={"token": token}, headers={"Host": "evil.example"},
                        timeout=10)
    assert foreign.status_code == 421
    assert psutil.pid_exists(pid)

    assert page.post(f"{deployed.url}/control/session", json={"token": token}, timeout=20).json()["open"]
    answer = page.post(f"{deployed.url}/control/failures", json=kill, timeout=30)
    assert (answer.status_code, answer.json()["pid"]) == (202, pid), answer.text
    eventually("it is gone", lambda: not psutil.pid_exists(pid), 10)

    for log in deployed.log_dir.iterdir():
        assert token not in log.read_text(), log
    assert "POST /control/failures: 202" in (deployed.log_dir / "control.log").read_text()
