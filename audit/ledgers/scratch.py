"""What the audit must remember of single tweets, on disk: its memory does not grow with what it reads.

Runs and partitions stand as numbers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

CACHE_KIB = 16 << 10
IDS_PER_QUERY = 1000
CHUNK = 10_000

TABLES = """
    CREATE TABLE first (tweet INTEGER PRIMARY KEY, ordinal INTEGER, run INTEGER, seq INTEGER, bucket INTEGER,
                        tags TEXT);
    CREATE TABLE pending (ordinal INTEGER PRIMARY KEY, partition INTEGER, run INTEGER, seq INTEGER, tweet INTEGER,
                          first INTEGER);
"""


def private_database(tables: str) -> sqlite3.Connection:
    """A temporary database of SQLite, which is gone with the process."""
    database = sqlite3.connect("", isolation_level=None)
    database.executescript(
        f"PRAGMA cache_size = -{CACHE_KIB}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {tables}"
    )
    database.execute("BEGIN")  # for as long as it lives: a transaction for each row would cost more than the row
    return database


class Seen(NamedTuple):
    """An event by its ordinal, in the order of reading; its bucket and hashtags are None if it is not ranked."""

    tweet: int
    ordinal: int
    run: int
    seq: int
    bucket: int | None
    tags: str | None


class Pending(NamedTuple):
    """An event whose row was not found so far."""

    ordinal: int
    partition: int
    run: int
    seq: int
    tweet: int
    first: int | None
    """Ordinal of the first event of the tweet, if this is a repeat."""


class Scratch:
    def __init__(self) -> None:
        self._db = private_database(TABLES)

    def see(self, events: Sequence[Seen]) -> dict[int, Seen]:
        """Remembers the first of each tweet id; returns the first by tweet id if any of `events` is not it."""
        before = self._db.total_changes
        self._db.executemany("INSERT OR IGNORE INTO first VALUES (?, ?, ?, ?, ?, ?)", events)
        if self._db.total_changes - before == len(events):
            return {}
        return self.known([event.tweet for event in events])

    def known(self, tweets: Sequence[int]) -> dict[int, Seen]:
        """The first event of each of these tweets that any event brought."""
        found: dict[int, Seen] = {}
        for start in range(0, len(tweets), IDS_PER_QUERY):
            ids = tweets[start : start + IDS_PER_QUERY]
            marks = ",".join("?" * len(ids))
            rows = self._db.execute(f"SELECT * FROM first WHERE tweet IN ({marks})", ids)
            found |= {row[0]: Seen(*row) for row in rows}
        return found

    def rank(self, event: Seen) -> None:
        """The tweet is ranked by this event: those before it were too late."""
        ranked = (event.bucket, event.tags, event.tweet)
        self._db.execute("UPDATE first SET bucket = ?, tags = ? WHERE tweet = ?", ranked)

    def seen(self, run: int, seq: int) -> Seen | None:
        """The first occurrence that this event is; slow."""
        row = self._db.execute("SELECT * FROM first WHERE run = ? AND seq = ?", (run, seq)).fetchone()
        return Seen(*row) if row else None

    def wait_for(self, events: Iterable[Pending]) -> None:
        self._db.executemany("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?)", events)

    def pending(self) -> Iterator[list[Pending]]:
        """All, in the order of their ordinals; what is given may be settled meanwhile."""
        after = -1
        while rows := self._db.execute(
            "SELECT * FROM pending WHERE ordinal > ? ORDER BY ordinal LIMIT ?", (after, CHUNK)
        ).fetchall():
            yield [Pending(*row) for row in rows]
            after = rows[-1][0]

    def pending_of(self, run: int) -> Iterator[Pending]:
        """What is pending of a run, in the order of its numbers."""
        return map(Pending._make, self._db.execute("SELECT * FROM pending WHERE run = ? ORDER BY seq", (run,)))

    def settle(self, among: Sequence[Pending], left: Iterable[Pending]) -> None:
        """Of consecutive pending events only some are left."""
        self._db.execute("DELETE FROM pending WHERE ordinal BETWEEN ? AND ?", (among[0].ordinal, among[-1].ordinal))
        self.wait_for(left)

    def forget(self, run: int, seq: int) -> bool:
        """Nobody waits for this event any more; whether anybody did. Slow."""
        return self._db.execute("DELETE FROM pending WHERE run = ? AND seq = ?", (run, seq)).rowcount > 0

    def settle_before(self, partition: int, ordinal: int, but: int) -> dict[int, int]:
        """Settles what is pending of a partition before `ordinal`, repeats and the last `but` aside; counts by run."""
        which = "partition = ? AND ordinal < ? AND first IS NULL"
        if but:
            last = f"SELECT ordinal FROM pending WHERE {which} ORDER BY ordinal DESC LIMIT ?"
            kept = self._db.execute(f"SELECT min(ordinal) FROM ({last})", (partition, ordinal, but)).fetchone()[0]
            ordinal = ordinal if kept is None else kept
        return self._settle(which, partition, ordinal)

    def settle_repeats(self) -> dict[int, int]:
        """Settles the repeats of tweets whose first event is not pending; counts by run."""
        return self._settle("first IS NOT NULL AND first NOT IN (SELECT ordinal FROM pending)")

    def _settle(self, which: str, *values: int) -> dict[int, int]:
        counted = f"SELECT run, count(*) FROM pending WHERE {which} GROUP BY run"
        counts = dict(self._db.execute(counted, values).fetchall())
        if counts:
            self._db.execute(f"DELETE FROM pending WHERE {which}", values)
        return counts

    def close(self) -> None:
        self._db.close()
