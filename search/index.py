"""Vectors of the newest tweets in Milvus (Milvus Lite on a laptop, by URI any other).

The index is a row of shards: collections of `shard_rows` consecutive positions of the store each. A tweet's shard
follows from its position, so writing it again finds its row, and the oldest tweets go by dropping a whole collection.
Deleting rows instead would leave them in memory, and search would go on scanning them (Milvus Lite has no partitions).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import chain
from threading import Lock
from typing import Any, Self, TypeVar

import grpc
import numpy as np
from pymilvus import MilvusClient, MilvusException
from sqlalchemy.exc import SQLAlchemyError

from common.addresses import masked
from common.milvus import connection
from common.settings import Settings
from common.storage.held import Held
from search import shard
from search.encoder import DIMENSIONS, TABLE_SHA256
from search.milvus_rows import IndexRows, Operation, WriteRequest, check
from search.shard import READ_TIMEOUT_S, TIMEOUT_S
from search.store import Store

SHARDS = 2
"""A search asks each of them: many make it slow, few keep more than wanted."""

INSERT_ROWS = 400
"""Rows per request: Milvus Lite is fastest at this size; it syncs its file for each."""

NO_INDEX_YET = 700
"""Milvus's code of an error: the collection has no index on its vectors."""

T = TypeVar("T")
Positions = TypeVar("Positions", int, np.ndarray)


class IndexDown(ConnectionError):
    """Milvus does not answer, or refused the request."""


