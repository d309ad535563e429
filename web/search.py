"""Semantic search. Results are cached in Redis for a while; without Redis every search is answered afresh."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

from apiflask import APIBlueprint, APIFlask
from flask import current_app
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticCustomError
from redis import Redis
from redis.exceptions import RedisError

from common.redis_memory import has_room_to_cache
from common.settings import Settings
from common.text import clean_text
from search import cached_results
from search.query import DependencyDown, TweetSearch
from web.openapi import errors
from web.parameters import refuse_repeated, whole_number
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


class FoundTweet(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    tweet_id: str = Field(description="64 bits, as a string because JavaScript's numbers have 53")
    text: str = Field(description="the tweet's own text")
    created_at: AwareDatetime
    author_id: str
    lang: str
    hashtags: list[str] = Field(description="normalised, without '#', in order, each once")
    source: str | None = Field(description="where it came from: bluesky, synthetic, …; null: it does not tell")
    url: str | None = Field(description="http or https address at which it can be read; null: none is known")
    distance: float = Field(description="cosine distance between query and tweet: 0 is the same, 2 the opposite")


class SearchResult(BaseModel):
    """The nearest tweets first, among the newest that the index keeps (setting `index_max_rows`)."""

    query: str = Field(description="q as it was given")
    took_ms: float = Field(ge=0, description="time that the server took, in ms")
    cached: bool = Field(description="whether the hits come from the cache, where they stay `search_cache_s` seconds")
    hits: list[FoundTweet]


HITS = TypeAdapter(list[FoundTweet])


class LazySearch:
    """Loads the encoder at the first query, so that the process starts at once; for all threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._search: TweetSearch | None = None

    def __call__(self, text: str, query: SearchQuery) -> list[FoundTweet]:
        """Raises Unavailable if the index or the database does not answer, or there is no encoder."""
        try:
            found = self._opened().search(text, query.limit, query.lang, query.since)
        except DependencyDown as error:
            current_app.logger.warning("search: %s", error.__cause__ or error)
            raise Unavailable(f"The {error.dependency} that search needs does not answer.") from error
        return HITS.validate_python(found)

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
    settings: Settings = extensions["settings"]
    cache = ResultCache(extensions["redis"], settings, text, query)
    hits = cache.get()
    cached = hits is not None
    if hits is None:
        hits = extensions["search"](text, query)
        cache.put(hits)
    took_ms = round((time.perf_counter() - started) * 1000, 3)
    return {"query": query.q, "took_ms": took_ms, "cached": cached, "hits": hits}


class ResultCache:
    """The place of one search in Redis. Redis may be away: then nothing is cached, and nothing waits for it twice."""

    def __init__(self, redis: Redis, settings: Settings, text: str, query: SearchQuery) -> None:
        since: datetime | None = query.since
        self._asked = [text, query.limit, query.lang, since.timestamp() if since else None]
        self._redis, self._prefix, self._expiry_s = redis, settings.redis_prefix, settings.search_cache_s
        self._key: str | None = None
        """None: Redis is away, or was not asked yet."""

    def get(self) -> list[FoundTweet] | None:
        """To be asked before a search, whose result then counts as of this moment."""
        try:
            asked = dump([cached_results.generation(self._redis, self._prefix), *self._asked])
            key = f"{self._prefix}search:{hashlib.sha256(asked.encode()).hexdigest()}"
            stored = self._redis.get(key)
        except RedisError:
            return None
        self._key = key
        return HITS.validate_json(stored) if stored else None

    def put(self, hits: list[FoundTweet]) -> None:
        if self._key is None or self._expiry_s <= 0:
            return
        with suppress(RedisError):
            if has_room_to_cache(self._redis):
                self._redis.set(self._key, HITS.dump_json(hits), ex=self._expiry_s)
