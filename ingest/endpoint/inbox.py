"""Collects what concurrent requests push into groups for one publisher."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import threading
import time
from concurrent.futures import TimeoutError as TooLate
from contextlib import suppress
from datetime import datetime

from common.settings import Settings
from common.storage.disk import DiskFull
from ingest.endpoint.heartbeat import Pulse
from ingest.endpoint.pending_requests import Pushed, Waiting
from ingest.manifest import ManifestWriter
from ingest.publisher import Publisher, Stranded
from ingest.resume import dead_runs, recover
from ingest.sources.base import Payload
from middleware.driver import Middleware
from middleware.errors import MiddlewareError
from middleware.registry import connect

log = logging.getLogger(__name__)

SOURCE = "http"
GROUP_BYTES = 16 << 20
"""A group ends with the request with which it becomes larger."""

ANSWER_SECONDS = 20.0
"""How long a request waits for its acknowledgement, and the publisher for the middleware before the run is left."""

CLOSE_SECONDS = 5.0
ANSWERS_SECONDS = 1.0
"""How long a process whose publisher died goes on answering."""

RETRY_SECONDS = 2.0
LOOK_SECONDS = 0.5
"""How often an idle publisher looks whether it is to end."""

NOT_TAKEN = "none of the tweets was taken: push them again"
MAYBE_TAKEN = "the tweets may be published, now or later: push them again, what is there already is dropped"


class Unavailable(Exception):
    """Tweets cannot be published now; the message tells whether those that were pushed may be."""


def end_process() -> None:
    """Ends the process once the requests are answered; what manages it starts another one."""
    time.sleep(ANSWERS_SECONDS)
    os._exit(1)


class Inbox:
    """Publishes from one thread, for all threads of the process, which ends with that thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._group_s = settings.publish_group_ms / 1000
        self._waiting = Waiting()
        self._publisher: Publisher | None = None
        self._pulse: Pulse  # from the connection on, so before anything is recovered
        self._recovered = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="publish", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def publish(self, payloads: list[Payload]) -> None:
        """Returns when all are acknowledged.

        Raises Unavailable, after which they may be published if the message says so, or DiskFull: none of them is.
        """
        self.check()
        pushed = Pushed(payloads, sum(len(payload.body) for payload in payloads))
        if not self._waiting.put(pushed):
            raise Unavailable(f"too many requests wait already; {NOT_TAKEN}")
        try:
            pushed.done.result(ANSWER_SECONDS)
        except TooLate:
            so = NOT_TAKEN if self._waiting.withdraw(pushed) else MAYBE_TAKEN
            raise Unavailable(f"there was no acknowledgement in time; {so}") from None
        except (MiddlewareError, Stranded) as error:
            raise Unavailable(f"{MAYBE_TAKEN} ({error})") from error

    def check(self) -> None:
        """Raises Unavailable while nothing could be published, but for a full disk: only trying tells that."""
        publisher = self._publisher
        if not self._thread.is_alive() or self._closing.is_set():
            raise Unavailable(f"this process is ending; {NOT_TAKEN}")
        if not self._recovered:
            raise Unavailable(
                f"the middleware is not connected, or what an earlier process left is not published yet; {NOT_TAKEN}")
        if publisher and publisher.failing:
            raise Unavailable(f"the middleware does not take events at the moment; {NOT_TAKEN}")

    def check_store(self) -> None:
        """Raises Unavailable while the stream store does not answer; after `check`. A push is tried all the same."""
        if self._pulse.is_missing:
            raise Unavailable("the middleware does not answer at the moment")

    def check_room(self) -> None:
        """Raises DiskFull where the largest request would find no room."""
        archive = self._settings.archive_dir
        folder = next(each for each in (archive, *archive.parents) if each.exists())
        if shutil.disk_usage(folder).free < self._settings.ingest_max_body_bytes:
            raise DiskFull("the disk of the archive is full")

    def close(self) -> None:
        """Publishes what is queued and finishes the run, as far as the middleware lets it within `CLOSE_SECONDS`.

        What is archived and not acknowledged then is published by the next start.
        """
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        try:
            with connect(self._settings) as middleware, Pulse(middleware.data) as self._pulse:
                while not self._closing.is_set():
                    self._recover(middleware)
                    self._serve(middleware)
        except BaseException as error:
            log.critical("publishing failed, so this process ends: %s", error, exc_info=error)
            self._recovered = False
            self._refuse_waiting()
            end_process()

    def _recover(self, middleware: Middleware) -> None:
        """Waits for the middleware and publishes what dead processes, or this one, left."""
        while not self._closing.is_set():
            try:
                middleware.admin.wait_until_ready(RETRY_SECONDS)
                for manifest in dead_runs(self._settings, SOURCE):
                    with recover(self._settings, middleware, manifest, self._closing) as publisher:
                        publisher.finish()
                self._pulse.answered()
                self._recovered = True
                return
            except (MiddlewareError, Stranded, DiskFull) as error:
                log.warning("trying again in %.0f s: %s", RETRY_SECONDS, error)
                self._closing.wait(RETRY_SECONDS)

    def _serve(self, middleware: Middleware) -> None:
        """Publishes what comes, until it is to end or the run has to be recovered."""
        while self._recovered and (group := self._next_group()):
            self._publish(middleware, group)
        if self._publisher:
            with self._publisher, suppress(DiskFull):
                if self._recovered:
                    self._publisher.finish()
            self._publisher = None

    def _next_group(self) -> list[Pushed]:
        """The next request and all that come within `publish_group_ms`; none when closing."""
        while not (first := self._waiting.take(LOOK_SECONDS)):
            if self._closing.is_set():
                return []
        group, size, ends = [first], first.size, time.monotonic() + self._group_s
        while size < GROUP_BYTES and (pushed := self._waiting.take(max(0.0, ends - time.monotonic()))):
            group.append(pushed)
            size += pushed.size
        return group

    def _publish(self, middleware: Middleware, group: list[Pushed]) -> None:
        payloads = [payload for pushed in group for payload in pushed.payloads]
        failure: BaseException | None = None
        try:
            self._begun(middleware).publish([time.time_ns() // 1000] * len(payloads), payloads)
            self._pulse.answered()
        except DiskFull as error:
            failure = error
        except (MiddlewareError, Stranded) as error:
            failure, self._recovered = error, False
        except BaseException:
            self._recovered = False  # before anybody is answered: whoever asks then must not be told that it is ready
            failure = Stranded("publishing failed, and this process ends")
            raise
        finally:
            for pushed in group:
                if failure:
                    pushed.done.set_exception(failure)
                else:
                    pushed.done.set_result(None)

    def _begun(self, middleware: Middleware) -> Publisher:
        if self._publisher is None:
            run = f"{SOURCE}-{datetime.now():%Y%m%d-%H%M%S-%f}"
            manifest = ManifestWriter.create(self._settings, run, SOURCE, {})
            self._publisher = Publisher(
                self._settings, middleware, manifest, stop=self._closing, patience_s=ANSWER_SECONDS)
        return self._publisher

    def _refuse_waiting(self) -> None:
        while pushed := self._waiting.take(0):
            pushed.done.set_exception(Stranded("publishing failed, and this process ends"))
