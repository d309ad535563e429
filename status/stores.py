"""What every store of an instance holds, its bound and its oldest entry, as `murmur status` shows it.

A further store is one entry of SOURCES.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import redis

from common.settings import Settings
from common.storage.held import Held
from common.tweets import STREAMS
from consumers.buckets import Buckets
from deploy.local import stack
from deploy.local.processes import supervisor
from ingest import manifest
from ingest.archive import bounds
from middleware.registry import connect
from search.index import Index
from search.store import Store

TIMEOUT = 2.0
"""Seconds in which Redis answers."""


@dataclass(frozen=True)
class Source:
    """Whoever can be asked for these stores. What it raises counts as unknown."""

    stores: tuple[str, ...]
    unit: Literal["bytes", "rows"]
    ask: Callable[[Settings], Iterable[Held]]


def collected(sources: Sequence[Source], settings: Settings, seconds: float) -> list[Held]:
    """One for each store, in the order of the sources; all is None but the name where a store does not answer."""
    found: dict[str, Held] = {}

    def ask(source: Source) -> None:
        for one in source.ask(settings):
            found[one.store] = one

    answered({source: partial(ask, source) for source in sources}, seconds)
    return in_order(sources, found.copy())


def answered(questions: Mapping[Any, Callable[[], Any]], seconds: float) -> dict[Any, Any]:
    """What each question returned, all asked at once; without those that raised, or were not answered in time."""
    found: dict[Any, Any] = {}

    def ask(name: Any, question: Callable[[], Any]) -> None:
        with suppress(Exception):  # whatever a client raises means "unknown"
            found[name] = question()

    threads = [threading.Thread(target=ask, args=one, daemon=True) for one in questions.items()]
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return found.copy()


def unknown() -> list[Held]:
    return in_order(SOURCES, {})


def in_order(sources: Sequence[Source], found: Mapping[str, Held]) -> list[Held]:
    return [found.get(store, Held(store, None, None, source.unit)) for source in sources for store in source.stores]


def streams(settings: Settings) -> Iterable[Held]:
    with connect(settings) as middleware:
        for stream in STREAMS:
            yield middleware.admin.held(stream)


def database_and_index(settings: Settings) -> Iterable[Held]:
    store = Store.open(settings)
    yield store.held()
    yield Index.open(settings).held(store)


def of_redis(settings: Settings) -> Iterable[Held]:
    """In memory, which is what its bound is of. Of what it holds the buckets of the rankings are kept longest."""
    with redis.Redis.from_url(settings.redis_address, socket_timeout=TIMEOUT) as client:
        memory = client.info("memory")
        oldest = Buckets(client, settings.redis_prefix, settings.rankings_kept_s).oldest()
    yield Held("redis", int(memory["used_memory"]), int(memory["maxmemory"]) or None, "bytes", oldest)


def of_spark(settings: Settings) -> Iterable[Held]:
    """Neither has a bound in bytes. A checkpoint is bounded by what there is to know: the last micro-batches, and of
    the stateful query the buckets that the watermark has not passed, with their ids, of 8 bytes a tweet. Scratch is a
    copy of the state and of the jars, and goes at the next start."""
    yield of_files("checkpoints", settings.checkpoint_dir.rglob("*"), None)
    yield of_files("spark-scratch", (settings.state_dir / "spark").rglob("*"), None)


LOGS_ASIDE = 4
"""Of processes that no process manager starts: `load` of generators and audits, `users`, `class-data`, `chaos`."""


def logs(settings: Settings) -> Iterable[Held]:
    """Each process has its bound. A log aside is begun anew above it when a process is started that writes it."""
    everything = stack.processes(settings)
    bound = supervisor.DAEMON_LOG_BYTES + (len(everything) + LOGS_ASIDE) * settings.log_max_bytes
    yield of_files("logs", settings.log_dir.iterdir(), bound)


def of_files(store: str, paths: Iterable[Path], bound: int | None) -> Held:
    """Files that come and go meanwhile."""
    size, oldest_at = 0, None
    for path in paths:
        with suppress(FileNotFoundError):
            if path.is_file():
                found = path.stat()
                size += found.st_size
                oldest_at = min(oldest_at or found.st_mtime, found.st_mtime)
    return Held(store, size, bound, "bytes", oldest_at)


SOURCES = (
    Source(("archive",), "bytes", lambda settings: [bounds.held(settings)]),
    Source(("manifests",), "rows", lambda settings: [manifest.held(settings)]),
    Source(STREAMS, "bytes", streams),
    Source(("checkpoints", "spark-scratch"), "bytes", of_spark),
    Source(("database", "index"), "rows", database_and_index),
    Source(("redis",), "bytes", of_redis),
    Source(("logs",), "bytes", logs),
)
