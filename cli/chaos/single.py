"""`murmur chaos kill`, `pause`, `slow`, `flush-cache`, `fill-disk`: one failure each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from chaos.failure import CACHE, LONGEST_S, Failure
from chaos.provoke import provoke
from chaos.record import Record
from chaos.recovery import Telemetry
from cli import options
from cli.chaos.display import begun, recovered
from cli.chaos.instance import chosen
from cli.chaos.seconds import Seconds

NAME = click.argument("name")


def lasting(default: str) -> Callable[[Any], Any]:
    return click.option("--for", "seconds", default=default, show_default=True, type=Seconds(LONGEST_S),
                        help=f"For how long, {LONGEST_S:.0f} s at most.")


@click.command()
@NAME
@options.instance
@options.as_json
def kill(name: str, instance: str | None, as_json: bool) -> None:
    """Kill process NAME (SIGKILL), and wait until it is back and all stages have caught up.

    It is back when it runs anew and answers as `murmur up` asks it. Ends with 1 if either takes more than 3 minutes,
    or the former more than `murmur up` gives it.
    """
    run(Failure("kill", name), instance, as_json)


@click.command()
@NAME
@lasting("10s")
@options.instance
@options.as_json
def pause(name: str, seconds: float, instance: str | None, as_json: bool) -> None:
    """Pause process NAME (SIGSTOP) and what it has started, and have it go on (SIGCONT)."""
    run(Failure("pause", name, seconds), instance, as_json)


@click.command()
@NAME
@lasting("30s")
@click.option("--share", default=0.2, show_default=True, type=click.FloatRange(0.01, 0.99),
              help="Of each tenth of a second, what it has.")
@options.instance
@options.as_json
def slow(name: str, seconds: float, share: float, instance: str | None, as_json: bool) -> None:
    """Let process NAME, and what it has started, have a share of the time."""
    run(Failure("slow", name, seconds, share), instance, as_json)


@click.command()
@options.instance
@options.as_json
def flush_cache(instance: str | None, as_json: bool) -> None:
    """Empty the instance's Redis: rankings, cached results and telemetry, which are made again."""
    run(Failure("flush-cache", CACHE), instance, as_json)


@click.command()
@NAME
@lasting("30s")
@options.instance
@options.as_json
def fill_disk(name: str, seconds: float, instance: str | None, as_json: bool) -> None:
    """Fill the disk of what process NAME stores.

    Only if that is a file system of its own: one on which nothing else of an instance lies.
    """
    run(Failure("fill-disk", name, seconds), instance, as_json)


def run(failure: Failure, instance: str | None, as_json: bool) -> None:
    """One failure, told as it goes; ends with 1 if the instance has not recovered."""

    def tell(record: Record) -> None:
        if not as_json:
            click.echo(begun(record))

    with chosen(instance) as settings:
        outcome = provoke(settings, failure, Telemetry(settings).usual(), tell)
    click.echo(json.dumps(outcome.as_json()) if as_json else recovered(outcome))
    if not outcome.has_recovered:
        raise click.exceptions.Exit(1)
