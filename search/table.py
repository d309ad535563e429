"""The table of tweets: its columns, and what stands in them of a tweet."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson
import sqlalchemy as sa

from common.tweets import EnrichedTweet, rfc3339

_big = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_metadata = sa.MetaData()
tweets = sa.Table(
    "tweets", _metadata,
    sa.Column("tweet_id", _big, primary_key=True, autoincrement=False),
    sa.Column("position", _big, nullable=False),
    sa.Column("created_at_us", _big, nullable=False),
    sa.Column("author_id", sa.String, nullable=False),
    sa.Column("lang", sa.String, nullable=False),
    sa.Column("text", sa.String, nullable=False),
    sa.Column("clean_text", sa.String, nullable=False),
    sa.Column("hashtags", sa.String, nullable=False, comment="JSON array"),
    sa.Column("late", sa.Boolean, nullable=False),
    sa.Column("run", sa.String, nullable=False),
    sa.Column("seq", _big, nullable=False),
    sa.Column("stored_at_us", _big, nullable=False),
)
by_position = sa.Index("tweets_position", tweets.c.position, unique=True)


def created_at_us(tweet: EnrichedTweet) -> int:
    """`created_at` in µs since the epoch. Raises ValueError or OverflowError if it is no moment of our calendar."""
    return _since_epoch_us(tweet.created_at)


@lru_cache(maxsize=8192)
def _since_epoch_us(written: str) -> int:
    """Tweets of one moment share it, and each is asked for twice: for the table and for the index."""
    moment = datetime.fromisoformat(written)
    if moment.tzinfo is None:
        raise ValueError(f"created_at is not in UTC: {written[:40]!r}")
    since_epoch_us = round(moment.timestamp() * 1e6)
    rfc3339(since_epoch_us)  # as results show it
    return since_epoch_us


def row_of(tweet: EnrichedTweet, position: int, stored_at_us: int) -> tuple[Any, ...]:
    """A tweet, in the order of the table's columns. Raises as `created_at_us` does."""
    return (
        tweet.tweet_id,
        position,
        created_at_us(tweet),
        _storable(tweet.author_id),
        _storable(tweet.lang),
        _storable(tweet.text),
        _storable(tweet.clean_text),
        orjson.dumps(tweet.hashtags).decode(),
        tweet.late,
        _storable(tweet.ingest.run),
        tweet.ingest.seq,
        stored_at_us,
    )


def _storable(text: str) -> str:
    """PostgreSQL's text holds no NUL; both databases are to hold the same."""
    return text.replace("\0", "\ufffd") if "\0" in text else text
