"""Nginx on one machine, in front of everything that is served."""

from __future__ import annotations

from pathlib import Path

from common import control
from common.process.child import program
from common.settings import Port, Settings
from deploy.local.processes import health_checks
from deploy.local.processes.spec import Process
from deploy.local.rendering import write

RESOLVER = Path("/etc/resolv.conf")


def write_configuration(settings: Settings) -> None:
    (settings.instance_dir / "nginx" / "temp").mkdir(parents=True, exist_ok=True)
    found = nameserver(RESOLVER.read_text()) if settings.service_hosts else None
    write("nginx/nginx.conf", settings.instance_dir / "nginx.conf", settings, nameserver=found,
          control=control.socket_path(settings))


def nameserver(resolver: str) -> str:
    """Address of the first in a `resolv.conf`, as Nginx takes it; without one that of this machine, as C's library."""
    found = (words[1] for line in resolver.splitlines() if (words := line.split())[:1] == ["nameserver"] and words[1:])
    address = next(found, "127.0.0.1")
    return f"[{address}]" if ":" in address else address


def process(settings: Settings) -> Process:
    folder = settings.instance_dir
    return Process(
        "nginx", (program("nginx"), "-c", str(folder / "nginx.conf"), "-p", str(folder / "nginx"), "-e", "stderr"),
        stage=6, foreground=True, listens=((Port.PAGE, 0),), memory_mib=64,
        ready=health_checks.http_ok(f"http://127.0.0.1:{settings.port(Port.PAGE)}/healthz", settings.host_names[0]),
    )
