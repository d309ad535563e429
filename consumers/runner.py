"""What every consumer does: poll, handle, commit. It never drops an event: what was not handled is not committed."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

import redis
from sqlalchemy.exc import SQLAlchemyError

from common.garbage import collect_seldom
from common.settings import Settings
from consumers import durability
from middleware import connect
from middleware.base import Consumer, Middleware, MiddlewareError

log = logging.getLogger(__name__)
T = TypeVar("T")

DEPENDENCY_DOWN = (MiddlewareError, redis.RedisError, SQLAlchemyError, OSError)
"""What is tried again (IndexDown is an OSError); anything else is a fault of the program and ends it."""

RETRY_S = 120.0
"""After so long without success the process ends with an error; whoever supervises it starts it afresh."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0


class Stopping(Exception):
    """The process was asked to end, by SIGTERM or SIGINT."""


class Handler(Protocol):
    """What a consumer does with events. `handle` and `tick` may raise any of DEPENDENCY_DOWN, and are called again."""

    def handle(self, events: list[bytes]) -> None:
        """Returns when all effects of the events are durable. Any of them may have been handled before."""

    def tick(self) -> None:
        """Called after every poll, events or not."""

    def close(self) -> None:
        """Called once, at the end."""


class Retry:
    """Calls again what fails because a dependency is down, with growing pauses, until RETRY_S are over."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def __call__(self, what: str, attempt: Callable[[], T]) -> T:
        deadline, pause = time.monotonic() + RETRY_S, FIRST_PAUSE_S
        while True:
            if self._stop.is_set():
                raise Stopping
            try:
                return attempt()
            except DEPENDENCY_DOWN as error:
                left = deadline - time.monotonic()
                if left < 0:
                    raise
                log.warning("%s: %s; trying again in %.1f s, for %.0f s at most", what, error, pause, left)
            self._stop.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)


class Runner:
    """One member of a consumer group, in the calling thread."""

    def __init__(self, middleware: Middleware, stream: str, group: str, member: str, stop: threading.Event) -> None:
        self._middleware, self._stream, self._group, self._member = middleware, stream, group, member
        self._stop = stop
        self._retry = Retry(stop)
        self._consumer: Consumer | None = None

    def run(self, handler: Handler, max_events: int, timeout: float) -> None:
        """Until `stop` is set; polls up to `max_events`, waiting up to `timeout` seconds for the first."""
        try:
            while True:
                events = self._retry(f"polling {self._stream}", lambda: self._poll(max_events, timeout))
                if events:
                    batch = events
                    self._retry("handling events", lambda batch=batch: handler.handle(batch))  # type: ignore[misc]
                    self._commit()
                self._retry("after a poll", handler.tick)
        except Stopping:
            log.info("asked to end")
        finally:
            self._leave()

    def _poll(self, max_events: int, timeout: float) -> list[bytes]:
        try:
            if self._consumer is None:
                self._consumer = self._middleware.consumer(self._stream, self._group, self._member)
                log.info("member %s of group %s reads %s", self._member, self._group, self._stream)
            return self._consumer.poll(max_events, timeout)
        except MiddlewareError:
            self._leave()
            raise

    def _commit(self) -> None:
        """Where it fails the member joins anew, at the last commit: the events come again."""
        assert self._consumer is not None
        try:
            self._consumer.commit()
        except MiddlewareError as error:
            log.warning("commit of %s failed, joining anew: %s", self._stream, error)
            self._leave()

    def _leave(self) -> None:
        left, self._consumer = self._consumer, None
        if left is not None:
            try:
                left.close()
            except MiddlewareError as error:
                log.warning("leaving group %s: %s", self._group, error)


def main(group: str, stream: str, build: Callable[[Settings, str], Handler], max_events: int, timeout: float) -> None:
    """Entry point of a consumer process. Copies in one group differ by `--member` (or MURMUR_MEMBER)."""
    parser = argparse.ArgumentParser(description=f"Consumer group {group} of the stream {stream}.")
    parser.add_argument("--member", default=os.environ.get("MURMUR_MEMBER", "0"), help="distinguishes copies")
    member = parser.parse_args().member
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    settings = Settings.load()
    with connect(settings) as middleware, durability.told(settings):
        try:
            handler = Retry(stop)("starting", lambda: build(settings, member))
        except Stopping:
            return
        collect_seldom()
        try:
            Runner(middleware, stream, group, member, stop).run(handler, max_events, timeout)
        finally:
            handler.close()
