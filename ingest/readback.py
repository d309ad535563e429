"""Which events of a run are in `tweets-raw`: asked before anything is published again, so that nothing is twice."""

from __future__ import annotations

import logging
import re
import uuid

import orjson

from common.tweets import RAW
from middleware.base import Middleware, MiddlewareError

log = logging.getLogger(__name__)

POLL_EVENTS = 10_000
QUIET_POLLS, POLL_SECONDS = 3, 1.5
"""The stream counts as read when nothing came this often, for so long each."""

STAMP_BYTES = 512
"""The stamp stands in the first bytes of an event."""


def published(middleware: Middleware, run: str, from_seq: int) -> set[int]:
    """Sequence numbers of the run, from `from_seq` on, that are in the stream. Reads all of it, from its head."""
    group = f"readback-{uuid.uuid4().hex[:12]}"
    pattern = re.compile(rb'"run":%b,"seq":(\d+)\}' % re.escape(orjson.dumps(run)))
    found: set[int] = set()
    try:
        with middleware.consumer(RAW, group, start="head") as consumer:
            quiet = 0
            while quiet < QUIET_POLLS:
                events = consumer.poll(POLL_EVENTS, POLL_SECONDS)
                quiet = 0 if events else quiet + 1
                stamps = (pattern.search(event, 0, STAMP_BYTES) for event in events)
                found.update(int(stamp[1]) for stamp in stamps if stamp)
    finally:
        try:
            middleware.forget_group(RAW, group)
        except MiddlewareError as error:  # it is in nobody's way, and what was found holds
            log.warning("the group %s stays behind: %s", group, error)
    return {seq for seq in found if seq >= from_seq}
