"""Rows of the index as Milvus takes them over the wire: by field.

pymilvus takes a dict for each row and copies vectors number by number: 9.4 µs of CPU a row, of the 104 that a tweet
costs in all. Here it is 0.5, with two parts of it that an update may change: how a request lies on the wire, and the
stub that sends it. `check` looks at them when a consumer starts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import pymilvus
from pymilvus import DataType, MilvusClient
from pymilvus.client.utils import check_status
from pymilvus.grpc_gen import milvus_pb2, schema_pb2

from search.encoder import DIMENSIONS

MAX_LANG = 16

CHANGED = (
    f"pymilvus {pymilvus.__version__} is not the one whose inner parts search/milvus_rows.py takes to write rows: "
    "`make setup` installs that"
)


class IndexRows(NamedTuple):
    """Tweets as the index holds them, by column: each has as many entries as there are rows."""

    tweet_ids: np.ndarray
    positions: np.ndarray
    """In the store."""

    vectors: np.ndarray
    """(rows, DIMENSIONS), each of length 1."""

    langs: Sequence[str]
    created_at_us: np.ndarray
    surely_new_until: float = math.inf
    """By `boottime_s`. Afterwards another process may have written these rows, so that they are inserted no more."""

    @classmethod
    def of(
        cls, tweet_ids: Sequence[int], positions: Sequence[int], vectors: np.ndarray, langs: Sequence[str],
        created_at_us: Sequence[int],
    ) -> Self:
        return cls(_longs(tweet_ids), _longs(positions), vectors, langs, _longs(created_at_us))

    def take(self, rows: np.ndarray) -> Self:
        """Those of these numbers, from 0."""
        tweet_ids, positions, vectors, created_at_us = (
            column[rows] for column in (self.tweet_ids, self.positions, self.vectors, self.created_at_us)
        )
        langs = [self.langs[row] for row in rows.tolist()]
        return type(self)(tweet_ids, positions, vectors, langs, created_at_us, self.surely_new_until)


Operation = Literal["Insert", "Upsert"]
KINDS: dict[Operation, Any] = {"Insert": milvus_pb2.InsertRequest, "Upsert": milvus_pb2.UpsertRequest}


def boottime_s() -> float:
    """A clock that goes on while the process, or the machine, stands still, and that nobody sets."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class WriteRequest(NamedTuple):
    """Rows for one collection, ready for the wire."""

    operation: Operation
    content: Any
    surely_new_until: float

    @classmethod
    def of(cls, operation: Operation, collection: str, rows: IndexRows) -> Self:
        content = KINDS[operation](collection_name=collection, fields_data=fields(rows), num_rows=len(rows.langs))
        return cls(operation, content, rows.surely_new_until)

    def send(self, client: MilvusClient, timeout: float) -> None:
        """Acknowledged on return; `timeout` in s. Raises MilvusException or grpc.RpcError; never retries."""
        if self.operation == "Insert" and boottime_s() > self.surely_new_until:
            return self._as_upsert().send(client, timeout)
        stub = client._get_connection()._stub  # the one way to the wire that keeps the client's address and credentials
        check_status(getattr(stub, self.operation)(self.content, timeout=timeout).status)

    def _as_upsert(self) -> Self:
        content = KINDS["Upsert"](
            collection_name=self.content.collection_name, fields_data=self.content.fields_data,
            num_rows=self.content.num_rows,
        )
        return type(self)("Upsert", content, self.surely_new_until)


class WireChanged(RuntimeError):
    """The pymilvus that is installed is not the one for which this module was written."""


def check(client: MilvusClient) -> None:
    """Raises WireChanged, before any row is lost by it. Sends nothing."""
    vectors = np.eye(2, DIMENSIONS, dtype=np.float32)
    try:
        stub = client._get_connection()._stub
        as_before = all(callable(getattr(stub, operation)) for operation in get_args(Operation))
        as_before &= _floats(vectors) == schema_pb2.FloatArray(data=vectors.ravel().tolist())
    except Exception as error:  # protobuf's own, for one
        raise WireChanged(CHANGED) from error
    if not as_before:
        raise WireChanged(CHANGED)


def fields(rows: IndexRows) -> list[Any]:
    """The `fields_data` of a request that inserts or upserts these rows."""
    longs, texts = schema_pb2.LongArray, schema_pb2.StringArray
    return [
        _scalar(DataType.INT64, "tweet_id", long_data=longs(data=rows.tweet_ids.tolist())),
        schema_pb2.FieldData(
            type=DataType.FLOAT_VECTOR, field_name="vector",
            vectors=schema_pb2.VectorField(dim=DIMENSIONS, float_vector=_floats(rows.vectors)),
        ),
        _scalar(DataType.VARCHAR, "lang", string_data=texts(data=[lang[:MAX_LANG] for lang in rows.langs])),
        _scalar(DataType.INT64, "created_at_us", long_data=longs(data=rows.created_at_us.tolist())),
    ]


def _scalar(kind: DataType, name: str, **data: Any) -> Any:
    return schema_pb2.FieldData(type=kind, field_name=name, scalars=schema_pb2.ScalarField(**data))


def _longs(numbers: Sequence[int]) -> np.ndarray:
    return np.asarray(numbers, np.int64)


def _floats(vectors: np.ndarray) -> Any:
    """A repeated float of protobuf is, on the wire, its field's tag, its length in bytes, and the numbers as they lie
    in memory. To give the numbers one by one takes 1.8 µs a row more."""
    content = np.asarray(vectors, "<f4").tobytes()
    return schema_pb2.FloatArray.FromString(b"\x0a" + bytes(_varint(len(content))) + content)


def _varint(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
