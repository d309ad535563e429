"""Rows of the index as Milvus takes them over the wire: by field.

pymilvus takes a dict for each row and copies vectors number by number, at some 60 µs a row; here a request's vectors
are one copy of memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pymilvus import DataType, MilvusClient
from pymilvus.client.utils import check_status
from pymilvus.grpc_gen import milvus_pb2, schema_pb2

from common.search.encoder import DIMENSIONS

MAX_LANG = 16


class IndexRow(NamedTuple):
    """A tweet as the index holds it, its vector of length 1, and its position in the store."""

    tweet_id: int
    position: int
    vector: np.ndarray
    lang: str
    created_at_us: int


Operation = Literal["Insert", "Upsert"]


class WriteRequest(NamedTuple):
    """Rows for one collection, ready for the wire."""

    operation: Operation
    content: Any

    @classmethod
    def of(cls, operation: Operation, collection: str, rows: Sequence[IndexRow]) -> Self:
        kind = {"Insert": milvus_pb2.InsertRequest, "Upsert": milvus_pb2.UpsertRequest}[operation]
        return cls(operation, kind(collection_name=collection, fields_data=fields(rows), num_rows=len(rows)))

    def send(self, client: MilvusClient, timeout: float) -> None:
        """Acknowledged on return; `timeout` in s. Raises MilvusException or grpc.RpcError; never retries."""
        stub = client._get_connection()._stub  # the one way to the wire that keeps the client's address and credentials
        check_status(getattr(stub, self.operation)(self.content, timeout=timeout).status)


def fields(rows: Sequence[IndexRow]) -> list[Any]:
    """The `fields_data` of a request that inserts or upserts these rows."""
    longs, texts = schema_pb2.LongArray, schema_pb2.StringArray
    return [
        _scalar(DataType.INT64, "tweet_id", long_data=longs(data=[row.tweet_id for row in rows])),
        schema_pb2.FieldData(
            type=DataType.FLOAT_VECTOR, field_name="vector",
            vectors=schema_pb2.VectorField(dim=DIMENSIONS, float_vector=_floats([row.vector for row in rows])),
        ),
        _scalar(DataType.VARCHAR, "lang", string_data=texts(data=[row.lang[:MAX_LANG] for row in rows])),
        _scalar(DataType.INT64, "created_at_us", long_data=longs(data=[row.created_at_us for row in rows])),
    ]


def _scalar(kind: DataType, name: str, **data: Any) -> Any:
    return schema_pb2.FieldData(type=kind, field_name=name, scalars=schema_pb2.ScalarField(**data))


def _floats(vectors: Sequence[np.ndarray]) -> Any:
    """A repeated float of protobuf is, on the wire, its field's tag, its length in bytes, and the numbers as they lie
    in memory. Parsing that is 70 times faster than giving the numbers one by one."""
    content = np.concatenate(vectors, dtype="<f4").tobytes()
    return schema_pb2.FloatArray.FromString(b"\x0a" + bytes(_varint(len(content))) + content)


def _varint(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
