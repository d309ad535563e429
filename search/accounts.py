"""What the search consumer has seen of `tweets-enriched`, by run and number, kept in the transaction that stores the
tweets: so it holds exactly what the database holds, whoever is killed when. The ledger compares it with what was
acknowledged (audit/live).

The numbers of a run are kept in blocks. Of those that are complete from the first one on only how many they are, of
another complete one that it is, and of the rest a bit for each number: a run without gaps costs a row however long it
is, one with a gap a few bytes for each block behind it. Writers take turns (Store), so several members share a block.

Each batch that is added has a version, one more than the last, which is noted with whatever it changes: who looks again
and again reads only that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, delete, select

from common.tweets import BUCKET_SECONDS, EnrichedTweet
from search.table import created_at_us, metadata, storable

BLOCK_BITS = 12
BLOCK = 1 << BLOCK_BITS
"""Numbers of a block, each a bit: 512 bytes."""

EMPTY, COMPLETE = bytes(BLOCK // 8), b""
"""No number of a block; the other stands for the bits of a block that has all of its numbers."""

KEPT_SECONDS = 86_400
"""How far before the newest bucket others are kept."""

KEPT_RUNS = 50_000
"""Those that something came of last; more than there may be manifests, and those whose manifest was removed besides."""

_big = sa.BigInteger().with_variant(sa.Integer, "sqlite")
seen_runs = sa.Table(
    "seen_runs", metadata,
    sa.Column("run", sa.String, primary_key=True),
    sa.Column("whole", _big, nullable=False, comment="blocks from 0 on that are complete"),
    sa.Column("repeated", _big, nullable=False, comment="events whose number had been seen"),
    sa.Column("late", _big, nullable=False, comment="new tweets that are not ranked"),
    sa.Column("version", _big, nullable=False),
)
seen_blocks = sa.Table(
    "seen_blocks", metadata,
    sa.Column("run", sa.String, primary_key=True),
    sa.Column("block", _big, primary_key=True, autoincrement=False),
    sa.Column("seen", sa.LargeBinary, nullable=False, comment="a bit for each number; empty: all of them"),
    sa.Column("version", _big, nullable=False),
)
seen_buckets = sa.Table(
    "seen_buckets", metadata,
    sa.Column("bucket_start", _big, primary_key=True, autoincrement=False),
    sa.Column("new", _big, nullable=False, comment="tweets that are to be ranked"),
    sa.Column("known", _big, nullable=False, comment="events of tweets that were known: ranked or not"),
)
TABLES = (seen_runs, seen_blocks, seen_buckets)
INDEXES = (sa.Index("seen_runs_version", seen_runs.c.version), sa.Index("seen_blocks_version", seen_blocks.c.version))

_PUT_RUN = sa.text(
    "INSERT INTO seen_runs (run, whole, repeated, late, version) VALUES (:run, :whole, :repeated, :late, :version) "
    "ON CONFLICT (run) DO UPDATE SET whole = excluded.whole, repeated = excluded.repeated, late = excluded.late, "
    "version = excluded.version"
)
_PUT_BLOCK = sa.text(
    "INSERT INTO seen_blocks (run, block, seen, version) VALUES (:run, :block, :seen, :version) "
    "ON CONFLICT (run, block) DO UPDATE SET seen = excluded.seen, version = excluded.version"
)
_RAISE_BUCKET = sa.text(
    "INSERT INTO seen_buckets (bucket_start, new, known) VALUES (:bucket_start, :new, :known) ON CONFLICT "
    "(bucket_start) DO UPDATE SET new = seen_buckets.new + excluded.new, known = seen_buckets.known + excluded.known"
)


class Account(NamedTuple):
    """What was seen of one run."""

    run: str
    whole: int
    """Blocks 0 to whole - 1 are complete."""

    blocks: dict[int, bytes]
    """Others that were asked for: bit s % 8 of byte s // 8 for the number s of the block, or COMPLETE."""

    repeated: int
    """Events whose number had been seen: a stage wrote them again, or this consumer read them again after a kill."""

    late: int
    """Tweets, new to the database, that are not to be ranked; deletions among them."""

    version: int


class Bucket(NamedTuple):
    """Events that fall into one bucket of the rankings and are not late."""

    new: int
    """Tweets that the database had not: *trending* counts each once."""

    known: int
    """Events of tweets that it had, of another number: *trending* counts one if it has forgotten the tweet, or in
    another bucket. A repeated event bears the creation time of the first, and is never counted."""


def add(connection: Connection, batch: Sequence[EnrichedTweet], new: Collection[int]) -> None:
    """Takes account of events; `new`: ids that the database had not, each of which is in the batch."""
    first = _first_of_each(batch, new)
    late = Counter(tweet.ingest.run for tweet in first if tweet.late)
    seqs: dict[str, list[int]] = {}
    for tweet in batch:
        seqs.setdefault(tweet.ingest.run, []).append(tweet.ingest.seq)
    version = newest_version(connection) + 1
    repeated = {run: _add_numbers(connection, storable(run), np.array(numbers, np.int64), late[run], version)
                for run, numbers in seqs.items()}
    _add_to_buckets(connection, batch, first, repeated)


def newest_version(connection: Connection) -> int:
    """That of the batch that was added last, 0 before the first."""
    return int(connection.scalar(select(sa.func.max(seen_runs.c.version))) or 0)


