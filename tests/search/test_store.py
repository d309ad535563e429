import socket
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from common.storage.held import Held
from common.tweets import Ingest
from search import database
from search import store as store_module
from search.store import RunRows, Store
from tests.search.conftest import MakeStore
from tests.search.samples import tweet
from tests.search.servers import POSTGRES_PORTS, first_free, free_port


def test_a_stored_row_is_on_disk(make_store: MakeStore, request: pytest.FixtureRequest) -> None:
    """SQLite syncs every commit; the PostgreSQL of these tests was started with fsync=off, and says so."""
    expected = "page-cache" if "postgresql" in request.node.name else "fsync"
    assert make_store().durability() == expected


def test_a_server_that_accepts_and_does_not_answer_fails_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "CONNECT_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        store = Store(f"postgresql+psycopg://u@127.0.0.1:{server.getsockname()[1]}/tweets", 10)
        with pytest.raises(OperationalError, match="timeout"):
            store.newest_position()


def test_no_message_tells_what_people_wrote(tmp_path: Path) -> None:
    """Messages come into logs, which keep what was deleted."""
    store = Store(f"sqlite:///{tmp_path / 'tweets.db'}", 10)
    store.insert([tweet(1)])
    with store._connection(writes=True) as connection:
        connection.exec_driver_sql("DROP TABLE tweets")
    with pytest.raises(OperationalError) as failed:
        store.insert([tweet(number, text="a secret") for number in range(2, 5)])
    assert "no such table" in str(failed.value)
    assert "a secret" not in str(failed.value)


@pytest.mark.server
def test_postgresql_listens_where_no_connection_of_others_can_be(postgres: str) -> None:
    """Any of the ports that the system gives may be taken between the look and the start."""
    assert make_url(postgres).port in POSTGRES_PORTS


def test_a_port_that_somebody_has_is_passed_over() -> None:
    first = first_free(POSTGRES_PORTS)
    with socket.create_server(("127.0.0.1", first)):
        assert first_free(POSTGRES_PORTS) > first
        with pytest.raises(AssertionError, match=f"{first}"):
            first_free(range(first, first + 1))


def test_what_was_stored_comes_back(make_store: MakeStore) -> None:
    big = (1 << 62) + 1
    text = "RT @a: naïve 😂 &amp; https://t.co/x"
    store = make_store()
    store.insert([tweet(big, text, hashtags=["日本", "b"], late=True, lang="ja")])
    row = make_store().get([big, 5])[big]
    assert (row.text, row.clean_text, row.hashtags, row.late) == (text, "naïve 😂 &", '["日本","b"]', True)
    assert (row.created_at_us, row.author_id, row.lang) == (1_772_359_200_250_000, "7", "ja")
    assert (row.run, row.seq) == ("r", big)


def test_the_first_row_of_a_tweet_stays(make_store: MakeStore) -> None:
    store = make_store()
    first = store.insert([tweet(1, "first"), tweet(2), tweet(1, "second")])
    again = store.insert([tweet(2, "third"), tweet(3)])
    assert first.new == {1, 2}
    assert again.new == {3}
    assert again.positions == {2: first.positions[2], 3: 3}
    assert {i: row.text for i, row in store.get([1, 2, 3]).items()} == {1: "first", 2: "a text", 3: "a text"}