class Index:
    """Thread-safe; connects at its first use."""

    def __init__(self, uri: str, prefix: str, max_rows: int) -> None:
        """`prefix` begins the names of the collections; the index keeps `max_rows` and up to a shard more."""
        self._uri, self._prefix = uri, prefix
        self.shard_rows = max(1, -(-max_rows // SHARDS))
        self._shape = f"{self.shard_rows}x{DIMENSIONS}x{TABLE_SHA256[:8]}"
        self._connected: MilvusClient | None = None
        self._connecting = Lock()
        # One request at a time, since Milvus Lite answers in turn: a search waits behind each that is there before it.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="index-write")
        self._readers = ThreadPoolExecutor(SHARDS + 1, thread_name_prefix="index-search")
        self._shards: set[int] = set()
        self._oldest_kept = 0
        self._searched: list[int] = []
        """Which shards there were at the last search."""

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The index of an instance; its collections are its own even in a Milvus shared with others."""
        prefix = f"murmur_{settings.instance}_{settings.middleware}_tweets".replace("-", "_")
        return cls(settings.milvus_address, prefix, settings.index_max_rows)

    def shard_of(self, position: Positions) -> Positions:
        """Number of the shard that holds a position, or of each that holds one of several."""
        return (position - 1) // self.shard_rows

    def horizon(self, newest_position: int) -> int:
        """Lowest position that the index keeps when `newest_position` is the last; what is below has aged out."""
        return max(0, self.shard_of(newest_position) - SHARDS) * self.shard_rows + 1

    def check_client(self) -> None:
        """Raises WireChanged if rows cannot be written with the pymilvus that is installed; IndexDown."""
        self._call(check)

    def insert(self, blocks: Iterable[IndexRows]) -> None:
        """Adds rows that are surely new: a row that the index has would be there twice. Acknowledged on return.

        Where `blocks` takes its time, the next one is made while Milvus takes the one before.
        """
        self._write(blocks, "Insert")

    def upsert(self, blocks: Iterable[IndexRows]) -> None:
        """Adds rows, or replaces them if they are there; several times slower than `insert`."""
        self._write(blocks, "Upsert")

    def search(self, vector: np.ndarray, limit: int, condition: str = "") -> list[tuple[int, float]]:
        """(tweet id, cosine distance) of the rows nearest to a vector of length 1, nearest first; of those that meet
        Milvus's `condition`. Raises IndexDown."""
        def in_shard(number: int) -> list[tuple[int, float]]:
            return self._search_shard(number, vector, limit, condition)

        # All at once, with the question which shards there are: they wait together for a write that Milvus is busy
        # with, instead of each for another one.
        asked = {number: self._readers.submit(in_shard, number) for number in self._searched}
        self._searched = self.shards()
        answers = [asked.get(number) or self._readers.submit(in_shard, number) for number in self._searched]
        nearest: dict[int, float] = {}
        for tweet_id, distance in chain.from_iterable(answer.result() for answer in answers):
            nearest[tweet_id] = min(distance, nearest.get(tweet_id, distance))
        return heapq.nsmallest(limit, nearest.items(), key=lambda hit: hit[1])

    def shards(self) -> list[int]:
        """Numbers of the shards that exist, oldest first."""
        return sorted(number for shape, number in self._collections().values() if shape == self._shape)

    def ids(self) -> Iterator[int]:
        """Tweet ids of all rows, a shard in memory at a time: an id that is there twice comes twice.

        A shard that is dropped meanwhile is passed over. Raises IndexDown.
        """
        for number in self.shards():
            try:
                ids = self.shard_ids(number)
            except IndexDown:
                if number in self.shards():
                    raise
                continue
            yield from ids

    def shard_ids(self, number: int) -> list[int]:
        """Tweet ids of one shard's rows: an id that is there twice comes twice."""
        return self._call(shard.ids, self._name(number))

    def count(self) -> int:
        """Rows, repeats included."""
        return sum(self.counts().values())

    def counts(self) -> dict[int, int]:
        """Likewise, by number of the shard."""
        return {number: self._call(shard.count, self._name(number)) for number in self.shards()}

    def held(self, store: Store) -> Held:
        """Rows and their bound, a shard above `max_rows`. `store` dates the rows; what is not known now is None."""
        bound, oldest = (SHARDS + 1) * self.shard_rows, None
        try:
            holds = self.count()
            if kept := self.shards():
                oldest = store.oldest(since=kept[0] * self.shard_rows + 1)
        except (IndexDown, SQLAlchemyError, OSError):
            return Held("index", None, bound, "rows")
        return Held("index", holds, bound, "rows", oldest.stored_at_us / 1e6 if oldest else None)

    def delete(self, number: int, ids: Collection[int]) -> None:
        """Removes every row of these tweet ids from a shard."""
        listed = list(ids)
        for start in range(0, len(listed), INSERT_ROWS):
            chunk = listed[start : start + INSERT_ROWS]
            self._call(MilvusClient.delete, self._name(number), ids=chunk, timeout=TIMEOUT_S)

    def remove(self, positions: Mapping[int, int]) -> None:
        """Removes every row of these tweets, tweet id → position, wherever a shard still has it."""
        by_shard: dict[int, list[int]] = {}
        for tweet_id, position in positions.items():
            by_shard.setdefault(self.shard_of(position), []).append(tweet_id)
        for number in by_shard.keys() & self.shards() if by_shard else ():
            try:
                self.delete(number, by_shard[number])
            except IndexDown:
                if number in self.shards():
                    raise

    def drop(self, number: int) -> None:
        """Removes a whole shard, after the rows that are on their way into it."""
        self._shards.discard(number)
        self._writer.submit(self._call, MilvusClient.drop_collection, self._name(number), timeout=TIMEOUT_S).result()

    def drop_strangers(self) -> None:
        """Drops this instance's collections of another shape: `index_max_rows` or the encoder's table was changed."""
        for name, (shape, _) in self._collections().items():
            if shape != self._shape:
                self._call(MilvusClient.drop_collection, name, timeout=TIMEOUT_S)

    def close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        if self._connected:
            self._connected.close()

    def _collections(self) -> dict[str, tuple[str, int]]:
        """Names of this instance's collections → (shape of the shard, its number)."""
        names = self._call(MilvusClient.list_collections, timeout=READ_TIMEOUT_S)
        matches = (re.fullmatch(rf"{self._prefix}_(\d+x\d+(?:x[0-9a-f]{{8}})?)_(\d+)", name) for name in names)
        return {match[0]: (match[1], int(match[2])) for match in matches if match}

    def _write(self, blocks: Iterable[IndexRows], operation: Operation) -> None:
        """Sends each request as soon as its rows are there, and returns when all are acknowledged."""
        written: list[Future[None]] = []
        try:
            for name, rows in self._requests(blocks):
                request = WriteRequest.of(operation, name, rows)
                written.append(self._writer.submit(self._call, request.send, timeout=TIMEOUT_S))
            for each in written:
                each.result()
        finally:
            # Whoever tries again must not find a request of the first attempt still on its way.
            for each in written:
                each.cancel()
            wait(written)

    def _requests(self, blocks: Iterable[IndexRows]) -> Iterator[tuple[str, IndexRows]]:
        """(collection, rows) of each request; rows that would be too old already are left out."""
        for block in blocks:
            numbers = self.shard_of(block.positions)
            wanted = np.unique(numbers).tolist()
            oldest_kept = self._prepare(wanted)
            for number in (each for each in wanted if each >= oldest_kept):
                rows = np.flatnonzero(numbers == number)
                for start in range(0, len(rows), INSERT_ROWS):
                    yield self._name(number), block.take(rows[start : start + INSERT_ROWS])

    def _prepare(self, wanted: Collection[int]) -> int:
        """Makes the shards that are wanted, drops what is too old and returns the oldest number that is kept."""
        if not self._shards.issuperset(wanted):
            existing = set(self.shards())
            self._oldest_kept = max(existing.union(wanted)) - SHARDS
            for number in existing.union(wanted):
                if number < self._oldest_kept and number in existing:
                    self.drop(number)
                elif number >= self._oldest_kept and number in wanted:
                    # Also if it exists: its maker may have been killed half-way.
                    self._call(shard.create, self._name(number))
            self._shards.update(number for number in wanted if number >= self._oldest_kept)
        return self._oldest_kept

    def _search_shard(self, number: int, vector: np.ndarray, limit: int, condition: str) -> list[tuple[int, float]]:
        try:
            hits = self._call(
                MilvusClient.search,
                self._name(number), [vector], filter=condition, limit=limit, timeout=READ_TIMEOUT_S,
            )[0]
        except IndexDown as error:
            being_made = isinstance(error.__cause__, MilvusException) and error.__cause__.code == NO_INDEX_YET
            if being_made or number not in self.shards():  # it holds no row yet, or has aged out since it was listed
                return []
            raise
        return [(hit["id"], 1.0 - hit["distance"]) for hit in hits]

    def _name(self, number: int) -> str:
        return f"{self._prefix}_{self._shape}_{number}"

    def _client(self) -> MilvusClient:
        with self._connecting:
            if self._connected is None:
                self._connected = connection(self._uri, READ_TIMEOUT_S)
            return self._connected

    def _call(self, method: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Any failure becomes IndexDown, and what was known of the server is forgotten: it may be another one."""
        try:
            return method(self._client(), *arguments, **named)
        except (MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ConnectionError) as error:
            self._shards = set()
            raise IndexDown(masked(f"{self._uri}: {error}")) from error
