"""Instances: which exist, which block of ports each owns, and what a killed one left behind."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from common.settings import PORTS_PER_INSTANCE, Settings
from common.storage import files
from deploy.local import state

DEFAULT = "default"
"""The instance that owns the first block."""

OCCUPIED = ".occupied"
"""Ends the names of the files that are held."""


class PortTaken(Exception):
    """A port of the instance is in use; the message names its owner and the way out."""


class OtherMiddleware(Exception):
    """Processes of the instance run on another middleware; the message names it and the way out."""


@contextmanager
def registry(home: Path) -> Iterator[Path]:
    """The folder of instances, held against others who would change it at the same time."""
    folder = home.resolve() / "instances"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder


def lowest_free_block(instance: str, port_base: int, taken: set[int]) -> int:
    """Block of an instance, given the first ports of the others: 0 for the default one, else the lowest free from 1."""
    block = 0 if instance == DEFAULT else 1
    while any(abs(port_base + PORTS_PER_INSTANCE * block - first) < PORTS_PER_INSTANCE for first in taken):
        if instance == DEFAULT:
            raise PortTaken(f"ports from {port_base} belong to another instance: choose another MURMUR_PORT_BASE")
        block += 1
    if port_base + PORTS_PER_INSTANCE * (block + 1) > 65536:
        raise PortTaken("no free block of ports is left: remove an instance with `murmur down --wipe`")
    return block


def reserve(flags: dict[str, Any]) -> Settings:
    """Settings of an instance that is to start, saved: chosen afresh, but for what it keeps (ports, ingest token, and
    what its state was made with). Raises StateRefused, and then leaves everything as it was."""
    wished = Settings.chosen(**flags)
    kept = state.made_with(wished)
    with registry(wished.home) as folder:
        others = {name: stored(folder / name) for name in os.listdir(folder) if name != wished.instance}
        before = stored(folder / wished.instance)
        taken = {first_port(other) for other in others.values() if other}
        keeps = before and before["port_base"] == wished.port_base
        block = before["port_block"] if keeps else lowest_free_block(wished.instance, wished.port_base, taken)
        token = wished.ingest_token or before.get("ingest_token") or secrets.token_urlsafe(32)
        settings = Settings.chosen(**{**flags, **kept, "port_block": block, "ingest_token": token})
        settings.save()
    return settings


def stored(folder: Path) -> dict[str, Any]:
    """What an instance's folder says of its settings; empty if nothing."""
    try:
        found = json.loads((folder / "settings.json").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and "port_base" in found else {}


def first_port(found: dict[str, Any]) -> int:
    return int(found["port_base"]) + PORTS_PER_INSTANCE * int(found["port_block"])


def occupy(settings: Settings) -> None:
    """Holds until this process ends, whatever it becomes, that the instance runs on its middleware: containers share
    a folder and do not see each other's processes. Raises OtherMiddleware."""
    settings.instance_dir.mkdir(parents=True, exist_ok=True)
    own = settings.instance_dir / f"{settings.middleware}{OCCUPIED}"
    with registry(settings.home):  # or of two that begin at once neither would see the other
        for path in settings.instance_dir.glob(f"*{OCCUPIED}"):
            if path != own and files.is_held(path):
                other = path.name.removesuffix(OCCUPIED)
                raise OtherMiddleware(f"instance {settings.instance} runs on {other} in other containers, and on one "
                                      f"middleware at a time: `docker compose down` with {other}'s Compose file first")
        held = os.open(own, os.O_RDWR | os.O_CREAT, 0o600)
        files.hold(held, shared=True)
    os.set_inheritable(held, True)


def check_ports(settings: Settings) -> None:
    """Raises PortTaken when a port of the block is listened on, naming every owner."""
    first = settings.port_base + PORTS_PER_INSTANCE * settings.port_block
    block = range(first, first + PORTS_PER_INSTANCE)
    owners = sorted({
        (connection.laddr.port, owner(connection.pid))
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port in block
    })
    if owners:
        named = "\n".join(f"  port {port}: {by}" for port, by in owners)
        raise PortTaken(f"ports of instance {settings.instance} are taken:\n{named}\n"
                        "End the owner, or set MURMUR_PORT_BASE to the start of a free range.")


def owner(pid: int | None) -> str:
    if pid is None:
        return "a process of another user"
    try:
        return f"pid {pid}, {' '.join(psutil.Process(pid).cmdline())[:100]}"
    except psutil.Error:
        return f"pid {pid}"


def leftovers(settings: Settings) -> list[psutil.Process]:
    """Live processes that belong to the instance: they carry the name of its settings file in their environment."""
    own = {process.pid for process in psutil.Process().parents()} | {os.getpid()}
    return [process for process in psutil.process_iter() if process.pid not in own and belongs(process, settings)]


def belongs(process: psutil.Process, settings: Settings) -> bool:
    try:
        return bool(process.environ().get("MURMUR_SETTINGS") == str(settings.settings_file))
    except psutil.Error:
        return False


def end_leftovers(settings: Settings) -> list[str]:
    """Kills what a killed instance left running, and returns a name for each. Data is safe: all of it is durable."""
    found = leftovers(settings)
    named = [owner(process.pid) for process in found]
    for process in found:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(found, timeout=2)
    return named
