"""An ingester over a middleware in memory."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common.settings import Settings
from common.tweets import RAW
from ingest.publisher import Publisher
from ingest.sources.base import Payload, examine, parse
from ingest.stamp import Stamper
from tests.memory import Memory

NO_REDIS = "redis://127.0.0.1:1/0"
RUN = "run-1"


def settings_in(home: Path, **more: Any) -> Settings:
    return Settings(home=home, redis_url=NO_REDIS, ingest_token="token", publish_group_ms=1, **more)


def memory(settings: Settings, partitions: int = 2) -> Memory:
    made = Memory(settings)
    made.admin.create_stream(RAW, partitions)
    return made


def payloads(count: int, first: int = 0) -> list[Payload]:
    return [examine(b'{"data":{"id":"%d","author_id":"%d"}}' % (n, n % 7)) for n in range(first, first + count)]


def publish(publisher: Publisher, count: int) -> None:
    publisher.publish([5] * count, payloads(count, publisher.total))


def others(middleware: Memory, run: str, first: int, count: int) -> None:
    """Another ingester's events."""
    stamper = Stamper("test", run, 1 << 20)
    with middleware.data.producer(RAW) as producer:
        for seq, payload in enumerate(payloads(count), first):
            producer.send(payload.author_id, stamper.event(seq, 5, payload))


def seqs(middleware: Memory, run: str) -> Counter[int]:
    """How often each event of the run is in the stream."""
    stamps = [parse(event)["ingest"] for event in middleware.events(RAW)]
    return Counter(stamp["seq"] for stamp in stamps if stamp["run"] == run)


def each_once(count: int) -> Counter[int]:
    return Counter(range(count))


def eventually(probe: Callable[[], bool], timeout: float = 10.0) -> bool:
    deadline = time.monotonic() + timeout
    while not probe():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
