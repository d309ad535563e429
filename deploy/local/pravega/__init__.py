"""Pravega 0.13 on one machine, durable: ZooKeeper, BookKeeper, controller and segment store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from common.addresses import numbered
from common.process.child import python
from common.settings import Settings, StoreTuning
from deploy.local.middlewares import Deployment, NotInstalled
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

CACHE_BYTES: Mapping[StoreTuning, int] = {"laptop": 2 << 30, "documented": 4 << 30}
DIRECT_MEMORY_BYTES: Mapping[StoreTuning, int] = {"laptop": 3 << 30, "documented": 5 << 30}
"""Of the segment stores together, the former being in the latter. With a cache of 512 MB it held writers back for 25 s
at a time under load."""

SEGMENT_STORE_HEAP: Mapping[StoreTuning, str] = {"laptop": "768m", "documented": "4g"}

SEGMENT_STORES, BOOKIES = 2, 4
"""With three replicas: each ledger lies on three of the bookies, two of which have an entry before it is acknowledged;
the fourth takes the place of one that is dead. The containers are shared by the segment stores."""


def write_configuration(settings: Settings) -> None:
    """Renders the servers' configuration into `<state_dir>/conf`; that of a bookie is rendered at its start."""
    if not patched(settings).exists():
        raise NotInstalled("the software of Pravega's servers")
    write_one(settings, "zookeeper.cfg")
    write_one(settings, "controller.properties", containers=CONTAINERS)
    for replica in range(segment_stores(settings)):
        write_one(settings, "segment-store.properties", replica, containers=CONTAINERS,
                  cache_bytes=CACHE_BYTES[settings.store_tuning] // segment_stores(settings))


def write_one(settings: Settings, template: str, replica: int = 0, **values: object) -> None:
    write(f"pravega/{template}", configuration(settings, template, replica), settings, cluster=CLUSTER, znode=ZNODE,
          ports=Port, replica=replica, **values)


def configuration(settings: Settings, template: str, replica: int = 0) -> Path:
    stem, dot, kind = template.rpartition(".")
    return settings.state_dir / "conf" / f"{numbered(stem, replica)}{dot}{kind}"


def bookies(settings: Settings) -> int:
    return 1 if settings.replicas == 1 else BOOKIES


def segment_stores(settings: Settings) -> int:
    return 1 if settings.replicas == 1 else SEGMENT_STORES


def processes(settings: Settings) -> list[Process]:
    return [
        Process(
            "zookeeper",
            java(settings, "128m", "org.apache.zookeeper.server.ZooKeeperServerMain",
                 str(configuration(settings, "zookeeper.cfg")),
                 options=(*class_data_sharing.options(settings, "zookeeper"), f"-Xmn{ZOOKEEPER_YOUNG}")),
            stage=0, ready=health_checks.zookeeper(settings.port(Port.ZOOKEEPER)), listens=((Port.ZOOKEEPER, 0),),
            memory_mib=320, data=settings.state_dir / "zookeeper",
        ),
        *(one_bookie(settings, replica) for replica in range(bookies(settings))),
        # Stops before the segment store: without that it does not end until it is killed.
        Process(
            "controller",
            after([settings.address(Port.ZOOKEEPER)], java(
                settings, "384m", "io.pravega.controller.server.Main", options=(
                    *class_data_sharing.options(settings, "controller"),
                    f"-Dconf.file={configuration(settings, 'controller.properties')}",
                    f"-Dmurmur.bind={settings.bind_address}",
                ))),
            stage=3, ready=health_checks.accepts(settings.port(Port.CONTROLLER)), memory_mib=768,
            listens=((Port.CONTROLLER, 0), (Port.CONTROLLER_REST, 0)),
        ),
        *(one_segment_store(settings, replica) for replica in range(segment_stores(settings))),
    ]


def folder(settings: Settings, replica: int) -> Path:
    """Of what a bookie stores."""
    return settings.state_dir / numbered("bookkeeper", replica)


def one_bookie(settings: Settings, replica: int) -> Process:
    return Process(
        numbered("bookkeeper", replica),
        after([settings.address(Port.ZOOKEEPER)], python("deploy.local.pravega.bookie", str(replica))),
        stage=1, ready=health_checks.accepts(settings.port(Port.BOOKIE, replica)), stop_seconds=1,
        listens=((Port.BOOKIE, replica),), memory_mib=1280, copy_of=copy_of(settings, "bookkeeper"),
        data=folder(settings, replica),
    )


def one_segment_store(settings: Settings, replica: int) -> Process:
    """It waits for any bookie, before the first of which there is no metadata of ledgers, and not for all, of which one
    may be dead: a container that finds too few tries again."""
    name = numbered("segment-store", replica)
    memory = DIRECT_MEMORY_BYTES[settings.store_tuning] // segment_stores(settings)
    any_bookie = ",".join(settings.address(Port.BOOKIE, bookie) for bookie in range(bookies(settings)))
    return Process(
        name,
        after([any_bookie], java(
            settings, SEGMENT_STORE_HEAP[settings.store_tuning],
            "io.pravega.segmentstore.server.host.ServiceStarter", options=(
                *class_data_sharing.options(settings, name),
                f"-XX:MaxDirectMemorySize={memory}",
                f"-Dpravega.configurationFile={configuration(settings, 'segment-store.properties', replica)}",
            ))),
        stage=2, ready=health_checks.accepts(settings.port(Port.SEGMENT_STORE, replica)), stop_seconds=1,
        listens=((Port.SEGMENT_STORE, replica),), memory_mib=4352, copy_of=copy_of(settings, "segment-store"),
        data=settings.state_dir / "long-term-storage",
    )


def copy_of(settings: Settings, name: str) -> str:
    return name if settings.replicas > 1 else ""


def java(
    settings: Settings, heap: str, main: str, *arguments: str, options: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Command that runs a main class of the servers with a fixed heap."""
    return (
        *jvm.command(settings, heap), *jvm.compilation(settings),
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
