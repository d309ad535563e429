"""Keeps the ledger: `python -m audit.live.process`.

It reads what is small and waits for nothing that is away: a figure that cannot be known is unknown meanwhile. While an
experiment measures the instance it rests.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import NamedTuple, TypeVar

import redis
from sqlalchemy.exc import SQLAlchemyError

from audit.live import sources
from audit.live.index_rows import IndexRows
from audit.live.ledger import Acknowledged, LedgerKeeper, Parts, Seen, Streams
from audit.live.rankings import Shown
from audit.live.reading import Reading, Source
from audit.live.streams import streams
from common import experiments
from common.process.ending import stop_on_signal
from common.process.garbage_collection import collect_seldom
from common.settings import Settings
from common.telemetry import ledger
from middleware.errors import MiddlewareError

log = logging.getLogger(__name__)
T = TypeVar("T")

WRITE_S = 1.0
LOOK_S = 1.0
STREAMS_S = 2.0
"""How often the streams' ends are asked for, with a dozen calls of the store's client."""
INDEX_S = 5.0
"""How often its rows are counted, since searches wait behind that."""

TELLS_S = 5.0
"""How long a reading tells something; one of the index for as much longer as it is taken less often."""

END_S = 5.0

PASSING = (MiddlewareError, redis.RedisError, SQLAlchemyError, OSError)
"""What a server that is away raises, and Spark's checkpoints while their files are replaced."""


class Sources(NamedTuple):
    acknowledged: Source[Acknowledged]
    streams: Source[Streams]
    seen: Source[Seen]
    shown: Source[Shown | None]
    index_rows: Source[IndexRows]

    @classmethod
    def of(cls, settings: Settings) -> Sources:
        seen = Source("database", lambda: sources.database(settings), LOOK_S, PASSING)

        def starts() -> list[int]:
            return list(seen.latest.value.due.buckets) if seen.latest else []

        return cls(
            Source("manifests", lambda: sources.manifests(settings), LOOK_S, PASSING),
            Source("stream store", lambda: streams(settings), STREAMS_S, PASSING),
            seen,
            Source("rankings", lambda: sources.rankings(settings, starts), LOOK_S, PASSING),
            Source("index", lambda: sources.index(settings), INDEX_S, PASSING),
        )

    def parts(self) -> Parts | None:
        """None before the manifests were read."""
        acknowledged = self.acknowledged.latest
        if acknowledged is None:
            return None
        index_rows = fresh(self.index_rows.latest, INDEX_S)
        seen, shown = fresh(self.seen.latest), fresh(self.shown.latest)
        return Parts(acknowledged, fresh(self.streams.latest), seen, shown, index_rows)


def fresh(reading: Reading[T] | None, every_s: float = 0.0) -> Reading[T] | None:
    return reading if reading and reading.ended > time.monotonic() - TELLS_S - every_s else None


def keep(settings: Settings, stop: threading.Event) -> None:
    """Until `stop` is set: keeps the ledger, or tells that it is off while an experiment runs."""
    client = redis.Redis.from_url(settings.redis_address, socket_timeout=sources.REDIS_TIMEOUT_S)
    while not stop.is_set():
        if rests(settings):
            write(client, settings, ledger.unknown("off", time.time_ns() // 1000))
        else:
            follow(settings, client, stop)
        stop.wait(WRITE_S)


def follow(settings: Settings, client: redis.Redis, stop: threading.Event) -> None:
    """Until `stop` is set, an experiment begins, or one of the sources has failed for good."""
    ended = threading.Event()
    keeper, read_from = LedgerKeeper(), Sources.of(settings)
    threads = [source.start(ended) for source in read_from]
    while not (stop.is_set() or ended.is_set() or rests(settings)):
        parts, now_us = read_from.parts(), time.time_ns() // 1000
        write(client, settings, keeper.look(parts, now_us) if parts else ledger.unknown(as_of_us=now_us))
        stop.wait(WRITE_S)
    ended.set()
    for thread in threads:
        thread.join(END_S)


def rests(settings: Settings) -> bool:
    return not settings.ledger_in_experiments and experiments.is_running(settings)


def write(client: redis.Redis, settings: Settings, content: ledger.Ledger) -> None:
    try:
        ledger.write(client, settings.redis_prefix, content)
    except redis.RedisError as error:
        log.debug("the ledger was not written: %s", error)


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stop = threading.Event()
    stop_on_signal(stop, END_S, "nothing depends on it")
    collect_seldom()
    keep(Settings.load(), stop)


if __name__ == "__main__":
    main()
