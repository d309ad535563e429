"""How often each hashtag of each bucket should count, and does: on disk, as it is more than memory should hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from audit.ledgers.scratch import private_database

Bucket = tuple[int, str]
"""(bucket_start in seconds, hashtag)"""

Counts = Mapping[Bucket, int]

Parts = Mapping[tuple[int, str, int, int], int]
"""(bucket_start, hashtag, shards, shard) → tweets that this one of so many shards counted"""

TABLES = """
    CREATE TABLE tallies (bucket INTEGER, tag TEXT, due INTEGER DEFAULT 0, optional INTEGER DEFAULT 0,
                          shown INTEGER DEFAULT 0, PRIMARY KEY (bucket, tag)) WITHOUT ROWID;
    CREATE TABLE parts (bucket INTEGER, tag TEXT, shards INTEGER, shard INTEGER, tweets INTEGER,
                        PRIMARY KEY (bucket, tag, shards, shard)) WITHOUT ROWID;
"""

OF_BUCKET = """
    SELECT tag, sum(due), sum(optional), sum(streamed), sum(shown) FROM (
        SELECT tag, due, optional, 0 AS streamed, shown FROM tallies WHERE bucket = :bucket
        UNION ALL
        SELECT tag, 0, 0, max(tweets), 0 FROM (
            SELECT tag, sum(tweets) AS tweets FROM parts WHERE bucket = :bucket GROUP BY tag, shards
        ) GROUP BY tag
    ) GROUP BY tag
"""
"""The shards of one number are added up; of several numbers, one after the other, the highest sum holds."""


class Tally(NamedTuple):
    """`due` tweets should count, `optional` ones of them need not, or may beside them.

    `streamed` is the highest count in the stream, all shards together, `shown` what Redis showed when it was read last.
    """

    tag: str
    due: int
    optional: int
    streamed: int
    shown: int


class Tallies:
    def __init__(self) -> None:
        self._db = private_database(TABLES)

    def expect(self, due: Counts, optional: Counts) -> None:
        self._put("due", "due + excluded.due", due)
        self._put("optional", "optional + excluded.optional", optional)

    def streamed(self, counts: Parts) -> None:
        self._db.executemany(
            "INSERT INTO parts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET tweets = max(tweets, excluded.tweets)",
            ((*part, count) for part, count in counts.items()),
        )

    def shown(self, counts: Counts) -> None:
        self._put("shown", "excluded.shown", counts)

    def forget_shown(self, since: float) -> None:
        """Of the buckets that begin then or later."""
        self._db.execute("UPDATE tallies SET shown = 0 WHERE bucket >= ?", (since,))

    def of(self, bucket: int) -> Iterator[Tally]:
        return map(Tally._make, self._db.execute(OF_BUCKET, {"bucket": bucket}))

    def close(self) -> None:
        self._db.close()

    def _put(self, column: str, merged: str, counts: Counts) -> None:
        self._db.executemany(
            f"INSERT INTO tallies (bucket, tag, {column}) VALUES (?, ?, ?) "
            f"ON CONFLICT DO UPDATE SET {column} = {merged}",
            ((bucket, tag, count) for (bucket, tag), count in counts.items()),
        )
