"""`murmur status`: what an instance consists of and whether it runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any, Literal

import click

from cli import options
from cli.chaos.instance import end_abandoned
from common.storage.held import Held
from common.telemetry.ledger import Ledger
from status.instance import described


@click.command()
@options.instance
@options.as_json
def status(instance: str | None, as_json: bool) -> None:
    """Show the processes of an instance. Ends with 1 unless it is known that all of them run."""
    settings = options.known(instance)
    end_abandoned(settings)
    found = described(settings)
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        click.echo(as_text(found))
    if not found["processes"] or not all(process["pid"] for process in found["processes"]):
        raise click.exceptions.Exit(1)


def as_text(found: dict[str, Any]) -> str:
    durability = kind(found["durability"], found["durability_asked"])
    lines = [f"instance {found['instance']}: {found['middleware']} ({durability}), page {found['url']}"]
    if found["replicated"]:
        lines.append(f"{found['replicas']} replicas, configured: {found['replicated']}")
    if found["processes"] == []:
        return "\n".join([*lines, "not running: start it with `murmur up`"])
    if found["processes"] is None:
        lines.append("processes unknown: their manager does not answer; `murmur down` ends all of them")
    for process in found["processes"] or []:
        pid = process["pid"] or "-"
        mebibytes = f"{process['memory_bytes'] >> 20} MiB" if process["memory_bytes"] else "-"
        lines.append(f"  {process['name']:<16} {process['state']:<9} pid {pid:<8} {mebibytes:>9}")
    for name, where in (("database", "path"), ("index", "address")):
        lines.append(f"{name} {found[name][where]} ({kind(found[name]['durability'], found[name]['asked'])})")
    shares = (f"{name} {used(share)}" for name, share in found["retention"].items())
    lines.append("retention used by " + ", ".join(shares))
    lines += [account(found["ledger"]), "stores:"]
    lines += stores_as_text((Held(**one) for one in found["stores"]), time.time())
    return "\n".join(lines)


def kind(durability: str | None, asked: bool) -> str:
    """A durability class, and how it is known."""
    return f"{durability}, {'as the server says' if asked else 'configured'}" if durability else "durability unknown"


def used(share: float | None) -> str:
    """A share of the retention, as text: at 100 % events go that were not read."""
    return "unknown" if share is None else f"{100 * share:.0f} %"


def account(ledger: Ledger) -> str:
    """The ledger in one line: its sums over the stages, of which each is behind the one before it."""
    if ledger["acknowledged"] is None:
        return f"ledger {ledger['state']}"

    def total(kind: Literal["lost", "twice", "repeated"]) -> str:
        known = [stage[kind] for stage in ledger["stages"]]
        return "unknown" if None in known else f"{sum(count or 0 for count in known):,}"

    in_flight = [stage["in_flight"] for stage in ledger["stages"]]
    waiting = "unknown" if None in in_flight else f"{max(count or 0 for count in in_flight):,}"
    return (f"ledger {ledger['state']}: acknowledged {ledger['acknowledged']:,}, in flight {waiting}, "
            f"lost {total('lost')}, twice {total('twice')}, repeated {total('repeated')}")


def stores_as_text(rows: Iterable[Held], now: float) -> list[str]:
    """A line for each store: what it holds, of how much, and how old its oldest entry is."""
    return [
        f"  {one.store:<16} {amount(one.holds, one.unit):>14} of {amount(one.bound, one.unit, 'no bound'):<14} "
        + ("" if one.oldest_at is None else f"oldest {age(now - one.oldest_at)} ago")
        for one in rows
    ]


def amount(number: int | None, unit: str, none: str = "unknown") -> str:
    if number is None:
        return none
    return f"{number / (1 << 20):,.1f} MiB" if unit == "bytes" else f"{number:,} rows"


def age(seconds: float) -> str:
    """In the largest unit of which there are at least two."""
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{max(0.0, seconds):.0f} s"
