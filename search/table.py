"""The tables: their columns, and what stands in them of a tweet, or of none that may be seen."""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson
import sqlalchemy as sa

from common.tweets import EnrichedTweet, rfc3339

_big = sa.BigInteger().with_variant(sa.Integer, "sqlite")
metadata = sa.MetaData()
tweets = sa.Table(
    "tweets", metadata,
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
    sa.Column("source", sa.String, nullable=False),
    sa.Column("url", sa.String, nullable=False, comment="empty: none"),
    sa.Column("forgotten", sa.Boolean, nullable=False, comment="a deletion, or deleted: the row is blank"),
)
by_position = sa.Index("tweets_position", tweets.c.position, unique=True)

has_url = tweets.c.url != sa.literal_column("''")
by_author = sa.Index("tweets_author", tweets.c.author_id, sqlite_where=has_url, postgresql_where=has_url)
"""For the tweets of an account that goes. Those that can be read nowhere else are not in it: they cost nothing."""

is_forgotten = tweets.c.forgotten.is_(sa.true())
by_forgotten = sa.Index(
    "tweets_forgotten", tweets.c.position, sqlite_where=is_forgotten, postgresql_where=is_forgotten
)
"""SQLite takes an index of some rows where a query names them in the same words."""

deleted_accounts = sa.Table(
    "deleted_accounts", metadata,
    sa.Column("account", sa.String, primary_key=True, comment="digest of the author's id"),
    sa.Column("deleted_at_us", _big, nullable=False),
)

BLANK = {"author_id": "", "text": "", "clean_text": "", "hashtags": "[]", "url": "", "forgotten": True}
"""What is left of a row that is forgotten: its position, and what tells the audit which event it is of."""


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
        storable(tweet.author_id),
        storable(tweet.lang),
        storable(tweet.text),
        storable(tweet.clean_text),
        orjson.dumps(tweet.hashtags).decode(),
        tweet.late,
        storable(tweet.ingest.run),
        tweet.ingest.seq,
        stored_at_us,
        storable(tweet.ingest.source),
        tweet.url and storable(tweet.url),
        False,
    )


def blank_row(tweet: EnrichedTweet, position: int, stored_at_us: int) -> tuple[Any, ...]:
    """What is stored of a tweet that is forgotten, or of a deletion."""
    row = row_of(tweet, position, stored_at_us)
    return tuple(BLANK.get(column.name, value) for column, value in zip(tweets.columns, row, strict=True))


def account_of(author_id: str) -> str:
    """By what an account that is gone is known: nobody reads its name in it."""
    return hashlib.blake2b(author_id.encode(), digest_size=16).hexdigest()


def storable(text: str) -> str:
    """PostgreSQL's text holds no NUL; both databases are to hold the same."""
    return text.replace("\0", "\ufffd") if "\0" in text else text
