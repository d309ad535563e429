"""What test_processes.py runs as processes of their own, over a middleware in memory."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from flask import Flask

from common.tweets import RAW
from ingest.endpoint import http, inbox
from tests.ingest.over_memory import memory, settings_in
from tests.memory import Memory, MemoryProducer


def served() -> Flask:
    """The endpoint for pushed tweets; a tweet that says so makes its publisher fail as nobody expects."""
    settings = settings_in(Path(os.environ["HOME_OF_THE_TEST"]))
    middleware = memory(settings)
    send = MemoryProducer.send

    def fail(producer: MemoryProducer, key: str, event: bytes) -> None:
        if b"fail as nobody expects" in event and not Path(os.environ["HOME_OF_THE_TEST"], "healed").exists():
            raise RuntimeError("as nobody expects")
        send(producer, key, event)
    MemoryProducer.send = fail  # type: ignore[method-assign]
    inbox.connect = lambda _: middleware  # type: ignore[attr-defined]
    return http.create_app(settings)


def stuck() -> None:
    """`murmur ingest` on a middleware whose client takes events and does not come back."""
    from cli import ingest
    settings = settings_in(Path(os.environ["HOME_OF_THE_TEST"]))
    middleware: Memory = memory(settings)
    MemoryProducer.flush = lambda _: threading.Event().wait()  # type: ignore[method-assign,assignment]
    ingest.connect = lambda _: middleware  # type: ignore[attr-defined]
    ingest.options.known = lambda _: settings  # type: ignore[attr-defined]
    ingest.ingest(["--source", "synthetic", "--rate", "1000", "--run", "stuck"])


def outlived(hosts: str) -> None:
    """`murmur ingest --source bluesky` on a middleware that outlives the process: it keeps what it took in a file."""
    from cli import ingest
    home = Path(os.environ["HOME_OF_THE_TEST"])
    settings = settings_in(home, bluesky_hosts=hosts)
    middleware, kept = memory(settings), home / KEPT
    with middleware.data.producer(RAW) as producer:
        for line in kept.read_bytes().splitlines() if kept.exists() else []:
            key, _, event = line.partition(b" ")
            producer.send(key.decode(), event)
    send = MemoryProducer.send

    def keep(producer: MemoryProducer, key: str, event: bytes) -> None:
        send(producer, key, event)
        with kept.open("ab") as file:
            file.write(b"%b %b\n" % (key.encode(), event))
    MemoryProducer.send = keep  # type: ignore[method-assign]
    ingest.connect = lambda _: middleware  # type: ignore[attr-defined]
    ingest.options.known = lambda _: settings  # type: ignore[attr-defined]
    ingest.ingest(["--source", "bluesky"])


KEPT = "stream"

if __name__ == "__main__":
    stuck() if len(sys.argv) == 1 else outlived(sys.argv[1])
