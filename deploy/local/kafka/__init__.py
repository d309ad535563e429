"""Kafka 4 on one machine: each process is broker and controller, its state kept across restarts."""

from __future__ import annotations

import base64
import socket
import struct
import uuid
from collections.abc import Mapping
from pathlib import Path

from common.addresses import numbered
from common.process.child import python
from common.settings import Settings, StoreTuning
from common.storage import files
from deploy.local.middlewares import Deployment, NotInstalled
from deploy.local.processes import jvm
from deploy.local.processes.spec import Probe, Process
from deploy.local.rendering import write
from middleware.kafka.ports import Port

HEAP: Mapping[StoreTuning, str] = {"laptop": "512m", "documented": "1g"}
"""The latter is that of Kafka's start script."""

PROBE_SECONDS = 2.0
API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)
"""The request that every client begins with: key 18, version 0, correlation 1, no client name."""


def write_configuration(settings: Settings) -> None:
    """Renders the brokers' configuration into `<state_dir>/conf`."""
    if not any((settings.jar_dir / "kafka").glob("kafka_*.jar")):
        raise NotInstalled("Kafka's broker")
    for replica in range(settings.replicas):
        write("kafka/server.properties", configuration(settings, replica), settings, ports=Port, replica=replica,
              folder=folder(settings, replica))
    id_file = cluster_id(settings)
    if not id_file.exists():
        files.replace(id_file, random_id())


def processes(settings: Settings) -> list[Process]:
    return [
        Process(name(replica), python("deploy.local.kafka.broker", str(replica)), stage=0,
                ready=answers(settings.port(Port.BROKER, replica)), stop_seconds=3, memory_mib=896,
                listens=((Port.BROKER, replica), (Port.CONTROLLER, replica)),
                copy_of="kafka" if settings.replicas > 1 else "", data=folder(settings, replica))
        for replica in range(settings.replicas)
    ]


def name(replica: int) -> str:
    """Of the process, and of the folder of its state."""
    return numbered("kafka", replica)


def folder(settings: Settings, replica: int) -> Path:
    return settings.state_dir / name(replica)


def configuration(settings: Settings, replica: int) -> Path:
    return settings.state_dir / "conf" / f"{name(replica)}.properties"


def cluster_id(settings: Settings) -> Path:
    """File of the id with which every broker of the instance formats its storage."""
    return settings.state_dir / "kafka-cluster-id"


def random_id() -> str:
    """As Kafka's tool takes it: base64 that must not look like an option."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()).startswith("-"):
        pass
    return text


def answers(port: int) -> Probe:
    """The broker answers a request; it listens well before it does."""

    def probe(started: float) -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=PROBE_SECONDS) as connection:
            connection.sendall(struct.pack(">i", len(API_VERSIONS)) + API_VERSIONS)
            answer = connection.recv(10)
        return len(answer) == 10 and struct.unpack(">ih", answer[4:]) == (1, 0)  # correlation, no error

    return probe


def java(settings: Settings, heap: str, main: str, *arguments: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Command that runs a main class of Kafka with a fixed heap."""
    logging = {"defaultLogLevel": "warn", "showDateTime": "true", "dateTimeFormat": "yyyy-MM-dd HH:mm:ss.SSS",
               "log.kafka.server.KafkaRaftServer": "info"}
    return (
        *jvm.command(settings, heap),
        "-XX:+AlwaysPreTouch",  # or else its heap, of which little is in use, fills within the first half hour
        *(f"-Dorg.slf4j.simpleLogger.{name}={value}" for name, value in logging.items()),
        *options, "-cp", f"{settings.jar_dir / 'kafka'}/*", main, *arguments,
    )


DEPLOYMENT = Deployment(write_configuration, processes, syncing="kafka", killed=("kafka",))
