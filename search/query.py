"""Semantic search over the newest tweets: what `GET /api/v1/search` answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self, TypedDict

import orjson
from sqlalchemy.exc import SQLAlchemyError

from common.settings import Settings
from common.text import clean_text
from common.tweets import rfc3339
from search.encoder import Encoder
from search.index import Index, IndexDown
from search.store import Store

SPARE = 10
"""Fetched beyond the limit: hits may have left the database meanwhile, and equal distances are put in order."""

DIGITS = 5
"""Of a distance; what is beyond differs by the order of additions only."""


class Hit(TypedDict):
    """One result; `distance` is the cosine distance, 0 = same, 2 = opposite."""

    tweet_id: str
    text: str
    created_at: str
    author_id: str
    lang: str
    hashtags: list[str]
    source: str | None
    url: str | None
    distance: float


class DependencyDown(Exception):
    """A server that search needs does not answer; `dependency` names it: 'database' or 'index'."""

    def __init__(self, dependency: str) -> None:
        super().__init__(f"the {dependency} does not answer")
        self.dependency = dependency


class TweetSearch:
    """Thread-safe; needs its servers only when it searches."""

    def __init__(self, encoder: Encoder, index: Index, store: Store) -> None:
        self._encoder, self._index, self._store = encoder, index, store

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The search of an instance. Raises FileNotFoundError if there is no encoder."""
        return cls(Encoder.load(settings.encoder_dir), Index.open(settings), Store.open(settings))

    def search(self, q: str, limit: int = 10, lang: str | None = None, since: datetime | None = None) -> list[Hit]:
        """The `limit` tweets nearest to `q`, nearest first, of language `lang` and created at `since` or later.

        Of equally near ones a tweet of exactly the text comes first. Nothing for a query of which cleaning leaves
        nothing. Raises DependencyDown.
        """
        cleaned = clean_text(q)
        if not cleaned:
            return []
        vector = self._encoder.encode([cleaned])[0]
        try:
            found = self._index.search(vector, limit + SPARE, lang, since)
        except IndexDown as error:
            raise DependencyDown("index") from error
        try:
            rows = self._store.get([tweet_id for tweet_id, _ in found])
        except SQLAlchemyError as error:
            raise DependencyDown("database") from error
        hits = [(round(max(0.0, distance), DIGITS), row) for tweet_id, distance in found
                if (row := rows.get(tweet_id)) and not row.forgotten]
        hits.sort(key=lambda hit: (hit[0], hit[1].clean_text != cleaned, -hit[1].position))
        return [_hit(distance, row) for distance, row in hits[:limit]]


def _hit(distance: float, row: Any) -> Hit:
    return {
        "tweet_id": str(row.tweet_id),
        "text": row.text,
        "created_at": rfc3339(row.created_at_us),
        "author_id": row.author_id,
        "lang": row.lang,
        "hashtags": orjson.loads(row.hashtags),
        "source": row.source or None,
        "url": row.url or None,
        "distance": distance,
    }
