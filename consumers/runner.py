"""What every consumer does: poll, handle, commit. It never drops an event: what was not handled is not committed."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

import redis
from sqlalchemy.exc import SQLAlchemyError

from common.process.ending import stop_on_signal
from common.process.garbage_collection import collect_seldom
from common.settings import Settings
from consumers import durability
from middleware.data import Consumer, DataPlane
from middleware.errors import MiddlewareError, Overtaken
from middleware.registry import connect

log = logging.getLogger(__name__)
T = TypeVar("T")

DEPENDENCY_DOWN = (MiddlewareError, redis.RedisError, SQLAlchemyError, OSError)
"""What is tried again: servers that are away, disks and memories that are full (IndexDown is an OSError).

Anything else is a bug and ends the process.
"""

RETRY_S = 120.0
"""After so long without success the process ends with an error; whoever supervises it starts it afresh."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0

OVERTAKEN_PAUSE_S = 15.0
"""How long a process that cannot go on waits before it ends: whoever supervises it starts it again at once."""

END_S = 8.0
"""When a process that was asked to end does so whatever is still going on."""

KEPT = "what was read last uncommitted: it comes again"

Place = Callable[[int], str]
"""Where an event of a batch, by its index, stands in its stream: see Consumer.place."""


class Stopping(Exception):
    """The process was asked to end, by SIGTERM or SIGINT."""


class Left(Exception):
    """Retention removed events that this group had not read: to go on behind them is for a person to decide."""


class Handler(Protocol):
    """What a consumer does with events. All but `close` may raise any of DEPENDENCY_DOWN, and are called again."""

    def handle(self, events: list[bytes], place: Place) -> None:
        """Returns when all effects of the events are durable. Any of them may have been handled before."""

    def not_committed(self) -> None:
        """Called after `handle` where the position was not stored: another member may have handled the same events
        meanwhile, or be about to."""

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

    def __init__(self, data: DataPlane, stream: str, group: str, member: str, stop: threading.Event) -> None:
        self._data, self._stream, self._group, self._member = data, stream, group, member
        self._stop = stop
        self._retry = Retry(stop)
        self._consumer: Consumer | None = None

    def run(self, handler: Handler, max_events: int, timeout: float) -> None:
        """Polls up to `max_events`, waiting up to `timeout` seconds for the first. Raises Stopping in the end, or Left.
        """
        try:
            while True:
                events = self._retry(f"polling {self._stream}", lambda: self._poll(max_events, timeout))
                if events:
                    self._retry("handling events", partial(handler.handle, events, self._place))
                    if not self._commit():
                        self._retry("after a commit that failed", handler.not_committed)
                self._retry("after a poll", handler.tick)
        finally:
            self._leave()

    def _poll(self, max_events: int, timeout: float) -> list[bytes]:
        try:
            if self._consumer is None:
                self._consumer = self._data.consumer(self._stream, self._group, self._member)
                log.info("member %s of group %s reads %s", self._member, self._group, self._stream)
            return self._consumer.poll(max_events, timeout)
        except Overtaken as error:
            raise Left(str(error)) from error
        except MiddlewareError:
            self._leave()
            raise

    def _place(self, index: int) -> str:
        assert self._consumer is not None
        return self._consumer.place(index)

    def _commit(self) -> bool:
        """Whether the position is stored. Where that fails the member joins anew, at the last commit: the events come
        again."""
        assert self._consumer is not None
        try:
            return self._consumer.commit()
        except MiddlewareError as error:
            log.warning("commit of %s failed, joining anew: %s", self._stream, error)
            self._leave()
            return False

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
    stop_on_signal(stop, END_S, KEPT)  # also where a handler waits: for another member, or a server that is away
    settings = Settings.load()
    with connect(settings) as middleware, durability.told(settings):
        runner = Runner(middleware.data, stream, group, member, stop)
        sys.exit(consume(runner, lambda: build(settings, member), stop, max_events, timeout))


def consume(
    runner: Runner, build: Callable[[], Handler], stop: threading.Event, max_events: int, timeout: float
) -> int:
    """Builds the handler and runs it until `stop` is set; status of the process, whose log says why it ended."""
    handler: Handler | None = None
    try:
        handler = Retry(stop)("starting", build)
        collect_seldom()
        runner.run(handler, max_events, timeout)
    except Stopping:
        log.info("asked to end")
    except Left as error:
        log.error("%s. `murmur accept-loss` shows what was lost, and lets this group go on behind it", error)
        stop.wait(OVERTAKEN_PAUSE_S)
        return 1
    except Exception:
        log.exception("ending, with %s", KEPT)
        return 1
    finally:
        if handler is not None:
            handler.close()
    return 0
