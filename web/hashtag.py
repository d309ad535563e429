"""One hashtag: its course over time, of what the trending consumer keeps, and what the newest tweets hold of it.

The hashtag is a parameter rather than a part of the address: those of strangers may hold a slash.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from common.stored_counts import highest
from common.tweets import BUCKET_SECONDS, TOTAL
from search.posts import ROWS, DependencyDown, of_tag
from search.store import Store
from web.openapi import errors
from web.parameters import Hashtag, refuse_repeated
from web.problems import Unavailable
from web.search import Post, unavailable

EVERY_S = 30
"""A point of the course: with `rankings_kept_s` as it is unless set, 240 points of 6 buckets each."""

POINTS = 500
"""At most, however long buckets are kept: the newest."""

COMPLETE_AFTER_S = 5
"""So long after its end a point may still grow."""

RELATED, NEWEST = 12, 10

blueprint = APIBlueprint("hashtag", __name__, url_prefix="/api/v1/hashtag", tag="Trending")
blueprint.before_request(refuse_repeated)


class HashtagQuery(BaseModel):
    """Which hashtag."""

    model_config = ConfigDict(extra="forbid")

    hashtag: Hashtag = Field(description="with '#' or without; it is normalised as those of tweets are")


class Point(BaseModel):
    at: AwareDatetime = Field(description="its begin")
    tweets: int | None = Field(description="ranked tweets with the hashtag; null: nothing is known of that time")
    of: int | None = Field(description="ranked tweets, with or without it")


class Course(BaseModel):
    """How often a hashtag came, from the first counts that are kept to the last complete point."""

    hashtag: str = Field(description="normalised")
    every_s: int = Field(description="length of a point")
    points: list[Point]


class Related(BaseModel):
    hashtag: str = Field(description="normalised")
    tweets: int = Field(description="tweets that have both")


class HashtagPosts(BaseModel):
    """What the newest tweets hold of a hashtag."""

    hashtag: str = Field(description="normalised")
    rows: int = Field(description=f"the newest rows of the database, through which was looked; {ROWS:,} at most")
    tweets: int = Field(description="those of them that have the hashtag")
    related: list[Related] = Field(description="hashtags that stand beside it, the most frequent first")
    newest: list[Post] = Field(description="newest first")


@blueprint.get("/course")
@blueprint.input(HashtagQuery, location="query", arg_name="query")
@blueprint.output(Course, description="Its counts")
@blueprint.doc(responses=errors(400, 414, 503))
def course(query: HashtagQuery) -> dict[str, Any]:
    """How often a hashtag came over time"""
    settings, redis = current_app.extensions["settings"], current_app.extensions["redis"]
    end = (int(time.time()) - COMPLETE_AFTER_S) // EVERY_S * EVERY_S
    begin = end - min(settings.rankings_kept_s // EVERY_S, POINTS) * EVERY_S
    with redis.pipeline(transaction=False) as pipe:
        pipe.exists(f"{settings.redis_prefix}marker")
        for start in range(begin, end, BUCKET_SECONDS):
            pipe.hmget(f"{settings.redis_prefix}bucket:{start}", TOTAL, query.hashtag)
        complete, *buckets = pipe.execute()
    if not complete:
        raise Unavailable("The counts of hashtags are being built anew.")
    of_each = EVERY_S // BUCKET_SECONDS
    points = [
        point(begin + at * BUCKET_SECONDS, buckets[at : at + of_each]) for at in range(0, len(buckets), of_each)
    ]
    known = [number for number, each in enumerate(points) if each.of is not None]
    return {"hashtag": query.hashtag, "every_s": EVERY_S, "points": points[known[0] :] if known else []}


def point(start: int, buckets: list[tuple[str | None, str | None]]) -> Point:
    """Of its buckets, each all tweets and those with the hashtag; null where there is no such count."""
    known = [(highest(of), highest(tweets or "0")) for of, tweets in buckets if of is not None]
    return Point(
        at=datetime.fromtimestamp(start, UTC),
        of=sum(of for of, _ in known) if known else None,
        tweets=sum(tweets for _, tweets in known) if known else None,
    )


@blueprint.get("/posts")
@blueprint.input(HashtagQuery, location="query", arg_name="query")
@blueprint.output(HashtagPosts, description="Its tweets")
@blueprint.doc(responses=errors(400, 414, 503))
def posts(query: HashtagQuery) -> dict[str, Any]:
    """The newest tweets of a hashtag, and the hashtags beside it"""
    try:
        found = of_tag(store(), query.hashtag, RELATED, NEWEST)
    except DependencyDown as error:
        raise unavailable(error) from error
    related = [{"hashtag": hashtag, "tweets": tweets} for hashtag, tweets in found.related]
    return {"hashtag": query.hashtag, **found._asdict(), "related": related}


def store() -> Store:
    """The database, opened at the first request that needs it."""
    extensions = current_app.extensions
    if "store" not in extensions:
        extensions.setdefault("store", Store.open(extensions["settings"]))
    opened: Store = extensions["store"]
    return opened
