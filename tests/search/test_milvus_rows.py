"""What milvus_rows.py takes of pymilvus, without a server: an update that changes it fails here first."""

from types import SimpleNamespace

import numpy as np
import pytest
from pymilvus import DataType
from pymilvus.client.prepare import Prepare

from common.milvus import connection
from search import milvus_rows
from search.encoder import DIMENSIONS
from search.milvus_rows import IndexRows, WireChanged, WriteRequest, check, fields
from tests.search.servers import MilvusServer

FIELDS = [
    {"name": "tweet_id", "type": DataType.INT64, "is_primary": True},
    {"name": "vector", "type": DataType.FLOAT_VECTOR, "params": {"dim": DIMENSIONS}},
    {"name": "lang", "type": DataType.VARCHAR, "params": {"max_length": 64}},
    {"name": "created_at_us", "type": DataType.INT64},
]


def some(count: int) -> IndexRows:
    vectors = np.random.default_rng(1).normal(size=(count, DIMENSIONS)).astype(np.float32)
    return IndexRows.of(range(1 << 61, (1 << 61) + count), range(count), vectors, ["日本"] * count, range(count))


def client(**stub) -> SimpleNamespace:
    return SimpleNamespace(_get_connection=lambda: SimpleNamespace(_stub=SimpleNamespace(**stub)))


@pytest.mark.parametrize("count", [1, 2, 400])
def test_a_request_is_the_one_that_pymilvus_would_write(count: int) -> None:
    rows = some(count)
    by_row = [
        dict(zip((field["name"] for field in FIELDS), row, strict=True))
        for row in zip(rows.tweet_ids.tolist(), rows.vectors, rows.langs, rows.created_at_us.tolist(), strict=True)
    ]
    theirs = Prepare.row_insert_param("tweets", by_row, "", FIELDS)
    ours = WriteRequest.of("Insert", "tweets", rows).content
    assert {field.field_name: field for field in ours.fields_data} == {
        field.field_name: field for field in theirs.fields_data
    }
    assert (ours.collection_name, ours.num_rows) == (theirs.collection_name, theirs.num_rows)


def test_vectors_arrive_as_they_are() -> None:
    rows = some(3)
    (vectors,) = (field.vectors for field in fields(rows) if field.field_name == "vector")
    assert vectors.dim == DIMENSIONS
    np.testing.assert_array_equal(np.array(vectors.float_vector.data, np.float32), rows.vectors.ravel())


def test_the_client_that_is_installed_is_taken() -> None:
    check(client(Insert=print, Upsert=print))


@pytest.mark.parametrize("changed", [SimpleNamespace(), client(), client(Insert=print), client(Insert=1, Upsert=1)])
def test_a_client_without_what_is_taken_of_it_is_refused(changed: SimpleNamespace) -> None:
    with pytest.raises(WireChanged, match=r"pymilvus .*`make setup`"):
        check(changed)


@pytest.mark.parametrize("length", [b"", b"\x01", b"\xff"])
def test_another_way_to_write_numbers_is_refused(monkeypatch: pytest.MonkeyPatch, length: bytes) -> None:
    monkeypatch.setattr(milvus_rows, "_varint", lambda _: length)
    with pytest.raises(WireChanged):
        check(client(Insert=print, Upsert=print))


@pytest.mark.server
def test_the_client_of_a_server_is_taken(milvus: MilvusServer) -> None:
    connected = connection(milvus.uri, 5)
    check(connected)
    connected.close()
