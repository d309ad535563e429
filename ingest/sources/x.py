"""X's sampled stream, by tweepy. Each connection is one call of tweepy's; when to connect again is decided here."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Sequence
from typing import Any

import requests
import tweepy
from tweepy.streaming import BaseStream

from common.settings import Settings
from ingest.sources.base import Payload, Source, examine, parse

log = logging.getLogger(__name__)

QUEUED_TWEETS = 20_000
STALL_SECONDS = 25.0
"""X sends a keep-alive every 20 s: a connection that is silent for longer is dead."""

FIELDS = {
    "tweet_fields": ["author_id", "created_at", "entities", "lang", "public_metrics", "referenced_tweets"],
    "expansions": ["author_id"],
    "user_fields": ["name", "username"],
}

REFUSED = {
    401: "X does not know the bearer token (401): set MURMUR_X_BEARER_TOKEN to that of your app",
    403: "X does not allow this token to read the sampled stream (403): it needs a plan that includes it",
}


class Refused(Exception):
    """Trying again would not help."""


class Backoff:
    """Seconds to wait after failures in a row: X asks for linear waits after network errors, doubling ones after HTTP
    errors, and for its own word after 429. Pure. `scale` shortens all of them."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale
        self._failures = 0

    def succeeded(self) -> None:
        self._failures = 0

    def after(self, status: int | None, reset_in: float | None = None) -> float:
        """`status` None stands for a network error; `reset_in` is what the server of a 429 named, in seconds."""
        self._failures += 1
        if status is None:
            wait = min(0.25 * self._failures, 16.0)
        elif status == 429 and reset_in is not None:
            return max(min(reset_in, 900.0), self._scale)
        else:
            wait = min((60.0 if status == 429 else 5.0) * 2 ** (self._failures - 1), 320.0)
        return wait * self._scale


class Connection(tweepy.StreamingClient):
    """Connects once per `sample`, and passes on lines as they came."""

    def __init__(self, settings: Settings, received: queue.Queue[Payload], stall_s: float) -> None:
        super().__init__(settings.x_bearer_token)
        self._base = settings.x_api_url.rstrip("/")
        self._received = received
        self._stall_s = stall_s
        self.status: int | None = None
        self.headers: Any = {}
        self.session.hooks["response"].append(self._on_response)

    def _connect(self, method: str, endpoint: str, **arguments: Any) -> None:
        self.status, self.headers = None, {}
        self.session.headers["Authorization"] = f"Bearer {self.bearer_token}"
        url = f"{self._base}/2/tweets/{endpoint}/stream"
        BaseStream._connect(self, method, url, timeout=self._stall_s, **arguments)

    def _on_response(self, response: requests.Response, **_: Any) -> None:
        self.status, self.headers = response.status_code, response.headers

    def on_data(self, raw_data: bytes) -> None:
        received = parse(raw_data)
        if isinstance(received, dict) and "errors" in received and "data" not in received:
            log.warning("X sent an error: %s", received["errors"])
            return
        payload = examine(raw_data)
        while self.running:
            try:
                return self._received.put(payload, timeout=0.5)
            except queue.Full:
                continue

    # tweepy would wait and try again by itself after each of these, with waits that nobody can set.
    def on_request_error(self, status_code: int) -> None:
        self.disconnect()

    def on_connection_error(self) -> None:
        self.disconnect()

    def on_closed(self, response: Any) -> None:
        self.disconnect()

    def on_exception(self, exception: Exception) -> None:
        raise exception


class SampledStream(Source):
    """About 1 % of all tweets, as they come. Raises ValueError without a token; `take` raises Refused."""

    name = "x"

    def __init__(self, settings: Settings, backoff: Backoff | None = None, stall_s: float = STALL_SECONDS) -> None:
        if not settings.x_bearer_token:
            raise ValueError("X asks for a bearer token: set MURMUR_X_BEARER_TOKEN")
        self._received: queue.Queue[Payload] = queue.Queue(QUEUED_TWEETS)
        self._connection = Connection(settings, self._received, stall_s)
        self._backoff = backoff or Backoff()
        self._closing = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._listen, name="x", daemon=True)
        self._thread.start()

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        payloads: list[Payload] = []
        while len(payloads) < len(sent_at_us):
            try:
                payloads.append(self._received.get_nowait())
            except queue.Empty:
                break
        if not payloads and self._failure:
            raise self._failure
        return payloads

    def rest(self) -> list[Payload]:
        self.close()
        return self.take(range(QUEUED_TWEETS)) if self._received.qsize() else []

    def close(self) -> None:
        self._closing.set()
        self._connection.disconnect()

    def _listen(self) -> None:
        try:
            while not self._closing.is_set():
                self._connection.sample(**FIELDS)
                status = self._connection.status
                if status in REFUSED:
                    raise Refused(REFUSED[status])
                if status == 200:
                    self._backoff.succeeded()
                    status = None
                wait = self._backoff.after(status, self._reset_in())
                log.info("the connection to X ended (%s); again in %.1f s", status or "closed", wait)
                self._closing.wait(wait)
        except Exception as failure:
            self._failure = failure

    def _reset_in(self) -> float | None:
        reset = self._connection.headers.get("x-rate-limit-reset", "")
        return int(reset) - time.time() if reset.isdigit() else None
