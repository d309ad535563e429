"""Another number of shards for *trending*: its state cannot be shared out anew, so the tweets are counted once more.

A query with another number begins at the head of `tweets-enriched` with a state of its own. Both counts of a bucket are
right or too low, and readers take the higher one (common/tweets.py). So no count falls, and all are exact once the new
query has read what the old one had, if the stream still holds all tweets of the buckets that the old one had not done
with. Otherwise neither count would be whole, and the query goes on with the number that it has: were it to stand, the
stream would lose what it has not read.
"""

from __future__ import annotations

import logging
import math
import shutil
import time
import uuid
from pathlib import Path

from common.tweets import BUCKET_SECONDS, ENRICHED, sent_at
from middleware.checkpoint import Batch, last_planned
from middleware.driver import Middleware
from middleware.errors import MiddlewareError, Unreachable

POLL_EVENTS, POLL_S = 1000, 1.0
SILENCE_S = 60.0

log = logging.getLogger(__name__)


def prepare(middleware: Middleware, query: str, wished: int) -> int:
    """How many shards a query that does not run is to count with: those wished, or those it had, if it cannot change
    now. Where it can, takes away the checkpoint of the other number.

    Raises MiddlewareError where the checkpoint cannot be read.
    """
    folder = middleware.settings.checkpoint_dir / query
    for left in folder.parent.glob(f"{query}.before-*"):  # a change that was cut off
        shutil.rmtree(left)
    last = last_planned(folder)
    if last is None or last.shuffle_partitions == wished:
        return wished
    has = last.shuffle_partitions
    try:
        obstacle = _obstacle(middleware, last)
    except MiddlewareError as error:
        obstacle = f"what retention took cannot be told: {error}"
    if obstacle:
        log.warning(
            "%s goes on with %d shards instead of %d: counted once more from the head of %s, buckets would not be "
            "whole (%s). Set MURMUR_TRENDING_SHARDS=%d as before; or start it again when fewer tweets come, so that "
            "the stream holds more minutes; or replay the archive into an instance beside it",
            query, has, wished, ENRICHED, obstacle, has,
        )  # fmt: skip
        return has
    log.warning("%s counts with %d shards instead of %d: from the head of %s on", query, wished, has, ENRICHED)
    away: Path = folder.with_name(f"{query}.before-{wished}-shards")
    folder.rename(away)  # at once: half a checkpoint would be read as one
    shutil.rmtree(away)
    return wished


def _obstacle(middleware: Middleware, last: Batch) -> str:
    """Why tweets of buckets that are not done yet may be gone from the stream; empty if none is."""
    settings = middleware.settings
    counted_until = last.watermark_ms // 1000 // BUCKET_SECONDS * BUCKET_SECONDS
    gone_until = sent_until(middleware) + settings.watermark_slack_s + settings.future_tolerance_s
    if gone_until < counted_until:
        return ""
    if gone_until == math.inf:
        return "nothing is left of a partition that tells what retention took"
    if not counted_until:
        return "retention took tweets, and no bucket is done yet"
    return f"retention took tweets up to {gone_until - counted_until:,.0f} s younger than the buckets that are done"


def sent_until(middleware: Middleware) -> float:
    """When the youngest of the tweets was sent that retention has taken from `tweets-enriched`, within
    `watermark_slack_s`, in seconds since the epoch; -∞ if none was taken, ∞ if nothing is left that could tell."""
    head, end = middleware.data.head(ENRICHED), middleware.data.end(ENRICHED)
    cut = {partition for partition, offset in head.offsets.items() if offset}
    if any(head.offsets[partition] >= end.offsets.get(partition, 0) for partition in cut):
        return math.inf
    first: dict[int, float] = {}
    group, until = f"shards-{uuid.uuid4().hex[:12]}", time.monotonic() + SILENCE_S
    try:
        with middleware.data.consumer(ENRICHED, group, start="head") as consumer:
            while not cut <= first.keys():
                if time.monotonic() > until:
                    raise Unreachable(f"{ENRICHED} did not show its first events within {SILENCE_S:.0f} s")
                for index, event in enumerate(consumer.poll(POLL_EVENTS, POLL_S)):
                    partition = int(consumer.place(index).partition("/")[0])
                    if partition not in first:
                        sent = sent_at(event)
                        first[partition] = math.inf if sent is None else sent
    finally:
        _forget(middleware, group)
    return max((first[partition] for partition in cut), default=-math.inf)


def _forget(middleware: Middleware, group: str) -> None:
    try:
        middleware.admin.forget_group(ENRICHED, group)
    except MiddlewareError as error:  # it holds nothing, and what was learnt stays true
        log.warning("the group %s stays: %s", group, error)
