"""NATS' server with JetStream, on one machine."""

from __future__ import annotations

from pathlib import Path

from common.process.child import python
from common.settings import Settings
from deploy.local.middlewares import Deployment, NotInstalled
from deploy.local.processes import health_checks
from deploy.local.processes.spec import Process
from deploy.local.rendering import write
from middleware.nats.ports import Port

BATCH_EVENTS = 100_000
"""Messages of one atomic batch at most; by default 1,000."""

BESIDE_EVENT_BYTES = 64 << 10
"""What a message may have beside its event, in headers."""

MEMORY_MIB = 768


def write_configuration(settings: Settings) -> None:
    """Renders the server's configuration into `<state_dir>/conf`."""
    if not program(settings).exists():
        raise NotInstalled("NATS' server")
    write("nats/nats-server.conf", configuration(settings), settings, ports=Port, batch_events=BATCH_EVENTS,
          max_payload=settings.max_event_bytes + BESIDE_EVENT_BYTES, folder=folder(settings))


def processes(settings: Settings) -> list[Process]:
    return [
        Process("nats", python("deploy.local.nats.server"), stage=0,
                ready=health_checks.http_ok(health(settings), "127.0.0.1"),
                stop_seconds=1, environment={"GOMEMLIMIT": f"{MEMORY_MIB * 3 // 4}MiB"}, memory_mib=MEMORY_MIB,
                listens=((Port.CLIENT, 0), (Port.MONITORING, 0)), data=folder(settings))
    ]


def program(settings: Settings) -> Path:
    return settings.jar_dir / "nats" / "bin" / "nats-server"


def configuration(settings: Settings) -> Path:
    return settings.state_dir / "conf" / "nats-server.conf"


def health(settings: Settings) -> str:
    """Where the server tells of its health."""
    return f"http://127.0.0.1:{settings.port(Port.MONITORING)}/healthz"


def folder(settings: Settings) -> Path:
    return settings.state_dir / "nats"


DEPLOYMENT = Deployment(write_configuration, processes, syncing="nats", killed=("nats",),
                        http_ports=frozenset({Port.MONITORING}))
