"""Which events of a run are in `tweets-raw`: asked before anything is published again, so that nothing is twice."""

from __future__ import annotations

import logging
import re
import time
import uuid

import orjson

from common.tweets import RAW
from middleware.base import Middleware, MiddlewareError, Unreachable

log = logging.getLogger(__name__)

POLL_EVENTS = 10_000
POLL_SECONDS = 1.5
READ_SECONDS = 600.0
"""How long reading the whole stream may take."""


def published(middleware: Middleware, run: str, from_seq: int, timeout: float = READ_SECONDS) -> set[int]:
    """Sequence numbers of the run, from `from_seq` on, that are in the stream.

    Reads it from its head to where it ends now, whatever others add meanwhile; what retention has taken is not found.
    Raises Unreachable after `timeout` seconds, and what else the middleware raises.
    """
    group = f"readback-{uuid.uuid4().hex[:12]}"
    stamp = re.compile(rb'\{"ingest":\{"sent_at_us":-?\d+,"source":"[^"]*","run":%b,"seq":(\d+)\}'
                       % re.escape(orjson.dumps(run)))
    deadline = time.monotonic() + timeout
    return {seq for seq in _read(middleware, group, stamp, deadline) if seq >= from_seq}


def _read(middleware: Middleware, group: str, stamp: re.Pattern[bytes], deadline: float) -> set[int]:
    end = middleware.end(RAW)
    found: set[int] = set()
    try:
        with middleware.consumer(RAW, group, start="head") as consumer:
            while True:
                stamps = map(stamp.match, consumer.poll(POLL_EVENTS, POLL_SECONDS))
                found.update(int(match[1]) for match in stamps if match)
                if consumer.has_reached(end):
                    if consumer.passed_over:
                        log.warning("retention took events of %s while it was read: some may be published again", RAW)
                    return found
                if time.monotonic() > deadline:
                    raise Unreachable(f"{RAW} could not be read to its end in time")
    finally:
        try:
            middleware.forget_group(RAW, group)
        except MiddlewareError as error:  # it is in nobody's way, and what was found holds
            log.warning("the group %s stays behind: %s", group, error)
