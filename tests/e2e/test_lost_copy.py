"""Three replicas: the folder of the first server that holds events is lost while it is down."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from common.process import manager
from deploy.local.processes.start_after import listens
from middleware.pravega.ports import Port as PravegaPort
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

TWEETS = 4000


@pytest.fixture
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    instance = Stack(
        f"test-lost-{request.param}", MURMUR_MIDDLEWARE=request.param, MURMUR_REPLICAS="3", MURMUR_PARTITIONS="2"
    )
    with instance.running():
        yield instance


def ingest(instance: Stack, run: str) -> None:
    instance.ingest("--source", "synthetic", "--rate", "500", "--limit", str(TWEETS), "--run", run)


@pytest.mark.parametrize("instance", ["pravega"], indirect=True)
def test_a_bookie_that_lost_its_folder_comes_back_as_a_new_one_and_nothing_is_lost(instance: Stack) -> None:
    settings = instance.settings()
    asked = manager.ask(settings, manager.ENDED_SECONDS)
    ingest(instance, "before")
    asked.stopProcess("bookkeeper")
    ingest(instance, "without")
    shutil.rmtree(settings.state_dir / "bookkeeper")
    asked.startProcess("bookkeeper", False)
    eventually("the first bookie serves again", lambda: listens(settings.address(PravegaPort.BOOKIE)), 120)
    ingest(instance, "after")
    instance.murmur("down")  # whoever starts again recovers its ledgers from all bookies
    instance.murmur("up", timeout=240)
    instance.audit_is_exact(3 * TWEETS, timeout=300)
