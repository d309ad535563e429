"""The command: says what is gone, asks, records it, and has the readers go on where their streams begin now."""

from __future__ import annotations

import json
import xmlrpc.client
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import get_args

import click
from redis import RedisError
from sqlalchemy.exc import SQLAlchemyError

from audit.loss.acceptance import Loss, accept, find_losses
from cli import options
from common.addresses import masked, numbered
from common.settings import Settings
from common.storage.lost import Lost
from common.tweets import BUCKET_SECONDS, Reader
from deploy.local.processes.stopped import stopped
from middleware.driver import Middleware
from middleware.readers import READERS
from middleware.registry import connect

PROCESS: dict[Reader, str] = {
    "enrich": "spark", "trending": "spark", "search-consumer": "search", "trending-consumer": "trending",
}  # fmt: skip

MEANING: dict[Reader, str] = {
    "enrich": "These tweets will not be enriched, ranked or found; the archive may still have them.",
    "trending": "Tweets of that time are not ranked; what was counted before, and which tweets are known, stays.",
    "search-consumer": "These tweets will not be found; if they were ranked, they still are.",
    "trending-consumer": "Rankings of that time may stay too low, until their buckets are over.",
}


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
    readers = [reader for reader in READERS if not chosen or reader.name in chosen]
    with explained(), connect(settings) as middleware:
        losses = find_losses(middleware, readers)
        if not as_json:
            click.echo("\n".join(map(described, losses)) or "no reader was overtaken: nothing to accept")
        left: list[str] = []
        if losses:
            options.confirm("Accept this, and have them go on behind it?", "accepts the loss", yes, as_json)
            losses, left = accept_all(middleware, losses, silent=as_json)
        if as_json:
            click.echo(json.dumps({"readers": [loss.reader.name for loss in losses],
                                   "lost": [asdict(one) for loss in losses for one in loss.lost]}))
        elif losses:
            click.echo(f"accepted: {', '.join(loss.reader.name for loss in losses)} can go on")
    if left:
        raise click.exceptions.Exit(1)


@contextmanager
def explained() -> Iterator[None]:
    """Turns what servers and files answer into what to do. What is recorded by then is not told again."""
    try:
        yield
    except (RedisError, SQLAlchemyError, OSError, xmlrpc.client.Fault) as error:
        raise click.ClickException(masked(
            f"{type(error).__name__}: {error}\n`murmur status` shows what does not run or answer; then call it again"
        )) from error


def accept_all(middleware: Middleware, asked: Sequence[Loss], silent: bool) -> tuple[list[Loss], list[str]]:
    """What is accepted at last, as retention and readers may have gone on during the question; and which processes
    could not be started again."""
    names = {name for loss in asked for name in processes(middleware.settings, loss.reader.name)}
    with stopped(middleware.settings, sorted(names), warn) as left:
        losses = find_losses(middleware, [loss.reader for loss in asked], asked)
        for loss in losses:
            if loss not in asked and not silent:
                click.echo(f"Meanwhile that has changed.\n{described(loss)}")
            accept(middleware, loss)
    return losses, left


def processes(settings: Settings, reader: Reader) -> list[str]:
    copies = {"search-consumer": settings.search_consumers, "trending-consumer": settings.trending_consumers}
    return [numbered(PROCESS[reader], copy) for copy in range(copies.get(reader, 1))]


def warn(line: str) -> None:
    click.echo(line, err=True)


def described(loss: Loss) -> str:
    reader = loss.reader
    lines = [f"{reader.name} stands before the first event that {reader.stream} has left. It will never read:"]
    lines += [f"  {_range(one)}" for one in loss.lost] or ["  nothing that is known by a number"]
    return "\n".join([*lines, f"  {MEANING[reader.name]}"])


def _range(lost: Lost) -> str:
    if lost.run:
        return f"run {lost.run}: {lost.first_seq} to {lost.last_seq} ({lost.last_seq - lost.first_seq + 1} tweets)"
    first, end = (datetime.fromtimestamp(at, UTC) for at in (lost.first_seq, lost.last_seq + BUCKET_SECONDS))
    return f"what counts from {first:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S} UTC"
