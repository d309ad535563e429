"""A laptop that is closed in the middle: every process stands still for a minute, and its leases run out."""

from __future__ import annotations

import time

import psutil
import pytest

from common.process import manager
from deploy.local import instances
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.every_middleware]

TWEETS, CLOSED_S = 20_000, 60


def test_everything_goes_on_after_a_minute_at_a_standstill(stack: Stack) -> None:
    settings, run = stack.settings(), "closed"
    ingester = stack.start("ingest", "--source", "synthetic", "--rate", "500", "--limit", str(TWEETS), "--run", run)
    eventually("tweets flow", lambda: stack.acknowledged(run) > TWEETS / 10, 60)
    of_ingester = psutil.Process(ingester.pid)
    stopped = [psutil.Process(manager.ask(settings).getPID()), *instances.leftovers(settings), of_ingester,
               *of_ingester.children(recursive=True)]
    for process in stopped:
        process.suspend()
    time.sleep(CLOSED_S)
    for process in stopped:
        process.resume()
    _, errors = ingester.communicate(timeout=300)
    if ingester.returncode:  # it may give up; then it says how to go on
        assert "--resume" in errors
        stack.ingest("--resume", timeout=300)
    stages = stack.audit("--run", run, timeout=300)
    assert {name: (s["missing"], s["duplicated"]) for name, s in stages.items()} == dict.fromkeys(stages, (0, 0))
    assert stages["published"]["expected"] == TWEETS
    eventually("every process runs", lambda: all(p["state"] == "running" for p in stack.status()["processes"]), 120)
