"""How often each hashtag of each bucket should count, and does: on disk, as it is more than memory should hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from audit.ledgers.scratch import private_database

Bucket = tuple[int, str]
"""(bucket_start in seconds, hashtag)"""

Counts = Mapping[Bucket, int]

TABLE = """
    CREATE TABLE tallies (bucket INTEGER, tag TEXT, due INTEGER DEFAULT 0, optional INTEGER DEFAULT 0,
                          streamed INTEGER DEFAULT 0, shown INTEGER DEFAULT 0, PRIMARY KEY (bucket, tag)) WITHOUT ROWID;
"""


class Tally(NamedTuple):
    """`due` tweets should count, `optional` ones of them need not, or may beside them.

    `streamed` is the highest count in the stream, `shown` what Redis showed when it was read last.
    """

    tag: str
    due: int
    optional: int
    streamed: int
    shown: int


class Tallies:
    def __init__(self) -> None:
        self._db = private_database(TABLE)

    def expect(self, due: Counts, optional: Counts) -> None:
        self._put("due", "due + excluded.due", due)
        self._put("optional", "optional + excluded.optional", optional)

    def streamed(self, counts: Counts) -> None:
        self._put("streamed", "max(streamed, excluded.streamed)", counts)

    def shown(self, counts: Counts) -> None:
        self._put("shown", "excluded.shown", counts)

    def forget_shown(self, since: float) -> None:
        """Of the buckets that begin then or later."""
        self._db.execute("UPDATE tallies SET shown = 0 WHERE bucket >= ?", (since,))

    def of(self, bucket: int) -> Iterator[Tally]:
        rows = self._db.execute("SELECT tag, due, optional, streamed, shown FROM tallies WHERE bucket = ?", (bucket,))
        return map(Tally._make, rows)

    def close(self) -> None:
        self._db.close()

    def _put(self, column: str, merged: str, counts: Counts) -> None:
        self._db.executemany(
            f"INSERT INTO tallies (bucket, tag, {column}) VALUES (?, ?, ?) "
            f"ON CONFLICT DO UPDATE SET {column} = {merged}",
            ((bucket, tag, count) for (bucket, tag), count in counts.items()),
        )
