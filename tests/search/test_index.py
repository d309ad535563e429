from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from pymilvus import DataType, MilvusClient

from common.milvus import connection
from common.storage.held import Held
from search.encoder import DIMENSIONS, TABLE_SHA256
from search.filters import Filters
from search.index import SHARDS, Index, IndexDown
from search.milvus_rows import IndexRows
from search.store import Store
from tests.conformance.syscalls import count_syncs
from tests.search.samples import tweet
from tests.search.servers import MilvusServer, await_true, free_port

pytestmark = pytest.mark.server

DAY = 86_400_000_000


def vector(seed: int) -> np.ndarray:
    content = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return content / np.linalg.norm(content)


def row(position: int, tweet_id: int | None = None, lang: str = "en", day: int = 0) -> IndexRows:
    tweet_id = 10_000 + position if tweet_id is None else tweet_id
    return IndexRows.of([tweet_id], [position], vector(tweet_id)[None], [lang], [day * DAY])


@pytest.fixture
def index(milvus: MilvusServer):
    opened = Index(milvus.uri, "murmur_test", max_rows=100)
    yield opened
    opened.close()


def test_search_across_shards(index: Index) -> None:
    newest = SHARDS * index.shard_rows + 5
    index.insert([row(position) for position in range(1, newest + 1)])
    assert index.shards() == list(range(SHARDS + 1))
    for position in (1, 17, index.shard_rows + 1, newest):
        (tweet_id, distance), *others = index.search(vector(10_000 + position), 5)
        assert tweet_id == 10_000 + position
        assert distance == pytest.approx(0, abs=1e-5)
        assert [d for _, d in others] == sorted(d for _, d in others)
        assert others[0][1] > 0.5


def test_a_block_that_spans_shards_and_requests(milvus: MilvusServer) -> None:
    index = Index(milvus.uri, "murmur_block", max_rows=SHARDS * 1000)
    positions = list(range(1, 2001))[::-1]
    block = IndexRows.of(
        [10_000 + n for n in positions], positions, np.stack([vector(n) for n in positions]), ["en"] * 2000, positions)
    index.insert([block])
    assert [len(index.shard_ids(number)) for number in index.shards()] == [1000, 1000]
    for position in (1, 400, 401, 1000, 1001, 2000):
        assert index.search(vector(position), 1)[0][0] == 10_000 + position
    index.close()


def test_a_shard_made_since_the_last_search_is_found(index: Index) -> None:
    index.insert([row(1)])
    assert [tweet_id for tweet_id, _ in index.search(vector(10_001), 5)] == [10_001]
    index.insert([row(index.shard_rows + 1)])
    assert len(index.search(vector(10_001), 5)) == 2
    index.drop(0)
    assert [tweet_id for tweet_id, _ in index.search(vector(10_001), 5)] == [10_000 + index.shard_rows + 1]


def test_rows_are_on_disk_before_they_are_acknowledged(index: Index, milvus: MilvusServer, tmp_path: Path) -> None:
    """What `murmur status` states as the durability of the index."""
    index.insert([row(1)])

    def load() -> None:
        for position in range(2, 22):
            index.insert([row(position, tweet_id=position)])

    assert count_syncs(milvus.pid, tmp_path, load) >= 20


def test_filters(index: Index) -> None:
    index.insert([row(1, lang="de", day=1), row(2, lang="en", day=2), row(3, lang="de", day=3)])
    query = vector(10_002)
    second = datetime.fromtimestamp(2 * 86400, UTC)

    def found(filters: Filters, ids: list[int] | None = None) -> set[int]:
        return {tweet_id for tweet_id, _ in index.search(query, 5, filters.of_index(ids))}

    assert found(Filters()) == {10_001, 10_002, 10_003}
    assert found(Filters(lang="de")) == {10_001, 10_003}
    assert found(Filters(since=second)) == {10_002, 10_003}
    assert found(Filters(until=second)) == {10_001, 10_002}
    assert found(Filters(lang="de", since=second)) == {10_003}
    assert found(Filters(lang='x" or lang == "de')) == set()
    assert found(Filters(lang="de"), [10_002, 10_003]) == {10_003}


def test_upsert_replaces_and_ids_tell_repeats(index: Index) -> None:
    rows = [row(position) for position in range(1, 15)]
    index.insert(rows)
    index.upsert(rows)
    assert sorted(index.ids()) == [i for r in rows for i in r.tweet_ids.tolist()]
    index.insert(rows[3:5])
    assert index.count() == 16
    assert sorted(index.ids()) == sorted([i for r in rows for i in r.tweet_ids.tolist()] + [10_004, 10_005])
    index.delete(0, [10_004])
    assert sorted(index.ids()) == sorted([i for r in rows for i in r.tweet_ids.tolist() if i != 10_004] + [10_005])


def test_more_ids_than_milvus_returns_at_once(milvus: MilvusServer) -> None:
    index = Index(milvus.uri, "murmur_large", max_rows=500_000)
    same = vector(0)
    ids = [(1 << 61) + 3 * i for i in range(20_000)]
    count = len(ids)
    block = IndexRows.of(ids, range(1, count + 1), np.tile(same, (count, 1)), ["en"] * count, [0] * count)
    index.insert([block.take(np.random.default_rng(1).permutation(count))])  # Milvus pages by id, not by arrival
    index.insert([block.take(np.array([12_345]))])
    assert index.shards() == [0]
    assert sorted(index.ids()) == sorted([*ids, ids[12_345]])
    index.close()


