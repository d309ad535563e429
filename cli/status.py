"""`murmur status`: what an instance consists of and whether it runs."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any

import click
import psutil

from cli import options, stores
from cli.asked import Answers, ask
from common.addresses import masked
from common.held import Held
from common.settings import Durability, Settings
from deploy.local import processes, supervision
from middleware.registry import driver


@click.command()
@options.instance
@options.as_json
def status(instance: str | None, as_json: bool) -> None:
    """Show the processes of an instance. Ends with 1 if it is not running."""
    settings = options.known(instance)
    found = described(settings)
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        click.echo(as_text(found))
    if not found["processes"]:
        raise click.exceptions.Exit(1)


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
        "processes": running,
        "database": {
            "path": masked(settings.database_address.removeprefix("sqlite:///")),
            "durability": answers.database,
            "asked": not settings.database_address.startswith("sqlite"),
        },
        "index": {"address": masked(settings.milvus_address), "durability": of_index(settings), "asked": False},
        "retention": answers.retention,
        "stores": [asdict(one) for one in answers.stores],
    }


def of_index(settings: Settings) -> Durability | None:
    """As measured of the local server; of another one it is not known."""
    return None if settings.milvus_uri else processes.INDEX_DURABILITY


def running_processes(settings: Settings) -> list[dict[str, Any]] | None:
    """None where the process manager does not answer."""
    try:
        infos = supervision.ask(settings).getAllProcessInfo()
    except supervision.NotRunning:
        return []
    except supervision.NotAnswering:
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


def as_text(found: dict[str, Any]) -> str:
    durability = kind(found["durability"], found["durability_asked"])
    lines = [f"instance {found['instance']}: {found['middleware']} ({durability}), page {found['url']}"]
    if found["processes"] == []:
        return lines[0] + "\nnot running: start it with `murmur up`"
    if found["processes"] is None:
        lines.append("processes unknown: their manager does not answer; `murmur down` ends all of them")
    for process in found["processes"] or []:
        pid = process["pid"] or "-"
        mebibytes = f"{process['memory_bytes'] >> 20} MiB" if process["memory_bytes"] else "-"
        lines.append(f"  {process['name']:<14} {process['state']:<9} pid {pid:<8} {mebibytes:>9}")
    for name, where in (("database", "path"), ("index", "address")):
        lines.append(f"{name} {found[name][where]} ({kind(found[name]['durability'], found[name]['asked'])})")
    shares = (f"{name} {used(share)}" for name, share in found["retention"].items())
    lines.append("retention used by " + ", ".join(shares))
    lines.append("stores:")
    lines += stores.as_text((Held(**one) for one in found["stores"]), time.time())
    return "\n".join(lines)


def kind(durability: str | None, asked: bool) -> str:
    """A durability class, and how it is known."""
    return f"{durability}, {'as the server says' if asked else 'configured'}" if durability else "durability unknown"


def used(share: float | None) -> str:
    """A share of the retention, as text: at 100 % events go that were not read."""
    return "unknown" if share is None else f"{100 * share:.0f} %"
