"""What an instance consists of and whether it runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import psutil

from common.addresses import masked
from common.process import manager
from common.settings import Durability, Settings
from deploy.local import milvus
from middleware.registry import driver
from status.servers import Answers, ask


def described(settings: Settings) -> dict[str, Any]:
    """The instance as `status --json` shows it, null where unknown. A durability was either asked of the running
    server, or is what that was configured with."""
    running = running_processes(settings)
    answers = ask(settings) if running != [] else Answers(stores=[])
    return {
        "instance": settings.instance,
        "url": settings.url,
        "middleware": settings.middleware,
        "durability": answers.middleware,
        "durability_asked": driver(settings.middleware).asks_durability,
        "replicas": settings.replicas,
        "replicated": driver(settings.middleware).replicated if settings.replicas > 1 else None,
        "processes": running,
        "database": {
            "path": masked(settings.database_address.removeprefix("sqlite:///")),
            "durability": answers.database,
            "asked": not settings.database_address.startswith("sqlite"),
        },
        "index": {"address": masked(settings.milvus_address), "durability": of_index(settings), "asked": False},
        "retention": answers.retention,
        "ledger": answers.ledger,
        "stores": [asdict(one) for one in answers.stores],
    }


def of_index(settings: Settings) -> Durability | None:
    """As measured of the local server; of another one it is not known."""
    return None if settings.milvus_uri else milvus.DURABILITY


def running_processes(settings: Settings) -> list[dict[str, Any]] | None:
    """None where the process manager does not answer."""
    try:
        infos = manager.ask(settings).getAllProcessInfo()
    except manager.NotRunning:
        return []
    except manager.NotAnswering:
        return None
    return [described_process(info) for info in infos]


def described_process(info: dict[str, Any]) -> dict[str, Any]:
    """Name, pid and state; `children` are the processes that it started, such as Spark's Java virtual machine."""
    pid = info["pid"] or None
    return {
        "name": info["name"],
        "pid": pid,
        "state": info["statename"].lower(),
        "since": info["start"] if pid else None,
        **measured(pid),
    }


def measured(pid: int | None) -> dict[str, Any]:
    try:
        process = psutil.Process(pid) if pid else None
        children = process.children(recursive=True) if process else []
        family = [process, *children] if process else []
        return {
            "memory_bytes": sum(member.memory_info().rss for member in family),
            "children": [{"pid": child.pid, "program": child.name()} for child in children],
        }
    except psutil.Error:
        return {"memory_bytes": None, "children": []}
