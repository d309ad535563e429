"""The hashtag ranking of a window, as the trending consumer publishes it."""

from __future__ import annotations

from typing import Annotated, Literal

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from redis import Redis

from web.openapi import errors
from web.problems import Unavailable

Window = Literal["1m", "5m", "15m", "1h"]
MAX_LIMIT = 5000

blueprint = APIBlueprint("trending", __name__, url_prefix="/api/v1", tag="Trending")


class TrendingQuery(BaseModel):
    """Parameters of a ranking."""

    model_config = ConfigDict(extra="forbid")

    window: Window = Field("5m", description="how far back the ranking looks")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = Field(
        100, description="hashtags in the answer, at most; no more than the setting `ranking_limit` are kept"
    )


class RankedHashtag(BaseModel):
    hashtag: str = Field(description="normalised (NFKC, case-folded), without '#'")
    count: int = Field(ge=0, description="tweets with the hashtag in the window")
    share: float = Field(ge=0, description="part of the window's tweets that have the hashtag, 0 to 1")
    rank: int = Field(ge=1, description="1 is the most frequent")
    previous_rank: int | None = Field(
        description="rank one window earlier (1m) or 5 minutes earlier (others); null: it was not ranked"
    )


class Ranking(BaseModel):
    """Most frequent hashtags first."""

    window: Window
    as_of: AwareDatetime = Field(description="end of the window, a multiple of 5 s")
    tweets: int = Field(ge=0, description="tweets in the window, with or without hashtags")
    hashtags: list[RankedHashtag]


@blueprint.get("/trending")
@blueprint.input(TrendingQuery, location="query", arg_name="query")
@blueprint.output(Ranking, description="The ranking as of now")
@blueprint.doc(responses=errors(400, 503))
def trending(query: TrendingQuery) -> Ranking:
    """Hashtag ranking of a window

    The ranking is as of now: a window empties when no tweets come.
    """
    extensions = current_app.extensions
    return read_ranking(extensions["redis"], extensions["settings"].redis_prefix, query.window, query.limit)


def read_ranking(redis: Redis, prefix: str, window: str, limit: int) -> Ranking:
    """The published ranking, cut to `limit`. Raises Unavailable while there is none, RedisError."""
    published = redis.get(f"{prefix}ranking:{window}")
    if published is None:
        raise Unavailable("No ranking is published yet: the trending consumer is starting or has ended.")
    ranking = Ranking.model_validate_json(published)
    ranking.hashtags = ranking.hashtags[:limit]
    return ranking
