"""Pulsar 4.0 on one machine: broker, bookie and metadata in one process, its state kept across restarts."""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from common.process.child import python
from common.settings import Settings, StoreTuning
from deploy.local.disk import full_share
from deploy.local.middlewares import Deployment, NotInstalled
from deploy.local.processes import jvm
from deploy.local.processes.spec import Probe, Process
from deploy.local.rendering import FOLDER, write
from middleware.pulsar.ports import Port

HEAP: Mapping[StoreTuning, str] = {"laptop": "384m", "documented": "2g"}
DIRECT_MEMORY: Mapping[StoreTuning, str] = {"laptop": "384m", "documented": "4g"}
"""The latter holds the bookie's caches, the broker's, and what is on its way."""

MAX_MESSAGE_BYTES = 5 << 20
"""What the broker takes at least: more than a published group has."""

MESSAGE_OVERHEAD_BYTES = 128 << 10
"""What a message may have beside its event: the key, of at most 64 KiB, and some hundred bytes of its own."""

LEDGER_MIB: Mapping[StoreTuning, int] = {"laptop": 16, "documented": 2048}
LEDGERS_KEPT = 8
"""Retention removes whole ledgers. Each costs the metadata some writes, so they are no smaller than need be."""

PROBE_SECONDS = 2.0

OPENED = ("java.base/java.io", "java.base/java.util.zip", "java.base/java.nio", "java.base/jdk.internal.misc",
          "java.base/jdk.internal.platform", "java.base/sun.net", "java.management/sun.management",
          "jdk.management/com.sun.management.internal")
"""Packages of the JDK that Pulsar and Netty reach into."""


def write_configuration(settings: Settings) -> None:
    """The configuration is rendered at the server's start (server.py)."""
    if not any((settings.jar_dir / "pulsar").glob("pulsar-broker-*.jar")):
        raise NotInstalled("the software of Pulsar's server")


def processes(settings: Settings) -> list[Process]:
    return [
        Process("pulsar", python("deploy.local.pulsar.server"), stage=0, ready=answers(settings.port(Port.ADMIN)),
                ready_seconds=240, stop_seconds=1.5, memory_mib=1280, data=folder(settings),
                listens=((Port.BROKER, 0), (Port.ADMIN, 0))),
    ]


def folder(settings: Settings) -> Path:
    return settings.state_dir / "pulsar"


def configuration(settings: Settings) -> Path:
    return settings.state_dir / "conf" / "standalone.conf"


def render_configuration(settings: Settings) -> None:
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    partition_bound = max(1, settings.stream_retention_bytes // settings.partitions)
    write(
        "pulsar/standalone.conf", configuration(settings), settings, ports=Port,
        disk_full=full_share(shutil.disk_usage(settings.state_dir).total),
        max_message_bytes=max(MAX_MESSAGE_BYTES, settings.max_event_bytes + MESSAGE_OVERHEAD_BYTES),
        ledger_mib=min(LEDGER_MIB[settings.store_tuning], max(1, (partition_bound >> 20) // LEDGERS_KEPT)),
    )


def answers(port: int) -> Probe:
    """The broker tells which tenants there are: its metadata is there, and its bookie has been since before it."""

    def probe(started: float) -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/admin/v2/tenants", timeout=PROBE_SECONDS) as answer:
            return "public" in json.load(answer)

    return probe


def java(settings: Settings, *arguments: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Command that runs the standalone server, or a part of it."""
    return (
        *jvm.command(settings, HEAP[settings.store_tuning]),
        f"-XX:MaxDirectMemorySize={DIRECT_MEMORY[settings.store_tuning]}", *jvm.compilation(settings),
        *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED),
        "-Dio.netty.tryReflectionSetAccessible=true", "-Dpulsar.allocator.exit_on_oom=true",
        f"-Dlog4j2.configurationFile={FOLDER / 'pulsar' / 'log4j2.xml'}",
        f"-Djava.util.logging.config.file={FOLDER / 'pulsar' / 'logging.properties'}",
        *options, "-cp", f"{settings.jar_dir / 'pulsar'}/*", "org.apache.pulsar.PulsarStandaloneStarter",
        f"--config={configuration(settings)}", f"--metadata-dir={folder(settings) / 'metadata'}",
        f"--bookkeeper-dir={folder(settings) / 'bookkeeper'}", "--bookkeeper-port=0",
        "--num-bookies=1", "--no-functions-worker", "--no-stream-storage", *arguments,
    )


DEPLOYMENT = Deployment(
    write_configuration, processes, syncing="pulsar", killed=("pulsar",), http_ports=frozenset({Port.ADMIN}),
)
