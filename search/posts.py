"""Tweets as results show them, and those of one hashtag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypedDict

import orjson
from sqlalchemy.exc import SQLAlchemyError

from common.tweets import rfc3339
from search.filters import Filters
from search.store import Store

ROWS = 50_000
"""The newest rows of the database that are looked through for a hashtag: 0.1 s in SQLite."""


class Post(TypedDict):
    """A tweet as results show it."""

    tweet_id: str
    text: str
    created_at: str
    author_id: str
    lang: str
    hashtags: list[str]
    source: str | None
    url: str | None


class DependencyDown(Exception):
    """A server that search needs does not answer; `dependency` names it: 'database' or 'index'."""

    def __init__(self, dependency: str) -> None:
        super().__init__(f"the {dependency} does not answer")
        self.dependency = dependency


class TagPosts(NamedTuple):
    """What the newest rows hold of a hashtag."""

    rows: int
    """How many were looked through."""

    tweets: int
    """How many of them have it."""

    related: list[tuple[str, int]]
    """Hashtags that stand beside it, and in how many tweets; the most frequent first."""

    newest: list[Post]
    """Newest first."""


def of_tag(store: Store, tag: str, related: int, newest: int) -> TagPosts:
    """At most so many related hashtags and newest tweets. Raises DependencyDown."""
    with database():
        last = store.newest_position()
        first = max(store.oldest_position(), last - ROWS + 1)
        found = store.tagged(Filters(tag=tag), first, ROWS).tweets
        shown = store.get([tweet.tweet_id for tweet in found[:newest]])
    beside = Counter(other for tweet in found for other in tweet.hashtags if other != tag)
    posts = [post(row) for tweet in found[:newest] if (row := shown.get(tweet.tweet_id)) and not row.forgotten]
    most = sorted(beside.items(), key=lambda each: (-each[1], each[0]))[:related]
    return TagPosts(last - first + 1, len(found), most, posts)


@contextmanager
def database() -> Iterator[None]:
    """What the database raises becomes DependencyDown."""
    try:
        yield
    except SQLAlchemyError as error:
        raise DependencyDown("database") from error


def post(row: Any) -> Post:
    """A row of the table of tweets."""
    return {
        "tweet_id": str(row.tweet_id),
        "text": row.text,
        "created_at": rfc3339(row.created_at_us),
        "author_id": row.author_id,
        "lang": row.lang,
        "hashtags": orjson.loads(row.hashtags),
        "source": row.source or None,
        "url": row.url or None,
    }
