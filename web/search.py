"""Semantic search. Results are cached in Redis for a while; without Redis every search is answered afresh."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Any

from apiflask import APIBlueprint, APIFlask
from flask import current_app
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from redis import Redis
from redis.exceptions import RedisError

from common.redis_memory import has_room_to_cache
from common.settings import Settings
from common.telemetry.stages import read_sent_high_us
from common.text import clean_text
from common.tweets import EPOCH
from search import cached_results
from search.filters import Filters
from search.posts import DependencyDown
from search.query import MOST_TAGGED, TAGGED_ROWS, Found, TweetSearch
from web.openapi import errors
from web.parameters import Hashtag, refuse_repeated, whole_number
from web.problems import InvalidParameter, Unavailable, dump

MAX_QUERY = 512
MAX_HITS = 100
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

blueprint = APIBlueprint("search", __name__, url_prefix="/api/v1", tag="Search")
blueprint.before_request(refuse_repeated)


def rfc_3339(value: object) -> object:
    """Refuses what pydantic would take as well, such as numbers."""
    if isinstance(value, str) and not RFC_3339.fullmatch(value):
        raise PydanticCustomError(
            "rfc_3339", "must be RFC 3339 with an offset, such as 2026-11-21T08:00:00Z, its '+' written as %2B"
        )
    return value


def not_blank(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "must not be empty")
    return value


class SearchQuery(BaseModel):
    """Parameters of a search."""

    model_config = ConfigDict(extra="forbid")

    q: Annotated[str, Field(min_length=1, max_length=MAX_QUERY), AfterValidator(not_blank)] = Field(
        description="what to look for, in any words; links and mentions are not searched"
    )
    limit: Annotated[int, Field(ge=1, le=MAX_HITS), whole_number] = Field(10, description="hits, at most")
    lang: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=16)] | None = Field(
        None, description="only tweets of this language, as X writes it: en, de, und, …"
    )
    since: Annotated[AwareDatetime, BeforeValidator(rfc_3339)] | None = Field(
        None, description="only tweets created at this time or later, RFC 3339"
    )
    until: Annotated[AwareDatetime, BeforeValidator(rfc_3339)] | None = Field(
        None, description="only tweets created at this time or earlier, RFC 3339"
    )
    tag: Hashtag | None = Field(None, description="only tweets with this hashtag, with '#' or without")


class Post(BaseModel):
    """A tweet."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    tweet_id: str = Field(description="64 bits, as a string because JavaScript's numbers have 53")
    text: str = Field(description="the tweet's own text")
    created_at: AwareDatetime
    author_id: str
    lang: str
    hashtags: list[str] = Field(description="normalised, without '#', in order, each once")
    source: str | None = Field(description="where it came from: bluesky, synthetic, …; null: it does not tell")
    url: str | None = Field(description="http or https address at which it can be read; null: none is known")


class FoundTweet(Post):
    """A tweet that a search has found."""

    distance: float = Field(description="cosine distance between query and tweet: 0 is the same, 2 the opposite")


class Spent(BaseModel):
    """Where the time of an answer went, in ms; null: that was not needed."""

    cache: float | None = Field(None, description="Redis: whether the answer is there, and how new the index is")
    encode: float | None = Field(None, description="the query, into a vector")
    index: float | None = Field(None, description="the index, for the nearest vectors")
    rows: float | None = Field(None, description="the database, for their tweets, and for those of a hashtag")


class Answer(BaseModel):
    """What is kept of a search for those who ask the same."""

    hits: list[FoundTweet]
    bounded: bool = Field(
        description=f"whether there may be tweets with `tag` that were not compared: it has more than {MOST_TAGGED:,} "
                    f"that pass the filters, or is among more than {TAGGED_ROWS:,} rows; the newest are compared"
    )
    newest_at: AwareDatetime | None = Field(
        description="when the newest tweet that was searchable at that moment was meant to be sent; null: unknown"
    )


class SearchResult(Answer):
    """The nearest tweets first, among the newest that the index keeps (setting `index_max_rows`)."""

    query: str = Field(description="q as it was given")
    took_ms: float = Field(ge=0, description="time that the server took, in ms")
    spent_ms: Spent
    cached: bool = Field(description="whether the hits come from the cache, where they stay `search_cache_s` seconds")


