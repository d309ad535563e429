"""Deletions in both databases: what they reach, in which order, and that nothing comes back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from common.tweets import EnrichedTweet, Ingest
from search import deletions
from search import store as store_module
from search.store import Store
from search.table import account_of
from tests.search.samples import tweet
from tests.search.servers import postgres_server

URL = "https://example.org/"


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    is_sqlite = request.param == "sqlite"
    made = Store(f"sqlite:///{tmp_path / 'tweets.db'}" if is_sqlite else request.getfixturevalue("postgres"), 1000)
    yield made
    if not is_sqlite:
        with made._engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE IF EXISTS tweets, deleted_accounts")
    made.close()


def post(tweet_id: int, author: str = "ann", second: int = 0, **other: Any) -> EnrichedTweet:
    return tweet(tweet_id, f"#x {tweet_id}", author_id=author, created_at=at(second),
                 **{"hashtags": ["x"], "url": f"{URL}{tweet_id}", **other})


def at(second: int) -> str:
    return f"2026-03-01T10:00:{second:02}.000Z"


def deleted(own_id: int, tweet_id: int, second: int = 59) -> EnrichedTweet:
    return tweet(own_id, "", author_id="ann", late=True, created_at=at(second), deletes="tweet", deleted_id=tweet_id)


def account_deleted(own_id: int, author: str = "ann", second: int = 59) -> EnrichedTweet:
    return tweet(own_id, "", author_id=author, late=True, created_at=at(second), deletes="author")


def texts(store: Store, *ids: int) -> dict[int, str]:
    return {tweet_id: row.text for tweet_id, row in store.get(ids).items()}


def test_a_deleted_tweet_leaves_a_blank_row_and_so_does_the_deletion(store: Store) -> None:
    store.insert([post(1, lang="de"), post(2)])
    stored = store.insert([deleted(9, 1)])
    assert (stored.positions, stored.new, stored.blank, stored.forgotten) == ({9: 3}, {9}, {9}, {1: 1})
    for row in store.get([1, 9]).values():
        assert (row.text, row.clean_text, row.hashtags, row.author_id, row.url, row.forgotten) == (
            "", "", "[]", "", "", True)
        assert (row.run, row.seq, row.source) == ("r", row.tweet_id, "test")
    row = store.get([2])[2]
    assert (row.text, row.url, row.author_id, row.forgotten) == ("#x 2", f"{URL}2", "ann", False)
    assert store.gaps() == []
    assert store.forgotten([1, 2, 9, 5]) == {1: 1, 9: 3}
    assert (store.forgotten_between(1, 3), store.forgotten_between(2, 4)) == ({1: 1}, {9: 3})
    assert list(store.ids_between(1, 10)) == [2]
    (rows,) = store.run_seqs("r")
    assert (rows.tweet_ids.tolist(), rows.forgotten.tolist()) == ([1, 2, 9], [True, False, True])


def test_within_a_batch_a_deletion_reaches_what_stands_before_it(store: Store) -> None:
    stored = store.insert([post(1), deleted(9, 1), deleted(8, 2), post(2)])
    assert (stored.blank, stored.forgotten) == ({1, 9, 8}, {})
    assert texts(store, 1, 2) == {1: "", 2: "#x 2"}


def test_neither_a_repeat_nor_a_replay_brings_a_tweet_back(store: Store) -> None:
    store.insert([post(1)])
    store.insert([deleted(9, 1)])
    again = store.insert([post(1), post(1)])
    assert (again.new, again.positions) == (set(), {1: 1})
    assert texts(store, 1) == {1: ""}


def test_a_repeated_deletion_names_the_row_once_more(store: Store) -> None:
    """Who was to take it out of the index may have died."""
    store.insert([post(1)])
    first, second = store.insert([deleted(9, 1)]), store.insert([deleted(9, 1)])
    assert (first.forgotten, second.forgotten, second.new) == ({1: 1}, {1: 1}, set())


def test_an_account_takes_what_it_wrote_until_then_and_can_be_read_elsewhere(store: Store) -> None:
    theirs, later, no_url, other = post(1), post(2, second=31), post(3, url=""), post(4, "bob")
    store.insert([theirs, later, no_url, other])
    assert store.insert([account_deleted(9, second=30)]).forgotten == {1: 1}
    assert {i for i, text in texts(store, 1, 2, 3, 4).items() if not text} == {1}


def test_what_comes_after_its_account_went_is_stored_blank_if_it_is_older(store: Store) -> None:
    store.insert([account_deleted(9, second=30)])
    stored = store.insert([post(1, second=30), post(2, second=31), post(3, "bob"), post(4, url="")])
    assert stored.blank == {1}
    assert {i for i, text in texts(store, 1, 2, 3, 4).items() if not text} == {1}


def test_a_deletion_of_before_does_not_shorten_a_later_one(store: Store) -> None:
    store.insert([account_deleted(9, second=30)])
    store.insert([account_deleted(8, second=10)])
    assert store.insert([post(1, second=20)]).blank == {1}


def test_only_the_latest_accounts_are_remembered_and_none_by_its_name(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "ACCOUNTS_MAX", 3)
    store.insert([account_deleted(90 + n, f"author-{n}", second=n) for n in range(10)])
    with store._engine.begin() as connection:
        known = connection.exec_driver_sql("SELECT account FROM deleted_accounts").scalars().all()
    assert sorted(known) == sorted(account_of(f"author-{n}") for n in (7, 8, 9))
    assert store.insert([post(n, f"author-{n}") for n in range(10)]).blank == {7, 8, 9}


def test_a_source_is_forgotten_share_by_share_and_the_others_stay(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "POSITIONS_PER_QUERY", 7)
    store.insert([post(n, ingest=Ingest(1, "bluesky" if n % 2 else "http", "r", n)) for n in range(1, 31)])
    store.insert([deleted(99, 3)])
    shares = list(store.forget_source("bluesky"))
    assert max(map(len, shares)) <= 4
    found = {tweet_id: position for share in shares for tweet_id, position in share.items()}
    assert found == {n: n for n in range(1, 31, 2) if n != 3}
    assert {i for i, text in texts(store, *range(1, 31)).items() if not text} == set(range(1, 31, 2))
    assert [share for share in store.forget_source("bluesky") if share] == []
    assert store.gaps() == []


def test_forgotten_rows_age_out_like_others(store: Store) -> None:
    small = Store(str(store._engine.url.render_as_string(hide_password=False)), 10)
    for n in range(1, 100, 2):
        small.insert([post(n), deleted(1000 + n, n)])
    assert (small.count(), small.gaps(), len(small.forgotten_between(1, 1000))) == (10, [], 10)
    small.close()


def test_a_deleted_text_is_not_in_the_pages_of_the_file(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'tweets.db'}", 1000)
    store.insert([tweet(n, f"a text that nobody is to read, number {n}", url=f"{URL}{n}") for n in range(1, 200)])
    store.insert([deleted(1000 + n, n) for n in range(1, 200)])
    with store._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    assert b"that nobody is to read" not in (tmp_path / "tweets.db").read_bytes()


def test_nothing_is_asked_about_tweets_that_can_be_read_nowhere_else(store: Store) -> None:
    """Synthetic ones: the table of deleted accounts costs them nothing, and the index of authors has none of them."""
    store.insert([account_deleted(9)])
    asked: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda *arguments: asked.append(arguments[2]))
    store.insert([post(n, url="") for n in range(1, 20)])
    assert asked
    assert not [statement for statement in asked if "deleted_accounts" in statement]


POSTS = {n: post(n, author, second) for n, (author, second) in enumerate(
    [("ann", 0), ("ann", 20), ("ann", 40), ("bob", 0), ("bob", 40)], 1)}
DELETIONS = {10 + n: deleted(10 + n, n) for n in POSTS}
ACCOUNTS = {20: account_deleted(20, "ann", 10), 21: account_deleted(21, "ann", 30), 22: account_deleted(22, "bob", 30)}
EVENTS = POSTS | DELETIONS | ACCOUNTS


def expected(order: list[int]) -> set[int]:
    """Posts that are forgotten, by the rules."""
    gone = set()
    for n in POSTS.keys() & set(order):
        if 10 + n in order[order.index(n):]:
            gone.add(n)
        if any(ACCOUNTS[a].author_id == POSTS[n].author_id and ACCOUNTS[a].created_at >= POSTS[n].created_at
               for a in ACCOUNTS.keys() & set(order)):
            gone.add(n)
    return gone


@settings(max_examples=150, deadline=None)
@given(order=st.lists(st.sampled_from(sorted(EVENTS)), max_size=25), cuts=st.lists(st.integers(0, 25), max_size=6))
def test_any_order_with_any_repeats_in_any_batches(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], cuts: list[int]
) -> None:
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('any')}/tweets.db", 1000)
    try:
        visible: set[int] = set()
        edges = sorted({0, len(order), *(cut for cut in cuts if cut < len(order))})
        for first, end in pairwise(edges):
            stored = store.insert([EVENTS[n] for n in order[first:end]])
            visible = (visible | (stored.new - stored.blank)) - stored.forgotten.keys()
        rows = store.get(list(EVENTS))
        assert rows.keys() == set(order)
        assert store.gaps() == []
        assert {n for n in POSTS if n in rows and rows[n].forgotten} == expected(order)
        assert all(rows[n].text == ("" if rows[n].forgotten else POSTS[n].text) for n in POSTS if n in rows)
        assert visible == {n for n in rows if not rows[n].forgotten}
        again = store.insert([EVENTS[n] for n in order])
        assert again.new == set()
    finally:
        store.close()
