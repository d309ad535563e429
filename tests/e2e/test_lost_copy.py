"""Three replicas: the folder of the first server that holds events is lost while it is down."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from common.process import manager
from common.settings import Settings
from deploy.local import kafka
from deploy.local.kafka import broker
from deploy.local.processes.start_after import listens
from middleware.kafka.ports import Port as KafkaPort
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


@pytest.mark.parametrize("instance", ["kafka"], indirect=True)
def test_a_broker_that_lost_its_folder_begins_anew_once_it_is_told_to_and_nothing_is_lost(instance: Stack) -> None:
    """By the steps of docs/operations.md."""
    settings = instance.settings()
    asked, log = manager.ask(settings, manager.ENDED_SECONDS), settings.log_dir / "kafka.log"
    ingest(instance, "before")
    asked.stopProcess("kafka")
    shutil.rmtree(kafka.folder(settings, 0))
    asked.startProcess("kafka", False)
    eventually("it says why it does not start", lambda: "only while the other two run" in log.read_text(), 60)
    ingest(instance, "without")
    instance.murmur("down")
    warned = instance.start("up").communicate(timeout=240)[1]
    assert "warning: kafka has died 3 times" in warned
    assert not kafka.folder(settings, 0).exists()

    followers = re.findall(r"^[23]\s.*(?:Leader|Follower)", described(settings), re.MULTILINE)
    assert [row.split()[3] for row in followers] == ["0", "0"], "neither lags"
    broker.formatted(settings, 0).unlink()
    eventually("it serves", lambda: listens(settings.address(KafkaPort.BROKER)), 120)
    eventually("it has all partitions", lambda: not under_replicated(settings), 120)
    asked.stopProcess("kafka-2")
    ingest(instance, "after")
    asked.startProcess("kafka-2", False)
    instance.audit_is_exact(3 * TWEETS, timeout=300)


def described(settings: Settings) -> str:
    """The controllers, of which each row tells the id, its directory, the end of its log and by how much it lags."""
    return tool(settings, "MetadataQuorumCommand", "describe", "--replication")


def under_replicated(settings: Settings) -> str:
    return tool(settings, "TopicCommand", "--describe", "--under-replicated-partitions").strip()


def tool(settings: Settings, name: str, *words: str) -> str:
    servers = ",".join(settings.address(KafkaPort.BROKER, replica) for replica in range(3))
    command = ["java", "-cp", f"{settings.jar_dir / 'kafka'}/*", f"org.apache.kafka.tools.{name}",
               "--bootstrap-server", servers, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
