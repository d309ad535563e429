"""Pravega 0.13 on one machine, durable: ZooKeeper, BookKeeper, controller and segment store."""

from __future__ import annotations

from pathlib import Path

from common.process.child import MissingProgram, python
from common.settings import Settings
from deploy.local.middlewares import Deployment
from deploy.local.processes import class_data_sharing, health_checks, jvm
from deploy.local.processes.spec import Process, after
from deploy.local.rendering import FOLDER, write
from middleware.pravega.ports import Port

CLUSTER = "murmuration"
ZNODE = f"/pravega/{CLUSTER}"
"""Where Pravega itself keeps its metadata in ZooKeeper, given the name of the cluster."""

CONTAINERS = 2

ZOOKEEPER_YOUNG = "16m"
"""Of its heap: it makes about a megabyte a minute, and would fill most of the heap before it first collects."""

CACHE_BYTES = 2 << 30
"""Of the segment store. With 512 MB it held writers back for 25 s at a time under load."""

DISK_FULL = 0.98
"""Used share of a disk on which the bookie only reads."""

_CONFIGURATIONS = ("zookeeper.cfg", "bookkeeper.conf", "controller.properties", "segment-store.properties")


def write_configuration(settings: Settings) -> None:
    """Renders the servers' configuration into `<state_dir>/conf`."""
    if not patched(settings).exists():
        raise MissingProgram("the servers of Pravega are not installed: run `make setup`")
    for name in _CONFIGURATIONS:
        write(f"pravega/{name}", settings.state_dir / "conf" / name, settings,
              cluster=CLUSTER, znode=ZNODE, containers=CONTAINERS, cache_bytes=CACHE_BYTES,
              disk_full=DISK_FULL, ports=Port)


def processes(settings: Settings) -> list[Process]:
    conf = settings.state_dir / "conf"
    return [
        Process(
            "zookeeper",
            java(settings, "128m", "org.apache.zookeeper.server.ZooKeeperServerMain", str(conf / "zookeeper.cfg"),
                 options=(*class_data_sharing.options(settings, "zookeeper"), f"-Xmn{ZOOKEEPER_YOUNG}")),
            stage=0, ready=health_checks.zookeeper(settings.port(Port.ZOOKEEPER)),
        ),
        Process(
            "bookkeeper", after([settings.port(Port.ZOOKEEPER)], python("deploy.local.pravega.bookie")),
            stage=1, ready=health_checks.accepts(settings.port(Port.BOOKIE)), stop_seconds=1,
        ),
        # Stops before the segment store: without that it does not end until it is killed.
        Process(
            "controller",
            after([settings.port(Port.ZOOKEEPER)], java(settings, "384m", "io.pravega.controller.server.Main", options=(
                *class_data_sharing.options(settings, "controller"), f"-Dconf.file={conf / 'controller.properties'}",
            ))),
            stage=3, ready=health_checks.accepts(settings.port(Port.CONTROLLER)),
        ),
        Process(
            "segment-store",
            after([settings.port(Port.BOOKIE)], java(
                settings, "768m", "io.pravega.segmentstore.server.host.ServiceStarter", options=(
                    *class_data_sharing.options(settings, "segment-store"),
                    "-XX:MaxDirectMemorySize=3g",
                    f"-Dpravega.configurationFile={conf / 'segment-store.properties'}",
                ))),
            stage=2, ready=health_checks.accepts(settings.port(Port.SEGMENT_STORE)), stop_seconds=1.5,
        ),
    ]


def java(
    settings: Settings, heap: str, main: str, *arguments: str, options: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Command that runs a main class of the servers with a fixed heap."""
    return (
        *jvm.command(settings, heap), "-XX:TieredStopAtLevel=1",
        f"-Dlogback.configurationFile={FOLDER / 'pravega' / 'logback.xml'}", "-Dzookeeper.jmx.log4j.disable=true",
        *options, "-cp", f"{patched(settings)}:{settings.jar_dir / 'pravega'}/*", main, *arguments,
    )


def patched(settings: Settings) -> Path:
    """Jar of the classes that are not used as published (Patches.java). Java says nothing if it is missing."""
    return settings.jar_dir / "pravega" / "patched" / "pravega.jar"


DEPLOYMENT = Deployment(
    write_configuration, processes, syncing="bookkeeper", killed=("segment-store", "bookkeeper"),
    http_ports=frozenset({Port.CONTROLLER_REST}),
)
