"""`murmur status`: what an instance consists of and whether it runs."""

from __future__ import annotations

import json
from typing import Any

import click
import psutil
import redis
from sqlalchemy.exc import SQLAlchemyError

from cli import options
from common import retention
from common.search.store import Store
from common.settings import Durability, Settings
from common.tweets import Reader
from deploy.local import processes, supervision
from middleware import connect
from middleware.base import MiddlewareError


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
    """The instance as `status --json` shows it; durabilities are those in force, null where unknown."""
    running = running_processes(settings)
    return {
        "instance": settings.instance,
        "url": settings.url,
        "middleware": settings.middleware,
        "durability": in_force(settings) if running else None,
        "processes": running,
        "database": {
            "path": settings.database_address.removeprefix("sqlite:///"), "durability": of_database(settings),
        },
        "index": {"address": settings.milvus_address, "durability": of_index(settings)},
        "retention": of_readers(settings),
    }


def in_force(settings: Settings) -> Durability | None:
    """What the running middleware says; None while it does not answer."""
    with connect(settings) as middleware:
        try:
            return middleware.durability_in_force()
        except MiddlewareError:
            return None


def of_database(settings: Settings) -> Durability | None:
    """What the database says; None where it does not answer."""
    store = Store.open(settings)
    try:
        return store.durability()
    except (SQLAlchemyError, OSError):
        return None
    finally:
        store.close()


def of_index(settings: Settings) -> Durability | None:
    """As measured of the local server; of another one it is not known."""
    return None if settings.milvus_uri else processes.INDEX_DURABILITY


def of_readers(settings: Settings) -> dict[Reader, float | None]:
    """Share of the retention that each has used; None where nobody has looked within a minute."""
    try:
        client = redis.Redis.from_url(settings.redis_address, decode_responses=True, socket_timeout=2)
        return retention.read(client, settings.redis_prefix)
    except redis.RedisError:
        return retention.unknown()


def running_processes(settings: Settings) -> list[dict[str, Any]]:
    try:
        infos = supervision.ask(settings).getAllProcessInfo()
    except supervision.NotRunning:
        return []
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
    durability = found["durability"] or "durability unknown"
    lines = [f"instance {found['instance']}: {found['middleware']} ({durability}), page {found['url']}"]
    if not found["processes"]:
        return lines[0] + "\nnot running: start it with `murmur up`"
    for process in found["processes"]:
        pid = process["pid"] or "-"
        mebibytes = f"{process['memory_bytes'] >> 20} MiB" if process["memory_bytes"] else "-"
        lines.append(f"  {process['name']:<14} {process['state']:<9} pid {pid:<8} {mebibytes:>9}")
    for name, where in (("database", "path"), ("index", "address")):
        lines.append(f"{name} {found[name][where]} ({found[name]['durability'] or 'durability unknown'})")
    shares = (f"{name} {used(share)}" for name, share in found["retention"].items())
    lines.append("retention used by " + ", ".join(shares))
    return "\n".join(lines)


def used(share: float | None) -> str:
    """A share of the retention, as text: at 100 % events go that were not read."""
    return "unknown" if share is None else f"{100 * share:.0f} %"
