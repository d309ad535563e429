"""The hashtag ranking of a window, as the trending consumer publishes it."""

from __future__ import annotations

from typing import Annotated

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from redis import Redis

from common.tweets import Window
from web.openapi import errors
from web.parameters import refuse_repeated, whole_number
from web.problems import Unavailable

MAX_LIMIT = 5000
"""The largest that the setting `ranking_limit` may be."""

blueprint = APIBlueprint("trending", __name__, url_prefix="/api/v1", tag="Trending")
blueprint.before_request(refuse_repeated)


class TrendingQuery(BaseModel):
    """Parameters of a ranking."""

    model_config = ConfigDict(extra="forbid")

    window: Window = Field("5m", description="how far back the ranking looks")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), whole_number] = Field(
        100, description="hashtags in the answer, at most; no more than the setting `ranking_limit` are kept"
    )


class RankedHashtag(BaseModel):
    hashtag: str = Field(description="normalised (NFKC, case-folded), without '#'")
    count: int = Field(ge=0, description="tweets with the hashtag in the window")
    share: float = Field(ge=0, description="part of the window's tweets that have the hashtag, 0 to 1")
    rank: int = Field(ge=1, description="1 is the most frequent")
    previous_rank: int | None = Field(
        description="rank one window earlier, or 5 minutes where that is less; null: it was not ranked"
    )


class Ranking(BaseModel):
    """Most frequent hashtags first."""

    window: Window
    as_of: AwareDatetime = Field(description="start of the window's last bucket, a multiple of 5 s")
    tweets: int = Field(ge=0, description="tweets in the window, with or without hashtags")
    hashtags: list[RankedHashtag]

    def cut(self, limit: int) -> Ranking:
        return self.model_copy(update={"hashtags": self.hashtags[:limit]})


@blueprint.get("/trending")
@blueprint.input(TrendingQuery, location="query", arg_name="query")
@blueprint.output(Ranking, description="The ranking as of now")
@blueprint.doc(responses=errors(400, 503))
def trending(query: TrendingQuery) -> Ranking:
    """Hashtag ranking of a window

    The ranking is as of now: a window empties when no tweets come.
    """
    extensions = current_app.extensions
    return read_ranking(extensions["redis"], extensions["settings"].redis_prefix, query.window).cut(query.limit)


def read_ranking(redis: Redis, prefix: str, window: str) -> Ranking:
    """The published ranking. Raises Unavailable while there is none, RedisError."""
    published = redis.get(f"{prefix}ranking:{window}")
    if published is None:
        raise Unavailable("No ranking is published yet: the trending consumer is starting or has ended.")
    return Ranking.model_validate_json(published)