class LazySearch:
    """Loads the encoder at the first query, so that the process starts at once; for all threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._search: TweetSearch | None = None

    def __call__(self, text: str, query: SearchQuery) -> Found:
        """Raises Unavailable if the index or the database does not answer, or there is no encoder."""
        filters = Filters(query.lang, query.since, query.until, query.tag)
        try:
            return self._opened().search(text, query.limit, filters)
        except DependencyDown as error:
            raise unavailable(error) from error

    def _opened(self) -> TweetSearch:
        with self._lock:
            if self._search is None:
                try:
                    self._search = TweetSearch.open(self._settings)
                except FileNotFoundError as error:
                    current_app.logger.warning("search: %s", error)
                    raise Unavailable("The text encoder is missing: set-up makes it.") from error
            return self._search


def register(app: APIFlask) -> None:
    app.extensions["search"] = LazySearch(app.extensions["settings"])


@blueprint.get("/search")
@blueprint.input(SearchQuery, location="query", arg_name="query")
@blueprint.output(SearchResult, description="The nearest tweets")
@blueprint.doc(responses=errors(400, 414, 503))
def search(query: SearchQuery) -> dict[str, Any]:
    """Tweets by meaning

    Finds the tweets whose meaning is nearest to that of the query. The query is cleaned as tweets are.
    """
    started = time.perf_counter()
    text = clean_text(query.q)
    if not text:
        raise InvalidParameter("q", "holds nothing to search for: links, mentions and control characters do not count")
    extensions = current_app.extensions
    cache = ResultCache(extensions["redis"], extensions["settings"], text, query)
    answer = cache.get()
    cached, spent = answer is not None, {"cache": milliseconds_since(started)}
    if answer is None:
        newest_at = cache.newest_at()
        spent["cache"] = milliseconds_since(started)
        found = extensions["search"](text, query)
        spent |= {part: round(ms, 3) for part, ms in found.spent_ms.items()}
        answer = Answer(hits=found.hits, bounded=found.bounded, newest_at=newest_at)
        cache.put(answer)
    return {
        "query": query.q, "took_ms": milliseconds_since(started), "spent_ms": spent, "cached": cached, **dict(answer)
    }


def milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)


def unavailable(error: DependencyDown) -> Unavailable:
    """What is said of it, after its cause was logged."""
    current_app.logger.warning("search: %s", error.__cause__ or error)
    return Unavailable(f"The {error.dependency} that search needs does not answer.")


class ResultCache:
    """The place of one search in Redis. Redis may be away: then nothing is cached, and nothing waits for it twice."""

    def __init__(self, redis: Redis, settings: Settings, text: str, query: SearchQuery) -> None:
        times = [moment and moment.timestamp() for moment in (query.since, query.until)]
        self._asked = [text, query.limit, query.lang, query.tag, *times]
        self._redis, self._prefix, self._expiry_s = redis, settings.redis_prefix, settings.search_cache_s
        self._key: str | None = None
        """None: Redis is away, or was not asked yet."""

    def get(self) -> Answer | None:
        """To be asked before a search, whose result then counts as of this moment."""
        try:
            asked = dump([cached_results.generation(self._redis, self._prefix), *self._asked])
            key = f"{self._prefix}search:{hashlib.sha256(asked.encode()).hexdigest()}"
            stored = self._redis.get(key)
        except RedisError:
            return None
        self._key = key
        return Answer.model_validate_json(stored) if stored else None

    def newest_at(self) -> datetime | None:
        """When the newest tweet that is searchable now was meant to be sent; None: unknown. To be asked after `get`."""
        if self._key is None:
            return None
        try:
            us = read_sent_high_us(self._redis, self._prefix, "searchable")
        except RedisError:
            return None
        return None if us is None else EPOCH + timedelta(microseconds=us)

    def put(self, answer: Answer) -> None:
        if self._key is None or self._expiry_s <= 0:
            return
        with suppress(RedisError):
            if has_room_to_cache(self._redis):
                self._redis.set(self._key, answer.model_dump_json(), ex=self._expiry_s)
