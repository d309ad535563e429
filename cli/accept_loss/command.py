"""The command: says what is gone, asks, records it, and has the readers go on where their streams begin now."""

from __future__ import annotations

import json
import sys
import time
import xmlrpc.client
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import get_args

import click
from redis import RedisError
from sqlalchemy.exc import SQLAlchemyError
from supervisor.states import ProcessStates
from supervisor.xmlrpc import Faults

from cli import options
from cli.accept_loss.finding import find
from common.addresses import masked
from common.lost import Lost, record_lost
from common.settings import Settings
from common.tweets import BUCKET_SECONDS, Reader
from deploy.local import supervision
from deploy.local.supervisord import LONGEST_PAUSE_S
from middleware.data import Position
from middleware.driver import Middleware
from middleware.readers import READERS, StreamReader
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

RESTART_SECONDS = LONGEST_PAUSE_S + 5
"""Within which the process manager starts again what ended by itself, or ends what was slow to."""


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
            confirm(yes)
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


@dataclass(frozen=True)
class Loss:
    """Of a reader that `stands` before `head`, where its stream begins now: what it will never read."""

    reader: StreamReader
    stands: Position
    head: Position
    lost: Sequence[Lost]


def find_losses(middleware: Middleware, readers: Sequence[StreamReader], known: Sequence[Loss] = ()) -> list[Loss]:
    """Of those that were overtaken. What is `known` is not looked for again where nothing has moved."""
    found = []
    for reader in readers:
        head, stands = middleware.data.head(reader.stream), reader.position(middleware)
        if stands and stands.lies_before(head):
            same = (loss for loss in known if (loss.reader, loss.stands, loss.head) == (reader, stands, head))
            found.append(next(same, None) or Loss(reader, stands, head, find(middleware, reader)))
    return found


def accept_all(middleware: Middleware, asked: Sequence[Loss], silent: bool) -> tuple[list[Loss], list[str]]:
    """What is accepted at last, as retention and readers may have gone on during the question; and which processes
    could not be started again."""
    with stopped(middleware.settings, sorted({PROCESS[loss.reader.name] for loss in asked})) as left:
        losses = find_losses(middleware, [loss.reader for loss in asked], asked)
        for loss in losses:
            if loss not in asked and not silent:
                click.echo(f"Meanwhile that has changed.\n{described(loss)}")
            accept(middleware, loss)
    return losses, left


def accept(middleware: Middleware, loss: Loss) -> None:
    """Records before it moves: if it ends in between, the loss is told twice, not never."""
    if loss.lost:
        record_lost(middleware.settings, loss.lost)
    loss.reader.move(middleware, loss.head)


def confirm(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException("nobody is there to be asked: --yes accepts the loss")
    click.confirm("Accept this, and have them go on behind it?", abort=True, err=True)


@contextmanager
def stopped(settings: Settings, names: Sequence[str]) -> Iterator[list[str]]:
    """Stops those of the processes that run, or are tried to be started, and starts the same ones again. What it yields
    holds at the end those that could not be."""
    ended: list[str] = []
    left: list[str] = []
    try:
        for name in names:
            ended.append(name)  # first: without an answer nobody knows whether it was stopped
            if not _stop(settings, name):
                ended.pop()
        yield left
    finally:
        left += _start_again(settings, ended)


def _start_again(settings: Settings, names: Sequence[str]) -> list[str]:
    """Names those of which it is not known that they were started, and tells them."""
    left = list(names)
    try:
        for name in names:
            try:
                _start(settings, name)
                left.remove(name)
            except (xmlrpc.client.Fault, supervision.NotRunning, supervision.NotAnswering) as error:
                click.echo(f"{name} was not started again: {getattr(error, 'faultString', error)}", err=True)
    finally:  # Ctrl-C, too
        if left:
            click.echo(f"`murmur status` shows whether {' and '.join(left)} runs; if not, `murmur down` and "
                       "`murmur up` start everything", err=True)
    return left


def _start(settings: Settings, name: str) -> None:
    """One that is still ending is waited for: nothing would start it when it has ended."""
    asked, until = supervision.ask(settings), time.monotonic() + RESTART_SECONDS
    while asked.getProcessInfo(name)["state"] == ProcessStates.STOPPING:
        if time.monotonic() > until:
            raise supervision.NotAnswering(f"it still ends after {RESTART_SECONDS:.0f} s")
        time.sleep(0.1)
    try:
        asked.startProcess(name, False)
    except xmlrpc.client.Fault as error:
        if error.faultCode != Faults.ALREADY_STARTED:
            raise


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