def test_positions_have_no_gaps_whoever_writes(make_store: MakeStore) -> None:
    stores = [make_store(), make_store()]
    stores[0].insert([tweet(0)])

    def write(store: Store, residue: int) -> None:
        for start in range(residue, 400, 20):
            store.insert([tweet(i) for i in range(start, start + 30)])  # overlaps the other's

    threads = [Thread(target=write, args=(store, 10 * n)) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    positions = stores[0].positions(range(1000))
    assert sorted(positions.values()) == list(range(1, len(positions) + 1))
    assert len(positions) == 420


def test_the_oldest_rows_go_by_and_by(make_store: MakeStore) -> None:
    store = make_store(max_rows=100)
    for start in range(0, 300, 10):
        store.insert([tweet(1000 - i) for i in range(start, start + 10)])  # ids fall: order is that of storing
        assert store.count() <= 100
    assert store.is_full()
    assert store.positions([701, 702]) == {701: 300, 702: 299}
    assert set(store.ids_between(201, 10_000)) == {1000 - i for i in range(200, 300)}


def test_a_lowered_bound_is_reached_in_small_steps(make_store: MakeStore) -> None:
    make_store().insert([tweet(i) for i in range(500)])
    store = make_store(max_rows=100)
    counts = []
    for i in range(250):
        store.insert([tweet(1000 + i)])
        counts.append(store.count())
    assert max(a - b for a, b in zip([500, *counts], counts, strict=False)) <= 2
    assert counts[-1] > 100  # one row more goes than comes: not there yet
    store.insert([tweet(i) for i in range(2000, 2300)])
    assert store.count() == 100


def test_nul_is_storable(make_store: MakeStore) -> None:
    store = make_store()
    store.insert([tweet(1, "a\0b", author_id="x\0")])
    assert store.get([1])[1].text == "a\ufffdb"


def test_rows_of_a_run(make_store: MakeStore) -> None:
    store = make_store()
    other = Ingest(sent_at_us=1, source="test", run="other", seq=9)
    store.insert([tweet(1), tweet(2), tweet(3, ingest=other)])
    rows, = store.run_seqs("r")
    assert (rows.tweet_ids.tolist(), rows.positions.tolist()) == ([1, 2], [1, 2])
    assert [rows.tweet_ids.tolist() for rows in store.run_seqs("r", since=2)] == [[2]]
    assert [(rows.tweet_ids.tolist(), rows.seqs.tolist()) for rows in store.run_seqs("other")] == [([3], [9])]
    assert not store.is_full()


def of_run(index: int, run: str) -> Ingest:
    return Ingest(sent_at_us=1, source="test", run=run, seq=index)


def test_rows_come_in_the_order_of_positions_and_in_shares(make_store: MakeStore, monkeypatch) -> None:
    monkeypatch.setattr(store_module, "POSITIONS_PER_QUERY", 7)
    store = make_store()
    store.insert([tweet(1000 - i, ingest=of_run(i, "even" if i % 2 == 0 else "odd")) for i in range(30)])
    shares = list(store.run_seqs("even"))
    assert {len(share.seqs) for share in shares} == {3, 4, 1}
    assert [seq for share in shares for seq in share.seqs] == list(range(0, 30, 2))
    assert [position for share in shares for position in share.positions] == list(range(1, 31, 2))
    assert [tweet_id for share in shares for tweet_id in share.tweet_ids] == list(range(1000, 970, -2))
    assert [seq for share in store.run_seqs("even", since=28) for seq in share.seqs] == [28]
    assert list(store.run_seqs("unknown")) == []
    of_runs: dict[str, list[RunRows]] = {}
    for run, share in store.rows_by_run():
        of_runs.setdefault(run, []).append(share)
    assert {run: [seq for share in of_run for seq in share.seqs] for run, of_run in of_runs.items()} == {
        "even": list(range(0, 30, 2)), "odd": list(range(1, 30, 2)),
    }


def test_what_aged_out_is_told_from_what_was_lost(make_store: MakeStore) -> None:
    store = make_store(max_rows=100)
    for start in range(0, 300, 10):
        store.insert([tweet(i) for i in range(start, start + 10)])
    assert store.gaps() == []
    oldest = store.oldest()
    assert (oldest.position, store.oldest_position()) == (201, 201)
    assert [int(seq) for share in store.run_seqs("r") for seq in share.seqs] == list(range(200, 300))
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM tweets WHERE tweet_id IN (220, 221, 250)")
    assert store.gaps() == [(221, 223), (251, 252)]
    assert store.oldest_position() == 201


def test_a_store_says_what_it_holds(make_store: MakeStore) -> None:
    store = make_store(max_rows=100)
    assert store.held() == Held("database", 0, 100, "rows")
    assert (store.oldest(), store.oldest_position()) == (None, 1)
    for start in range(0, 150, 50):
        store.insert([tweet(i) for i in range(start, start + 50)])
    assert store.held() == Held("database", 100, 100, "rows", store.oldest().stored_at_us / 1e6)


@pytest.mark.parametrize("url", ["sqlite:////no/such/folder/tweets.db", "postgresql+psycopg://x:@127.0.0.1:{port}/x"])
def test_a_store_that_is_away_says_its_bound(url: str) -> None:
    assert Store(url.format(port=free_port()), 100).held() == Held("database", None, 100, "rows")


def test_the_file_keeps_its_size_once_rows_go(tmp_path: Path) -> None:
    store, sizes = Store(f"sqlite:///{tmp_path / 'tweets.db'}", max_rows=2000), []
    for start in range(0, 20_000, 500):
        store.insert([tweet(i, f"a text of a tweet, number {i}") for i in range(start, start + 500)])
        sizes.append((tmp_path / "tweets.db").stat().st_size)
    store.close()
    when_full, *_, last = sizes[8:]  # twice the bound: SQLite writes what was logged to the file by and by
    assert last <= 1.3 * when_full


def test_an_empty_batch_and_an_empty_store(make_store: MakeStore) -> None:
    store = make_store()
    assert store.newest_position() == 0
    assert store.get([]) == {}
    assert store.insert([]).new == set()
    assert list(store.run_seqs("r")) == []
