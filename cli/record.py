"""`murmur record`."""

from __future__ import annotations

import logging
import os
import shlex
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

import click

from cli.ingest import live, stop_on_signal
from cli.options import instance as instance_option
from common.settings import Settings
from ingest.sources.base import KEYLESS, Source

TAKEN, PAUSE_SECONDS = 1000, 0.2


@click.command()
@click.option("--source", "name", type=click.Choice(KEYLESS), required=True, help="What is recorded.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), required=True, help="For how long.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to make; there is none of that name.")
@instance_option
def record(name: str, minutes: float, out: Path, instance: str | None) -> None:
    """Write a live source to a file, from now on, which `ingest --source replay` takes. It publishes nothing, and needs
    no instance that runs; the settings of one are taken if there is one.

    The file holds what people wrote, for its owner only; what they delete later stays in it. Ctrl-C ends it earlier.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    settings = Settings.load(instance=instance)
    try:
        file = os.fdopen(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError:
        raise click.ClickException(f"there is a file {out} already: choose another name") from None
    stop = threading.Event()
    stop_on_signal(stop)
    source = live(settings, name)
    try:
        with file:
            count = _record(source, file, time.monotonic() + 60 * minutes, stop)
    finally:
        source.close()
    play = f"murmur ingest --source replay --speed 1 --timestamps now {shlex.quote(str(out))}"
    click.echo(f"{out}: {count:,} events; `{play}` plays them")


def _record(source: Source, file: BinaryIO, until: float, stop: threading.Event) -> int:
    count = 0
    while time.monotonic() < until and not stop.is_set():
        payloads = source.take([0] * TAKEN)
        file.writelines(payload.body + b"\n" for payload in payloads)
        count += len(payloads)
        if len(payloads) < TAKEN:
            file.flush()
            stop.wait(PAUSE_SECONDS)
    return count
