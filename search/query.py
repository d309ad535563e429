"""Semantic search over the newest tweets: what `GET /api/v1/search` answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple, Self

import numpy as np

from common.settings import Settings
from common.text import clean_text
from search.encoder import Encoder
from search.filters import Filters
from search.index import Index, IndexDown
from search.posts import DependencyDown, Post, database, post
from search.store import Store

SPARE = 10
"""Fetched beyond the limit: hits may have left the database meanwhile, and equal distances are put in order."""

DIGITS = 5
"""Of a distance; what is beyond differs by the order of additions only."""

MOST_TAGGED = 5_000
"""Tweets of a hashtag among which is searched, the newest: Milvus Lite is told each, which takes 20 ms for 1,000."""

TAGGED_ROWS = 300_000
"""The newest rows that are looked through for them: 0.2 s in SQLite. The index keeps no more unless set otherwise."""


class Hit(Post):
    """One result; `distance` is the cosine distance, 0 = same, 2 = opposite."""

    distance: float


Part = Literal["encode", "index", "rows"]


class Found(NamedTuple):
    hits: list[Hit]
    bounded: bool
    """Whether there may be tweets that pass the filters and were not compared."""

    spent_ms: dict[Part, float]
    """Where the time went: the encoder, the index, the rows of the database."""


NO_FILTERS = Filters()


class TweetSearch:
    """Thread-safe; needs its servers only when it searches."""

    def __init__(self, encoder: Encoder, index: Index, store: Store) -> None:
        self._encoder, self._index, self._store = encoder, index, store

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The search of an instance. Raises FileNotFoundError if there is no encoder."""
        return cls(Encoder.load(settings.encoder_dir), Index.open(settings), Store.open(settings))

    def search(self, q: str, limit: int = 10, filters: Filters = NO_FILTERS) -> Found:
        """The `limit` tweets nearest to `q` that pass the filters, nearest first.

        Of equally near ones a tweet of exactly the text comes first. Nothing for a query of which cleaning leaves
        nothing. Raises DependencyDown.
        """
        cleaned = clean_text(q)
        spent = Spent()
        if not cleaned:
            return Found([], False, spent.ms)
        with spent.on("encode"):
            vector = self._encoder.encode([cleaned])[0]
        ids, bounded = None, False
        if filters.tag is not None:
            with spent.on("rows"):
                ids, bounded = self._tagged(filters)
            if not ids:
                return Found([], bounded, spent.ms)
        with spent.on("index"):
            found = self._nearest(vector, limit + SPARE, filters.of_index(ids))
        with spent.on("rows"), database():
            rows = self._store.get([tweet_id for tweet_id, _ in found])
        hits = [(round(max(0.0, distance), DIGITS), row) for tweet_id, distance in found
                if (row := rows.get(tweet_id)) and not row.forgotten]
        hits.sort(key=lambda hit: (hit[0], hit[1].clean_text != cleaned, -hit[1].position))
        return Found([{**post(row), "distance": distance} for distance, row in hits[:limit]], bounded, spent.ms)

    def _nearest(self, vector: np.ndarray, limit: int, condition: str) -> list[tuple[int, float]]:
        try:
            return self._index.search(vector, limit, condition)
        except IndexDown as error:
            raise DependencyDown("index") from error

    def _tagged(self, filters: Filters) -> tuple[list[int], bool]:
        """Ids of the tweets that pass the filters, as far as the index keeps them, and whether there may be others."""
        with database():
            newest = self._store.newest_position()
            kept_from = self._index.horizon(newest)
            first = max(kept_from, newest - TAGGED_ROWS + 1)
            found = self._store.tagged(filters, first, MOST_TAGGED)
        return [tweet.tweet_id for tweet in found.tweets], first > kept_from or not found.complete


class Spent:
    """A sum of ms for each part of the work."""

    def __init__(self) -> None:
        self.ms: dict[Part, float] = {}

    @contextmanager
    def on(self, part: Part) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.ms[part] = self.ms.get(part, 0.0) + (time.perf_counter() - begin) * 1000
