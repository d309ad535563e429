"""The tweets, in SQLite by default or in PostgreSQL by URL: what results show, and what the index must hold.

Every row has a position: 1, 2, 3 … in the order in which rows were stored, without gaps. Writers take turns, so a row
never appears below a position that was seen before. "Newest" and "oldest" mean this order, not the tweets' own dates:
replayed tweets of past years are found like any other.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Row, Select, delete, func, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from common.settings import Durability, Settings
from common.storage.held import Held
from common.tweets import EnrichedTweet
from search import accounts, deletions, tagged
from search.accounts import Account, Bucket
from search.database import durability, engine_of
from search.filters import Filters
from search.table import (
    blank_row,
    by_author,
    by_forgotten,
    by_position,
    deleted_accounts,
    is_forgotten,
    row_of,
    tweets,
)

IDS_PER_QUERY = 10_000
POSITIONS_PER_QUERY = 20_000
"""Of a read of many rows: what it holds in memory at a time, and how long it keeps a transaction open."""

EVICTION_FACTOR = 2
"""Rows that may go per row that comes, so that eviction catches up without ever being a large delete."""

_ENDS = select(*(select(end(tweets.c.position)).scalar_subquery() for end in (func.min, func.max)))
"""First and last position. Asked for both in one query, SQLite would read the whole index: it looks up one at most."""


@dataclass(frozen=True)
class Stored:
    """What `insert` did: the position of every event it was given, by tweet id, and which of them were new."""

    positions: dict[int, int]
    new: set[int]
    blank: set[int]
    """Of the new ones, those that have nothing to be found: deletions, and what is deleted already."""

    forgotten: dict[int, int]
    """Positions, by tweet id, of rows of before that are blank now."""


class Oldest(NamedTuple):
    """The row that goes next: whatever stood below its position has aged out."""

    position: int
    stored_at_us: int


class RunRows(NamedTuple):
    """Rows of one run, by column, in the order of their positions."""

    positions: np.ndarray
    seqs: np.ndarray
    tweet_ids: np.ndarray
    forgotten: np.ndarray
    """Whether it is blank."""


class Store:
    """The table of tweets. Thread-safe; connects, and makes the table, at its first use.

    It holds `max_rows` rows at most, or on the way there after the bound was lowered. SQLite's file keeps its size when
    rows go, and fills the space of the old ones with the new: it is as large as the largest content that it ever had.
    """

    def __init__(self, url: str, max_rows: int) -> None:
        self._engine = engine_of(url)
        # For the driver as it is: SQLAlchemy would look at every value of every row, a tenth of the consumer's time.
        self._insert = str(insert(tweets).compile(dialect=self._engine.dialect))
        self._max_rows = max_rows
        self._made = False

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The store of an instance. It always keeps more than the index, which refers to it."""
        if not settings.database_url:
            settings.state_dir.mkdir(parents=True, exist_ok=True)
        return cls(settings.database_address, max(settings.database_max_rows, 2 * settings.index_max_rows))

    def insert(self, batch: Sequence[EnrichedTweet]) -> Stored:
        """Stores a batch in one transaction, durable on return. Of a tweet already known the first row stays.

        Deletions take effect in the order of the batch, and are stored as rows of their own, without content.
        """
        first: dict[int, EnrichedTweet] = {}
        for tweet in batch:
            first.setdefault(tweet.tweet_id, tweet)
        with self._connection(writes=True) as connection:
            forgotten, blank = deletions.apply(connection, batch)
            known: dict[int, int] = {}
            try:  # mostly all are new, and to look first would take as long as to insert
                with connection.begin_nested():
                    given = self._append(connection, list(first.values()), blank)
            except IntegrityError:
                known = _positions(connection, list(first))
                new = [tweet for tweet_id, tweet in first.items() if tweet_id not in known]
                given = self._append(connection, new, blank)
            accounts.add(connection, batch, given)
        return Stored(known | given, set(given), blank & given.keys(), forgotten)

    def accounts(self, since: int = 0) -> tuple[int, list[Account]]:
        """The version of what was seen, and of each run that has changed since another one what was seen of it."""
        with self._connection() as connection:
            version = accounts.newest_version(connection)
            return version, accounts.read(connection, since if since <= version else 0)

    def buckets(self, since: int) -> dict[int, Bucket]:
        """What was seen that belongs into the rankings' buckets from `since` (seconds since the epoch) on, by start."""
        with self._connection() as connection:
            return accounts.read_buckets(connection, since)

    def forget_source(self, source: str) -> Iterator[dict[int, int]]:
        """Has every tweet of a source forgotten that is stored now; each share, tweet id → position, is durable when it
        is given."""
        newest, first = self.newest_position(), self.oldest_position()
        for start in range(first, newest + 1, POSITIONS_PER_QUERY):
            where = (tweets.c.position >= start, tweets.c.position < min(start + POSITIONS_PER_QUERY, newest + 1),
                     tweets.c.source == source)
            with self._connection(writes=True) as connection:
                forgotten = deletions.forget(connection, *where)
            yield forgotten

    def forgotten(self, ids: Collection[int]) -> dict[int, int]:
        """Positions, by tweet id, of those of these rows that are blank."""
        wanted = select(tweets.c.tweet_id, tweets.c.position).where(is_forgotten)
        with self._connection() as connection:
            return {row.tweet_id: row.position for row in _by_ids(connection, wanted, list(ids))}

    def forgotten_between(self, first: int, end: int) -> dict[int, int]:
        """Likewise of those at first ≤ position < end; costs nothing where there are none."""
        wanted = select(tweets.c.tweet_id, tweets.c.position).where(
            is_forgotten, tweets.c.position >= first, tweets.c.position < end
        )
        with self._connection() as connection:
            return {row.tweet_id: row.position for row in connection.execute(wanted)}

    def get(self, ids: Collection[int]) -> dict[int, Row[Any]]:
        """Rows by tweet id, as far as they exist."""
        with self._connection() as connection:
            return {row.tweet_id: row for row in _by_ids(connection, select(tweets), list(ids))}

    def tagged(self, filters: Filters, first: int, most: int) -> tagged.Found:
        """The newest `most` tweets at position `first` or later that pass the filters, the hashtag first of all."""
        with self._connection() as connection:
            return tagged.read(connection, filters, first, most)

    def positions(self, ids: Collection[int]) -> dict[int, int]:
        """Position by tweet id, as far as they exist."""
        with self._connection() as connection:
            return _positions(connection, list(ids))

    def newest_position(self) -> int:
        """Position of the last row; 0 if there is none."""
        with self._connection() as connection:
            return connection.scalar(select(func.max(tweets.c.position))) or 0

    def ids_between(self, first: int, end: int) -> dict[int, int]:
        """Tweet id → stored_at_us, of the positions first ≤ position < end; without those that are forgotten."""
        wanted = select(tweets.c.tweet_id, tweets.c.stored_at_us).where(
            tweets.c.position >= first, tweets.c.position < end, ~tweets.c.forgotten
        )
        with self._connection() as connection:
            return {row.tweet_id: row.stored_at_us for row in connection.execute(wanted)}

    def count(self, first: int = 1, last: int | None = None) -> int:
        """Rows at these positions, both included; to the end without a last one."""
        wanted = tweets.c.position >= first if last is None else tweets.c.position.between(first, last)
        with self._connection() as connection:
            return connection.scalar(select(func.count()).where(wanted)) or 0

    def oldest(self, since: int = 1) -> Oldest | None:
        """The first row at position `since` or later; None if there is none."""
        wanted = select(tweets.c.position, tweets.c.stored_at_us).where(tweets.c.position >= since)
        with self._connection() as connection:
            row = connection.execute(wanted.order_by(tweets.c.position).limit(1)).first()
        return Oldest(row.position, row.stored_at_us) if row else None

    def oldest_position(self) -> int:
        """Position of the first row; if there is none, the one that it will have."""
        oldest = self.oldest()
        return oldest.position if oldest else 1

    def gaps(self) -> list[tuple[int, int]]:
        """(first, end) of the positions that are missing between the oldest row and the newest.

        Eviction leaves none, so their rows were lost or deleted otherwise.
        """
        before = func.lag(tweets.c.position).over(order_by=tweets.c.position).label("before")
        pairs = select(before, tweets.c.position).subquery()
        with self._connection() as connection:
            rows = connection.execute(select(pairs).where(pairs.c.position > pairs.c.before + 1))
            return [(row.before + 1, row.position) for row in rows]

    def run_seqs(self, run: str, since: int = 1) -> Iterator[RunRows]:
        """The run's rows at position `since` and later, in the order of positions, a share at a time."""
        for _, rows in self._by_run(tweets.c.run == run, since):
            yield rows

    def rows_by_run(self, since: int = 1) -> Iterator[tuple[str, RunRows]]:
        """What `run_seqs` yields, of all runs in one pass: a run comes with every share in which it has rows."""
        yield from self._by_run(sa.true(), since)

    def _by_run(self, condition: sa.ColumnElement[bool], since: int) -> Iterator[tuple[str, RunRows]]:
        """Up to the row that is the newest at the beginning; what is evicted meanwhile may be left out."""
        columns = select(tweets.c.run, tweets.c.position, tweets.c.seq, tweets.c.tweet_id, tweets.c.forgotten)
        columns = columns.where(condition).order_by(tweets.c.position)
        newest, first = self.newest_position(), max(since, self.oldest_position())
        for start in range(first, newest + 1, POSITIONS_PER_QUERY):
            end = min(start + POSITIONS_PER_QUERY, newest + 1)
            with self._connection() as connection:
                rows = connection.execute(columns.where(tweets.c.position >= start, tweets.c.position < end)).all()
            of_runs: dict[str, list[tuple[int, ...]]] = {}
            for run, *numbers in rows:
                of_runs.setdefault(run, []).append(tuple(numbers))
            for run, numbers in of_runs.items():
                positions, seqs, tweet_ids, forgotten = np.array(numbers, np.int64).T
                yield run, RunRows(positions, seqs, tweet_ids, forgotten.astype(bool))

    def held(self) -> Held:
        """Rows and their bound; what the database does not say now is None."""
        try:
            oldest = self.oldest()
            holds = self.newest_position() - oldest.position + 1 if oldest else 0
        except (SQLAlchemyError, OSError):
            return Held("database", None, self._max_rows, "rows")
        return Held("database", holds, self._max_rows, "rows", oldest.stored_at_us / 1e6 if oldest else None)

    def is_full(self) -> bool:
        """Whether the oldest rows have begun to go."""
        with self._connection() as connection:
            return (connection.scalar(select(func.min(tweets.c.position))) or 1) > 1

    def durability(self) -> Durability:
        """What a stored row survives, by what the database says of the connections of this process."""
        return durability(self._engine)

    def close(self) -> None:
        self._engine.dispose()

    def _append(self, connection: Connection, new: list[EnrichedTweet], blank: Collection[int]) -> dict[int, int]:
        """Inserts tweets, some as blank rows, evicts as many old ones as must go, and returns the positions given."""
        if not new:
            return {}
        oldest, newest = connection.execute(_ENDS).one()
        begin, now = (newest or 0) + 1, time.time_ns() // 1000
        rows = [row_of(tweet, position, now) if tweet.tweet_id not in blank else blank_row(tweet, position, now)
                for position, tweet in enumerate(new, begin)]
        connection.exec_driver_sql(self._insert, rows)
        self._evict(connection, oldest or 1, begin + len(new) - 1, EVICTION_FACTOR * len(new))
        return {tweet.tweet_id: position for position, tweet in enumerate(new, begin)}

    def _evict(self, connection: Connection, oldest: int, newest: int, limit: int) -> None:
        end = min(newest - self._max_rows, oldest + limit - 1)
        if end >= oldest:
            connection.execute(delete(tweets).where(tweets.c.position <= end))

    @contextmanager
    def _connection(self, writes: bool = False) -> Iterator[Connection]:
        """A transaction; writers of all processes take turns, which keeps positions in order."""
        if not self._made:
            with self._engine.execution_options(writes=True).begin() as connection:
                for table in (tweets, deleted_accounts, *accounts.TABLES):
                    connection.execute(CreateTable(table, if_not_exists=True))
                for index in (by_position, by_author, by_forgotten, *accounts.INDEXES):
                    connection.execute(CreateIndex(index, if_not_exists=True))
            self._made = True
        with self._engine.execution_options(writes=writes).begin() as connection:
            if writes and self._engine.dialect.name == "postgresql":
                connection.exec_driver_sql("LOCK TABLE tweets IN SHARE ROW EXCLUSIVE MODE")
            yield connection


def _by_ids(connection: Connection, columns: Select[Any], ids: list[int]) -> Iterator[Row[Any]]:
    for start in range(0, len(ids), IDS_PER_QUERY):
        yield from connection.execute(columns.where(tweets.c.tweet_id.in_(ids[start : start + IDS_PER_QUERY])))


def _positions(connection: Connection, ids: list[int]) -> dict[int, int]:
    rows = _by_ids(connection, select(tweets.c.tweet_id, tweets.c.position), ids)
    return {row.tweet_id: row.position for row in rows}
