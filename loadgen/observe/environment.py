"""What a figure is worth nothing without: host, versions, settings in force, what an acknowledgement means."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from common.addresses import masked
from common.settings import Durability, Settings
from loadgen.errors import DiskShort
from middleware import compared
from middleware.admin import Admin
from middleware.errors import MiddlewareError
from middleware.registry import connect, driver

SECRET = {"ingest_token", "x_bearer_token"}
OF_THE_PLACE = {"home", "experiments_folder", "instance", "port_block", "port_base"}
"""No setting of how it runs."""

PACKAGES = (
    "murmuration", "pyspark", "pyarrow", "orjson", "redis", "pymilvus", "milvus-lite", "gunicorn", "hdrhistogram",
    "locust",
)
PROGRAMS = {"java": ("java", "-version"), "redis": ("redis-server", "--version"), "nginx": ("nginx", "-v")}
BYTES_ON_DISK = 6_000
"""What a lean tweet leaves on disk until its experiment is over: archive, two streams in log and storage, database."""

SPARE_BYTES = 4 << 30


def described(settings: Settings) -> dict[str, Any]:
    """Everything about the instance and its host that a result depends on; without secrets.

    `durability` is the class that is configured, by which results are compared; `durability_told` what the middleware
    says of the running server, null where it does not answer. Database and index are as configured: no setting of ours
    makes them less than `fsync`, and neither can be asked by another connection than its own.
    """
    with connect(settings) as middleware:
        told = durability_told(middleware.admin)
    return {
        "middleware": settings.middleware,
        "durability": settings.durability,
        "durability_told": told,
        "acknowledgement": driver(settings.middleware).guarantee(settings),
        "settings": chosen(settings),
        "compared": compared.as_json(driver(settings.middleware).compared(settings), settings),
        "server_settings": server_settings(settings),
        "commit": commit(),
        "versions": versions(settings),
        "host": host(settings),
    }


def chosen(settings: Settings) -> dict[str, Any]:
    """Settings of how it runs; without secrets."""
    found = settings.model_dump(mode="json", exclude=SECRET | OF_THE_PLACE)
    return {name: masked(value) if isinstance(value, str) else value for name, value in found.items()}


def durability_told(admin: Admin) -> Durability | None:
    try:
        return admin.durability_in_force()
    except MiddlewareError:
        return None


def host(settings: Settings) -> dict[str, Any]:
    memory = psutil.virtual_memory()
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": memory.total,
        "memory_available_bytes": memory.available,
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "kernel": platform.release(),
        "system": _pretty_name(),
        "file_system": _file_system(settings.home.resolve()),
        "disk_free_bytes": shutil.disk_usage(settings.home.resolve()).free,
        "client_and_servers": "share this host and its clock",
    }


def versions(settings: Settings) -> dict[str, str]:
    """Of Python and packages, of programs, and of the servers by the names of their jars."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    for name, command in PROGRAMS.items():
        if said := _first_line(command):
            found[name] = said
    jars = (settings.jar_dir / settings.middleware).glob(f"{settings.middleware}*.jar")
    found["servers"] = ", ".join(sorted({m[1] for jar in jars if (m := re.search(r"-([0-9][\w.]*)$", jar.stem))}))
    return found


def commit() -> str | None:
    """That of the checkout, marked if something in it was changed; None where there is none, as in a container. Of
    twelve digits in each clone: git's own choice grows with the clone, and one commit would have two names.
    """
    command = ("git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*")
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    return None


def server_settings(settings: Settings) -> dict[str, str]:
    """What the configuration files of the stream store's servers say, as `file: key` → value."""
    found = {}
    for path in sorted((settings.state_dir / "conf").glob("*")):
        for line in path.read_text(errors="replace").splitlines():
            key, separator, value = line.partition("=")
            if separator and not line.lstrip().startswith(("#", "<", "!")):
                found[f"{path.name}: {key.strip()}"] = _without_home(value.strip(), settings)
    return found


def check_disk(settings: Settings, tweets: float) -> None:
    """Raises DiskShort unless there is room for so many tweets, as far as they are not bounded."""
    bounds = settings.archive_max_bytes + 4 * settings.stream_retention_bytes + settings.database_max_rows * 1000
    needed = min(int(tweets * BYTES_ON_DISK), bounds) + SPARE_BYTES
    free = shutil.disk_usage(settings.home.resolve()).free
    if free < needed:
        raise DiskShort(
            f"the disk of {settings.home.resolve()} has {free / 1e9:,.1f} GB free, and this may need "
            f"{needed / 1e9:,.1f} GB: make room, or lower the rate, the budget or the bounds (archive_max_bytes, "
            "stream_retention_bytes, database_max_rows)"
        )


def _without_home(value: str, settings: Settings) -> str:
    """Paths below the instance's folders say nothing about how it runs."""
    return value.replace(str(settings.home.resolve()), "<home>")


def _cpu_model() -> str:
    for line in _lines(Path("/proc/cpuinfo")):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _pretty_name() -> str:
    for line in _lines(Path("/etc/os-release")):
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return platform.system()


def _file_system(path: Path) -> str | None:
    mounts = [part for part in psutil.disk_partitions(all=True) if path.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _first_line(command: tuple[str, ...]) -> str | None:
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = (result.stdout + result.stderr).strip().splitlines()
    return said[0] if said else None
