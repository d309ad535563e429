"""One shard of the index, a collection of Milvus: how it is made, and what is in it. Raises what pymilvus raises."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pymilvus import DataType, MilvusClient

from search.encoder import DIMENSIONS
from search.milvus_rows import MAX_LANG

PAGE, COUNTED_TOGETHER = 8192, 500
"""Ids that one request asks for; of which it counts the rows."""

TIMEOUT_S, READ_TIMEOUT_S = 20.0, 5.0


def create(client: MilvusClient, name: str) -> None:
    """Makes what is missing of a shard."""
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("tweet_id", DataType.INT64, is_primary=True)
    # Half the size in fp16, but Milvus Lite then searches ten times slower.
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSIONS)
    schema.add_field("lang", DataType.VARCHAR, max_length=4 * MAX_LANG)
    schema.add_field("created_at_us", DataType.INT64)
    by_vector = MilvusClient.prepare_index_params()
    # The cosine of vectors of length 1, for which Milvus by itself would work out the length of each row again.
    by_vector.add_index("vector", index_type="FLAT", metric_type="IP")
    # Three calls rather than the one that does it all: that one waits half a second for an index which is ready.
    client.create_collection(name, schema=schema, timeout=TIMEOUT_S)
    client.create_index(name, by_vector, sync=False, timeout=TIMEOUT_S)
    client.load_collection(name, timeout=TIMEOUT_S)


def count(client: MilvusClient, name: str, condition: str = "") -> int:
    """Rows, repeats included."""
    found = client.query(name, condition, output_fields=["count(*)"], timeout=READ_TIMEOUT_S)
    return int(found[0]["count(*)"])


def ids(client: MilvusClient, name: str) -> list[int]:
    """Tweet ids of the rows: an id that is there twice comes twice."""
    pages = _pages_of_ids(client, name)
    found = list(chain.from_iterable(pages))
    if count(client, name) > len(found):  # or a row has come meanwhile
        for page in pages:
            if count(client, name, f"tweet_id >= {page[0]} and tweet_id <= {page[-1]}") > len(page):
                found += _repeats(client, name, page)
    return found


def _pages_of_ids(client: MilvusClient, name: str) -> list[list[int]]:
    """Tweet ids, each once and in order, in pages."""
    pages = client.query_iterator(name, batch_size=PAGE, output_fields=["tweet_id"], timeout=READ_TIMEOUT_S)
    found: list[list[int]] = []
    while page := pages.next():
        found.append(sorted(row["tweet_id"] for row in page))
    pages.close()
    return found


def _repeats(client: MilvusClient, name: str, page: list[int]) -> Iterator[int]:
    """Of the rows of each id all but one: Milvus returns an id once however often it is there, but counts rows."""
    for start in range(0, len(page), COUNTED_TOGETHER):
        some = page[start : start + COUNTED_TOGETHER]
        if count(client, name, f"tweet_id in {some}") > len(some):
            for tweet_id in some:
                yield from [tweet_id] * (count(client, name, f"tweet_id == {tweet_id}") - 1)
