"""The command: says what is gone, asks, records it, and has the readers go on where their streams begin now."""

from __future__ import annotations

import json
import sys
import time
import xmlrpc.client
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import get_args

import click
from supervisor.states import ProcessStates

from cli import options
from cli.accept_loss.finding import find
from common.lost import Lost, record_lost
from common.settings import Settings
from common.tweets import BUCKET_SECONDS, Reader
from deploy.local import supervision
from middleware import connect
from middleware.base import Middleware, Position
from middleware.readers import READERS, StreamReader

PROCESS: dict[Reader, str] = {
    "enrich": "spark", "trending": "spark", "search-consumer": "search", "trending-consumer": "trending",
}  # fmt: skip

MEANING: dict[Reader, str] = {
    "enrich": "These tweets will not be enriched, ranked or found; the archive may still have them.",
    "trending": "Tweets of that time are not ranked; what was counted before, and which tweets are known, stays.",
    "search-consumer": "These tweets will not be found; if they were ranked, they still are.",
    "trending-consumer": "Rankings of that time may stay too low, until their buckets are over.",
}

RESTART_SECONDS = 10.0
"""Within which the process manager starts again what ended by itself."""


@click.command("accept-loss")
@click.option(
    "--reader", "chosen", multiple=True, type=click.Choice(get_args(Reader)),
    help="Only this reader; may be repeated.  [default: all]",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.instance
@options.as_json
def accept_loss(chosen: tuple[Reader, ...], yes: bool, instance: str | None, as_json: bool) -> None:
    """Let readers go on that retention has overtaken.

    Shows which events they will never read, asks, writes that down for later audits, and has each go on at the first
    event that is left. Needs the instance's servers; readers that run are stopped meanwhile.
    """
    settings = options.known(instance)
    with connect(settings) as middleware:
        overtaken = find_overtaken(middleware, [reader for reader in READERS if not chosen or reader.name in chosen])
        lost = {reader: find(middleware, reader) for reader in overtaken}
        if not as_json:
            click.echo("\n".join(described(reader, ranges) for reader, ranges in lost.items())
                       or "no reader was overtaken: nothing to accept")
        if overtaken:
            confirm(yes)
            with stopped(settings, sorted({PROCESS[reader.name] for reader in overtaken})):
                for reader, head in overtaken.items():
                    accept(middleware, reader, head, lost[reader])
        if as_json:
            click.echo(json.dumps({"readers": [reader.name for reader in overtaken],
                                   "lost": [asdict(one) for ranges in lost.values() for one in ranges]}))
        elif overtaken:
            click.echo(f"accepted: {', '.join(reader.name for reader in overtaken)} can go on")


def find_overtaken(middleware: Middleware, readers: Sequence[StreamReader]) -> dict[StreamReader, Position]:
    """Those that stand before the head of their stream, with that head."""
    found = {}
    for reader in readers:
        head, stands = middleware.head(reader.stream), reader.position(middleware)
        if stands and stands.lies_before(head):
            found[reader] = head
    return found


def accept(middleware: Middleware, reader: StreamReader, head: Position, lost: Sequence[Lost]) -> None:
    """Records before it moves: if it ends in between, the loss is told twice, not never."""
    if lost:
        record_lost(middleware.settings, lost)
    reader.move(middleware, head)


def confirm(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException("nobody is there to be asked: --yes accepts the loss")
    click.confirm("Accept this, and have them go on behind it?", abort=True, err=True)


@contextmanager
def stopped(settings: Settings, names: Sequence[str]) -> Iterator[None]:
    """Stops those of the processes that run, or are tried to be started, and starts the same ones again."""
    ended = [name for name in names if _stop(settings, name)]
    try:
        yield
    finally:
        for name in ended:
            try:
                supervision.ask(settings).startProcess(name, False)
            except xmlrpc.client.Fault as error:
                click.echo(f"{name} was not started again: {error.faultString}", err=True)


def _stop(settings: Settings, name: str) -> bool:
    """One that has just ended is waited for: it is about to be started again, and only then can be stopped."""
    until = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            return bool(supervision.ask(settings, supervision.ENDED_SECONDS).stopProcess(name))
        except supervision.NotRunning:  # the servers may live elsewhere
            return False
        except xmlrpc.client.Fault:
            if time.monotonic() > until or not _has_just_ended(settings, name):
                return False
        time.sleep(0.1)


def _has_just_ended(settings: Settings, name: str) -> bool:
    try:
        return bool(supervision.ask(settings).getProcessInfo(name)["state"] == ProcessStates.EXITED)
    except xmlrpc.client.Fault:  # it is none of this instance
        return False


def described(reader: StreamReader, lost: Sequence[Lost]) -> str:
    lines = [f"{reader.name} stands before the first event that {reader.stream} has left. It will never read:"]
    lines += [f"  {_range(one)}" for one in lost] or ["  nothing that is known by a number"]
    return "\n".join([*lines, f"  {MEANING[reader.name]}"])


def _range(lost: Lost) -> str:
    if lost.run:
        return f"run {lost.run}: {lost.first_seq} to {lost.last_seq} ({lost.last_seq - lost.first_seq + 1} tweets)"
    first, end = (datetime.fromtimestamp(at, UTC) for at in (lost.first_seq, lost.last_seq + BUCKET_SECONDS))
    return f"what counts from {first:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S} UTC"
