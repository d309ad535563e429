"""Tweets with a hashtag, among the newest rows of the database.

No index lists them by hashtag: to keep one would cost every tweet more than these reads cost the few who ask. They go
through a bounded number of rows, newest first.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy import Connection, select

from search.filters import Filters
from search.table import tweets


class Tagged(NamedTuple):
    tweet_id: int
    hashtags: list[str]
    """All that the tweet has."""


class Found(NamedTuple):
    tweets: list[Tagged]
    """Newest first."""

    complete: bool
    """Whether no other tweet is there."""


def read(connection: Connection, filters: Filters, first: int, most: int) -> Found:
    """The newest `most` tweets, or fewer, at position `first` or later that have the hashtag and pass the other
    filters."""
    holds = sa.func.instr if connection.dialect.name == "sqlite" else sa.func.strpos
    written = orjson.dumps(filters.tag).decode()
    wanted = select(tweets.c.tweet_id, tweets.c.hashtags).where(
        tweets.c.position >= first, holds(tweets.c.hashtags, written) > 0, *filters.of_database()
    )
    rows = connection.execute(wanted.order_by(tweets.c.position.desc()).limit(most + 1)).all()
    found = (Tagged(row.tweet_id, orjson.loads(row.hashtags)) for row in rows[:most])
    # What stands between two hashtags is none.
    return Found([tweet for tweet in found if filters.tag in tweet.hashtags], len(rows) <= most)