def test_the_oldest_shards_go_whole(index: Index) -> None:
    for start in range(1, 301, 50):
        index.insert([row(position) for position in range(start, start + 50)])
    newest = index.shard_of(300)
    assert index.shards() == list(range(newest - SHARDS, newest + 1))
    assert min(index.ids()) == 10_000 + index.horizon(300)
    assert 100 <= index.count() <= 100 + index.shard_rows
    index.upsert([row(1)])
    assert 10_001 not in index.ids()


def test_more_rows_at_once_than_the_index_keeps(index: Index) -> None:
    newest = 3 * SHARDS * index.shard_rows
    index.insert([row(position) for position in range(1, newest + 1)])
    assert sorted(index.ids()) == [10_000 + position for position in range(index.horizon(newest), newest + 1)]


def test_a_shard_that_is_being_made_has_nothing_to_find(index: Index, milvus: MilvusServer) -> None:
    """Until it has an index on its vectors Milvus refuses to search it."""
    index.insert([row(position) for position in range(1, index.shard_rows + 1)])
    client = connection(milvus.uri, 5)
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("tweet_id", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSIONS)
    client.create_collection(f"murmur_test_{index.shard_rows}x{DIMENSIONS}x{TABLE_SHA256[:8]}_1", schema=schema)
    client.close()
    assert index.shards() == [0, 1]
    assert index.search(vector(10_003), 1)[0][0] == 10_003


def test_two_members_may_rotate_shards(milvus: MilvusServer) -> None:
    one, two = (Index(milvus.uri, "murmur_test", max_rows=100) for _ in range(2))
    one.insert([row(1)])
    two.insert([row(2)])
    one.insert([row(position) for position in range(150, 160)])
    with pytest.raises(IndexDown):
        two.insert([row(3)])  # its shard was dropped meanwhile
    two.upsert([row(3), row(160)])
    assert sorted(one.ids()) == [10_000 + position for position in range(150, 161)]
    one.close()
    two.close()


def test_instances_do_not_see_each_other(milvus: MilvusServer, index: Index) -> None:
    index.insert([row(1)])
    other = Index(milvus.uri, "murmur_test_other", max_rows=100)
    assert list(other.ids()) == []
    other.insert([row(1, tweet_id=5)])
    other.drop_strangers()
    index.drop_strangers()
    assert list(index.ids()) == [10_001]
    assert list(other.ids()) == [5]
    other.close()


def test_another_shard_size_starts_afresh(milvus: MilvusServer, index: Index) -> None:
    index.insert([row(1)])
    larger = Index(milvus.uri, "murmur_test", max_rows=200)
    assert list(larger.ids()) == []
    larger.drop_strangers()
    assert index.shards() == []
    larger.close()


@pytest.mark.parametrize("former", ["50x96", "50x128xdeadbeef"])
def test_the_vectors_of_another_table_are_neither_searched_nor_kept(
    milvus: MilvusServer, index: Index, former: str
) -> None:
    index.insert([row(1)])
    client = connection(milvus.uri, 5)
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("tweet_id", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSIONS)
    client.create_collection(f"murmur_test_{former}_0", schema=schema)
    assert index.shards() == [0]
    index.drop_strangers()
    assert client.list_collections() == [f"murmur_test_50x{DIMENSIONS}x{TABLE_SHA256[:8]}_0"]
    client.close()


def test_a_killed_server_comes_back_with_every_row(milvus: MilvusServer, index: Index) -> None:
    rows = [row(position) for position in range(1, 36)]
    index.insert(rows)
    milvus.kill()
    with pytest.raises(IndexDown):
        index.search(vector(1), 3)
    milvus.start()

    def answers() -> bool:
        try:
            return index.search(vector(10_007), 1)[0][0] == 10_007
        except IndexDown:
            return False

    await_true("search after the restart", answers)
    assert sorted(index.ids()) == [i for r in rows for i in r.tweet_ids.tolist()]
    index.insert([row(36)])
    assert index.count() == 36


def test_an_index_says_what_it_holds(index: Index, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'tweets.db'}", max_rows=1000)
    bound = (SHARDS + 1) * index.shard_rows
    assert index.held(store) == Held("index", 0, bound, "rows")
    for start in range(1, 301, 50):
        store.insert([tweet(10_000 + position) for position in range(start, start + 50)])
        index.insert([row(position) for position in range(start, start + 50)])
        held = index.held(store)
        assert held.holds <= bound
    first = index.horizon(300)
    assert held == Held("index", 301 - first, bound, "rows", store.oldest(since=first).stored_at_us / 1e6)
    absent = Index(f"http://127.0.0.1:{free_port()}", "murmur_test", 100)
    assert absent.held(store) == Held("index", None, bound, "rows")


def test_an_absent_server_is_named() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(IndexDown, match=address):
        Index(address, "murmur_test", 10).search(vector(1), 1)
