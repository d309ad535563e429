"""What the database tells of what was seen, beside an account in plain sets."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from common.tweets import EnrichedTweet, Ingest
from search import accounts
from search.accounts import BLOCK, COMPLETE, EMPTY, Account, Bucket, merged
from search.store import Store
from tests.search.conftest import MakeStore
from tests.search.samples import tweet


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store(1_000_000)


def event(seq: int, run: str = "r", tweet_id: int | None = None, **more: object) -> EnrichedTweet:
    stamp = Ingest(sent_at_us=1, source="test", run=run, seq=seq)
    return tweet(seq + 1 if tweet_id is None else tweet_id, ingest=stamp, **more)


def seen(account: Account) -> set[int]:
    numbers = set(range(account.whole * BLOCK))
    for number, bits in account.blocks.items():
        places = range(BLOCK) if bits == COMPLETE else np.flatnonzero(
            np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little"))
        numbers |= {number * BLOCK + int(place) for place in places}
    return numbers


def told(store: Store, since: int = 0) -> list[Account]:
    return store.accounts(since)[1]


def test_a_run_without_gaps_is_one_row(store: Store) -> None:
    for start in range(0, 3 * BLOCK, 1000):
        store.insert([event(seq) for seq in range(start, min(start + 1000, 3 * BLOCK))])
    assert told(store) == [Account("r", 3, {}, 0, 0, version=13)]


def test_a_gap_keeps_the_blocks_behind_it_and_no_bits_of_those_that_are_complete(store: Store) -> None:
    store.insert([event(seq) for seq in range(3 * BLOCK) if seq != 5])
    (account,) = told(store)
    assert (account.whole, set(account.blocks), account.blocks[1]) == (0, {0, 1, 2}, COMPLETE)
    assert set(range(3 * BLOCK)) - seen(account) == {5}
    store.insert([event(5)])
    assert told(store) == [Account("r", 3, {}, 0, 0, version=2)]


def test_what_comes_again_is_repeated_wherever_it_stands(store: Store) -> None:
    store.insert([event(seq) for seq in range(BLOCK + 10)])
    store.insert([event(3), event(BLOCK + 3), event(BLOCK + 10), event(BLOCK + 10)])
    (account,) = told(store)
    assert account.repeated == 3
    assert seen(account) == set(range(BLOCK + 11))


def test_what_is_not_stored_is_not_seen(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'tweets.db'}", 100)
    store.insert([event(0)])
    with store._connection(writes=True) as connection:
        refused = "BEFORE INSERT ON seen_blocks BEGIN SELECT RAISE(FAIL, 'full'); END"
        connection.exec_driver_sql(f"CREATE TRIGGER full {refused}")
    with pytest.raises(IntegrityError, match="full"):
        store.insert([event(seq) for seq in range(1, 10)])
    assert store.count() == 1
    assert seen(told(store)[0]) == {0}


def test_runs_are_apart_whatever_they_are_called(store: Store) -> None:
    names = ["r", "R", "ü\0", "' OR 1=1 --"]
    store.insert([event(0, run, number) for number, run in enumerate(names)])
    found = told(store)
    assert {account.run for account in found} == {"r", "R", "ü\ufffd", "' OR 1=1 --"}
    assert all(seen(account) == {0} for account in found)


def test_only_what_has_changed_is_told(store: Store) -> None:
    store.insert([event(1, "a"), event(BLOCK + 1, "a", 5), event(1, "b", 6)])
    version, _ = store.accounts()
    assert store.accounts(version) == (version, [])
    store.insert([event(2 * BLOCK + 1, "a", 7)])
    later, changed = store.accounts(version)
    assert [(account.run, list(account.blocks), account.version) for account in changed] == [("a", [2], later)]
    assert later > version
    assert {account.run for account in told(store, since=later + 1)} == {"a", "b"}, "a version of another database"


def test_a_gap_is_filled_with_all_that_was_complete_behind_it(store: Store) -> None:
    store.insert([event(seq) for seq in range(1, 5 * BLOCK)])
    (account,) = told(store)
    assert (account.whole, sorted(account.blocks)) == (0, [0, 1, 2, 3, 4])
    store.insert([event(0)])
    (account,) = told(store)
    assert (account.whole, account.blocks) == (5, {})


def test_runs_of_which_nothing_has_come_for_longest_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "KEPT_RUNS", 3)
    for number, run in enumerate("abcdadeafg"):
        store.insert([event(number + 1, run)])
    assert [account.run for account in sorted(told(store), key=lambda one: one.version)] == ["a", "f", "g"]
    with store._connection() as connection:
        assert set(connection.exec_driver_sql("SELECT run FROM seen_blocks").scalars()) == {"a", "f", "g"}


def test_the_largest_number_is_one_of_a_block(store: Store) -> None:
    last = (1 << 63) - 1
    store.insert([event(last, tweet_id=1)])
    (account,) = told(store)
    assert list(account.blocks) == [last // BLOCK]


def test_buckets_tell_new_tweets_from_known_ones_and_leave_out_late_ones(store: Store) -> None:
    at = {"created_at": "2026-03-01T10:00:04.999Z"}
    store.insert([event(0, **at), event(1, **at), event(2, late=True, **at), event(3, tweet_id=1, **at)])
    store.insert([event(4, tweet_id=1, created_at="2026-03-01T10:00:05.000Z")])
    start = 1772359200
    assert store.buckets(0) == {start: Bucket(new=2, known=1), start + 5: Bucket(new=0, known=1)}
    assert store.buckets(start + 5) == {start + 5: Bucket(new=0, known=1)}
    assert told(store)[0].late == 1


def test_a_repeated_event_is_none_that_may_be_ranked_once_more(store: Store) -> None:
    at = {"created_at": "2026-03-01T10:00:00.000Z"}
    replayed = [event(0, "again", 1, **at), event(1, "again", 2, **at)]
    store.insert([event(0, **at), event(1, **at), event(1, **at)])
    store.insert([event(2, **at), event(0, **at), *replayed, replayed[1], event(2, **at)])
    store.insert([event(2, **at)])
    assert list(store.buckets(0).values()) == [Bucket(new=3, known=2)]
    assert {account.run: account.repeated for account in told(store)} == {"r": 4, "again": 1}


def test_old_buckets_go(store: Store) -> None:
    store.insert([event(0, created_at="2026-03-01T10:00:00.000Z")])
    store.insert([event(1, created_at="2026-03-02T10:00:05.000Z")])
    assert list(store.buckets(0)) == [1772445605]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3 * BLOCK)), min_size=1, max_size=40),
                max_size=8))
def test_it_is_what_sets_would_hold(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[str, int]]]
) -> None:
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('sets') / 'tweets.db'}", 1_000_000)
    sets: dict[str, set[int]] = {}
    repeated = 0
    for batch in batches:
        store.insert([event(seq, run, 10 * seq + ord(run) % 2) for run, seq in batch])
        for run, seq in batch:
            numbers = sets.setdefault(run, set())
            repeated += seq in numbers
            numbers.add(seq)
    found = told(store)
    assert {account.run: seen(account) for account in found} == sets
    assert sum(account.repeated for account in found) == repeated


def test_a_block_is_complete_with_its_last_number() -> None:
    all_but_one, again = merged(EMPTY, np.arange(1, BLOCK))
    assert (all_but_one[0], again.any()) == (0b11111110, False)
    for block, places, expected in [
        (all_but_one, [0, 1, 0], [False, True, True]), (COMPLETE, [7, 7], [True, True]), (EMPTY, [7, 7], [False, True]),
    ]:
        found, again = merged(block, np.array(places))
        assert again.tolist() == expected
        assert (found == COMPLETE) == (block != EMPTY)
