"""What an answer of the HTTP API must be like, whatever was asked. Pure but for the clock."""

from __future__ import annotations

import time
from datetime import datetime
from itertools import pairwise
from typing import Any

OLDEST_SECONDS = 30.0
"""A ranking that nobody refreshes is gone by then."""


class Wrong(Exception):
    """An answer that cannot be right."""


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)


def check_ranking(ranking: dict[str, Any], window: str) -> None:
    """Of the window asked for, in order, without repeats, no older than it may be."""
    hashtags = ranking["hashtags"]
    require(ranking["window"] == window, f"window {ranking['window']} instead of {window}")
    require([tag["rank"] for tag in hashtags] == list(range(1, len(hashtags) + 1)), "ranks are not 1, 2, 3 …")
    require(all(a["count"] >= b["count"] for a, b in pairwise(hashtags)), "counts grow from rank to rank")
    require(len({tag["hashtag"] for tag in hashtags}) == len(hashtags), "a hashtag is ranked twice")
    require(all(0 < tag["count"] <= ranking["tweets"] for tag in hashtags), "a hashtag has more tweets than there are")
    age = time.time() - datetime.fromisoformat(ranking["as_of"]).timestamp()
    require(age < OLDEST_SECONDS, f"the ranking is {age:.0f} s old")


def check_hits(found: dict[str, Any], query: str, limit: int) -> None:
    """Of the query asked, the nearest first, none twice."""
    hits = found["hits"]
    require(found["query"] == query, f"hits for {found['query']!r} instead of {query!r}")
    require(len(hits) <= limit, f"{len(hits)} hits, though {limit} were asked for")
    require(all(a["distance"] <= b["distance"] + 1e-6 for a, b in pairwise(hits)), "hits are not in order")
    require(len({hit["tweet_id"] for hit in hits}) == len(hits), "a tweet was found twice")


def check_pushed(status: int, accepted: int, sent: int, instance: str) -> None:
    """All of a batch, pushed with the token of `instance`."""
    require(status not in (401, 403), f"the token of instance {instance!r} is refused: set MURMUR_INSTANCE to the "
            "instance that --host is the address of")
    require(accepted == sent, f"{accepted} of {sent} tweets were accepted, with status {status}")


def check_events(kinds: set[str]) -> None:
    """A stream that was open for 15 s has brought both kinds of events."""
    require({"trending", "pipeline"} <= kinds, f"only these events came: {sorted(kinds) or 'none'}")
