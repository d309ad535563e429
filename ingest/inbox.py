"""Collects what concurrent requests push into groups for one publisher."""

from __future__ import annotations

import atexit
import logging
import queue
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from datetime import datetime

from common.settings import Settings
from ingest.manifest import ManifestWriter
from ingest.publisher import Publisher, Stranded
from ingest.resume import dead_runs, recover
from ingest.source import Payload
from middleware import connect
from middleware.base import Middleware, MiddlewareError

log = logging.getLogger(__name__)

SOURCE = "http"
QUEUED_REQUESTS = 64
ANSWER_SECONDS = 20.0
"""How long a request waits for its acknowledgement."""

RETRY_SECONDS = 2.0

Request = tuple[list[Payload], "Future[None]"]


class Unavailable(Exception):
    """Tweets cannot be published now."""


class Inbox:
    """Publishes from one thread, for all threads of the process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._group_s = settings.publish_group_ms / 1000
        self._requests: queue.Queue[Request | None] = queue.Queue(QUEUED_REQUESTS)
        self._publisher: Publisher | None = None
        self._ready = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="publish", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def publish(self, payloads: list[Payload]) -> None:
        """Returns when all are acknowledged. After Unavailable they may or may not be published: push them again."""
        self.check()
        done: Future[None] = Future()
        try:
            self._requests.put_nowait((payloads, done))
            done.result(ANSWER_SECONDS)
        except (queue.Full, TooLate, Stranded, MiddlewareError) as error:
            raise Unavailable(f"the tweets were not acknowledged in time: {error or 'too many requests'}") from error

    def check(self) -> None:
        """Raises Unavailable while the middleware is not connected."""
        if not self._ready:
            raise Unavailable("the middleware is not connected yet")

    def close(self) -> None:
        """Publishes what is queued and finishes the run."""
        if not self._closing.is_set():
            self._closing.set()
            self._requests.put(None)
            self._thread.join(ANSWER_SECONDS)

    def _run(self) -> None:
        with connect(self._settings) as middleware:
            self._recover(middleware)
            while requests := self._next_requests():
                self._publish(middleware, requests)
        if self._publisher:
            self._publisher.finish()
            self._publisher.close()

    def _recover(self, middleware: Middleware) -> None:
        """Waits for the middleware and publishes what dead processes left."""
        while not self._ready and not self._closing.is_set():
            try:
                middleware.wait_until_ready(RETRY_SECONDS * 5)
                for manifest in dead_runs(self._settings, SOURCE):
                    publisher = recover(self._settings, middleware, manifest)
                    publisher.finish()
                    publisher.close()
                self._ready = True
            except (MiddlewareError, Stranded) as error:
                log.warning("trying again in %.0f s: %s", RETRY_SECONDS, error)
                self._closing.wait(RETRY_SECONDS)

    def _next_requests(self) -> list[Request]:
        """The next request and all that come within `publish_group_ms`; none when closing."""
        requests: list[Request] = []
        deadline = 0.0
        while True:
            try:
                wait = max(0.0, deadline - time.monotonic()) if requests else None
                request = self._requests.get(timeout=wait)
            except queue.Empty:
                return requests
            if request is None:
                if requests:
                    self._requests.put(None)
                return requests
            if not requests:
                deadline = time.monotonic() + self._group_s
            requests.append(request)

    def _publish(self, middleware: Middleware, requests: list[Request]) -> None:
        payloads = [payload for pushed, _ in requests for payload in pushed]
        failure: Exception | None = None
        try:
            publisher = self._begin(middleware)
            publisher.publish([time.time_ns() // 1000] * len(payloads), payloads)
        except (MiddlewareError, Stranded) as error:
            failure = error
            self._abandon()
        for _, done in requests:
            if failure:
                done.set_exception(failure)
            else:
                done.set_result(None)

    def _begin(self, middleware: Middleware) -> Publisher:
        if self._publisher is None:
            run = f"{SOURCE}-{datetime.now():%Y%m%d-%H%M%S-%f}"
            manifest = ManifestWriter.create(self._settings, run, SOURCE, {})
            self._publisher = Publisher(self._settings, middleware, manifest)
        return self._publisher

    def _abandon(self) -> None:
        """Leaves the run unfinished, to be recovered by the next start; new tweets begin another one."""
        if self._publisher:
            self._publisher.close()
            self._publisher = None