def read(connection: Connection, since: int) -> list[Account]:
    """Of all runs that have changed since that version, with the blocks that have."""
    blocks: dict[str, dict[int, bytes]] = {}
    # Before the runs: what is complete by then is no block any more.
    for row in connection.execute(select(seen_blocks).where(seen_blocks.c.version > since)):
        blocks.setdefault(row.run, {})[row.block] = bytes(row.seen)
    return [Account(row.run, row.whole, blocks.get(row.run, {}), row.repeated, row.late, row.version)
            for row in connection.execute(select(seen_runs).where(seen_runs.c.version > since))]


def read_buckets(connection: Connection, since: int) -> dict[int, Bucket]:
    """By their start, in seconds since the epoch, those at `since` or later."""
    rows = connection.execute(select(seen_buckets).where(seen_buckets.c.bucket_start >= since))
    return {row.bucket_start: Bucket(row.new, row.known) for row in rows}


def merged(seen: bytes, places: np.ndarray) -> tuple[bytes, np.ndarray]:
    """A block with more of its numbers, each from 0 to BLOCK - 1, and of each of these whether the block had it, or an
    earlier one was the same."""
    if seen == COMPLETE:
        return COMPLETE, np.ones(len(places), bool)
    bits = np.unpackbits(np.frombuffer(seen, np.uint8), bitorder="little")
    before, again = int(bits.sum()), bits[places].astype(bool)
    bits[places] = 1
    after = int(bits.sum())
    if len(places) - again.sum() > after - before:
        _, firsts = np.unique(places, return_index=True)
        again[np.setdiff1d(np.arange(len(places)), firsts)] = True
    return COMPLETE if after == BLOCK else np.packbits(bits, bitorder="little").tobytes(), again


def _first_of_each(batch: Sequence[EnrichedTweet], ids: Collection[int]) -> Sequence[EnrichedTweet]:
    if len(ids) == len(batch):
        return batch
    left = set(ids)
    first = []
    for tweet in batch:
        if tweet.tweet_id in left:
            left.remove(tweet.tweet_id)
            first.append(tweet)
    return first


def _add_numbers(connection: Connection, run: str, seqs: np.ndarray, late: int, version: int) -> np.ndarray:
    """Of each whether it had been seen."""
    known = connection.execute(select(seen_runs).where(seen_runs.c.run == run)).first()
    whole, repeated = (known.whole, known.repeated) if known else (0, 0)
    late += known.late if known else 0
    numbers = seqs >> BLOCK_BITS
    again = numbers < whole
    for number in np.unique(numbers[~again]).tolist():
        there = numbers == number
        seen, again[there] = merged(_seen(connection, run, number) or EMPTY, seqs[there] & (BLOCK - 1))
        connection.execute(_PUT_BLOCK, {"run": run, "block": number, "seen": seen, "version": version})
    repeated += int(again.sum())
    if (now := _whole(connection, run, whole)) > whole:
        connection.execute(delete(seen_blocks).where(seen_blocks.c.run == run, seen_blocks.c.block < now))
    connection.execute(_PUT_RUN, {"run": run, "whole": now, "repeated": repeated, "late": late, "version": version})
    if known is None:
        _forget_runs(connection)
    return again


def _whole(connection: Connection, run: str, whole: int) -> int:
    """How many blocks are complete from the first one on, if these are."""
    if _seen(connection, run, whole) != COMPLETE:
        return whole
    behind = select(seen_blocks.c.block, seen_blocks.c.seen).where(
        seen_blocks.c.run == run, seen_blocks.c.block >= whole).order_by(seen_blocks.c.block)
    with connection.execute(behind, execution_options={"yield_per": 1000}) as rows:
        for row in rows:
            if row.block != whole or row.seen != COMPLETE:
                break
            whole += 1
    return whole


def _forget_runs(connection: Connection) -> None:
    """Those of which nothing has come for longest, but for as many as are kept."""
    newest = select(seen_runs.c.version).order_by(seen_runs.c.version.desc())
    last = connection.scalar(newest.offset(KEPT_RUNS).limit(1))
    if last is not None:
        old = select(seen_runs.c.run).where(seen_runs.c.version <= last)
        connection.execute(delete(seen_blocks).where(seen_blocks.c.run.in_(old)))
        connection.execute(delete(seen_runs).where(seen_runs.c.version <= last))


def _seen(connection: Connection, run: str, number: int) -> bytes | None:
    """Of a block; None if nothing of it was seen."""
    wanted = select(seen_blocks.c.seen).where(seen_blocks.c.run == run, seen_blocks.c.block == number)
    seen = connection.scalar(wanted)
    return None if seen is None else bytes(seen)


def _add_to_buckets(
    connection: Connection, batch: Sequence[EnrichedTweet], first: Sequence[EnrichedTweet],
    repeated: Mapping[str, np.ndarray],
) -> None:
    """Deletions are late, and so in none."""
    new = Counter(_bucket_start(tweet) for tweet in first if not tweet.late)
    all = new if first is batch else new | _buckets_of(batch, repeated)
    if not all:
        return
    rows = [{"bucket_start": start, "new": new[start], "known": count - new[start]} for start, count in all.items()]
    connection.execute(_RAISE_BUCKET, rows)
    oldest = max(all) - KEPT_SECONDS
    connection.execute(delete(seen_buckets).where(seen_buckets.c.bucket_start < oldest))


def _buckets_of(batch: Sequence[EnrichedTweet], repeated: Mapping[str, np.ndarray]) -> Counter[int]:
    """How many events that are not repeated belong into each."""
    again = {run: iter(flags.tolist()) for run, flags in repeated.items()}
    return Counter(_bucket_start(tweet) for tweet in batch if not next(again[tweet.ingest.run]) and not tweet.late)


def _bucket_start(tweet: EnrichedTweet) -> int:
    return created_at_us(tweet) // (BUCKET_SECONDS * 1_000_000) * BUCKET_SECONDS
