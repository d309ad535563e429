"""Kafka 4 on one machine: one process that is broker and controller, its state kept across restarts."""

from __future__ import annotations

import socket
import struct

from common.process.child import MissingProgram, python
from common.settings import Settings
from deploy.local.middlewares import Deployment
from deploy.local.processes import jvm
from deploy.local.processes.spec import Probe, Process
from deploy.local.rendering import write
from middleware.kafka.ports import Port

HEAP = "512m"
PROBE_SECONDS = 2.0
API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)
"""The request that every client begins with: key 18, version 0, correlation 1, no client name."""


def write_configuration(settings: Settings) -> None:
    """Renders the broker's configuration into `<state_dir>/conf`."""
    if not any((settings.jar_dir / "kafka").glob("kafka_*.jar")):
        raise MissingProgram("Kafka's broker is not installed: run `make setup`")
    write("kafka/server.properties", settings.state_dir / "conf" / "server.properties", settings, ports=Port)


def processes(settings: Settings) -> list[Process]:
    return [
        Process("kafka", python("deploy.local.kafka.broker"), stage=0, ready=answers(settings.port(Port.BROKER)),
                stop_seconds=3),
    ]


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
