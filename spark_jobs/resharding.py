"""Another number of shards for *trending*: its state cannot be shared out anew, so the tweets are counted once more.

A query with another number begins at the head of `tweets-enriched` with a state of its own. Both counts of a bucket are
right or too low, and readers take the higher one (common/tweets.py). So rankings never fall, and are exact once the new
query has read what the old one had, if the stream still holds all tweets of the buckets that the old one had not done
with. Otherwise neither count would be whole, and the change is refused.
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


class ShardsRefused(Exception):
    """The number cannot be changed now; nothing was touched, and the message names the ways out."""


def prepare(middleware: Middleware, query: str, shards: int) -> None:
    """Takes away the checkpoint of a query that counts with another number of shards and does not run.

    Raises ShardsRefused, or MiddlewareError where the streams do not answer.
    """
    folder = middleware.settings.checkpoint_dir / query
    for left in folder.parent.glob(f"{query}.before-*"):  # a change that was cut off
        shutil.rmtree(left)
    last = last_planned(folder)
    if last is None or last.shuffle_partitions == shards:
        return
    _refuse_unless_whole(middleware, last, shards)
    log.warning("%s counts with %d shards instead of %d: from the head of %s on", query, shards,
                last.shuffle_partitions, ENRICHED)
    away: Path = folder.with_name(f"{query}.before-{shards}-shards")
    folder.rename(away)  # at once: half a checkpoint would be read as one
    shutil.rmtree(away)


def _refuse_unless_whole(middleware: Middleware, last: Batch, shards: int) -> None:
    settings = middleware.settings
    counted_until = last.watermark_ms // 1000 // BUCKET_SECONDS * BUCKET_SECONDS
    gone_until = sent_until(middleware) + settings.watermark_slack_s + settings.future_tolerance_s
    if gone_until >= counted_until:
        raise ShardsRefused(
            f"trending has counted with {last.shuffle_partitions} shards, and {shards} would have to count again what "
            f"{ENRICHED} does not hold any more: buckets up to {gone_until - counted_until:,.0f} s younger than those "
            f"that are done. Set MURMUR_TRENDING_SHARDS={last.shuffle_partitions} as before; or change it when fewer "
            "tweets come, so that the stream holds more minutes; or replay the archive into an instance beside it"
        )


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
