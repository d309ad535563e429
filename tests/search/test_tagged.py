"""On SQLite and on PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from search.filters import Filters
from search.store import Store
from tests.search.conftest import MakeStore
from tests.search.samples import tweet


def ids(store: Store, filters: Filters, first: int = 1, most: int = 10) -> list[int]:
    return [each.tweet_id for each in store.tagged(filters, first, most).tweets]


def test_the_newest_come_first_and_no_more_than_wanted(make_store: MakeStore) -> None:
    store = make_store()
    store.insert([tweet(n, hashtags=["even", "all"] if n % 2 == 0 else ["all"]) for n in range(1, 11)])
    assert ids(store, Filters(tag="even"), 1, 3) == [10, 8, 6]
    assert ids(store, Filters(tag="even"), 5, 100) == [10, 8, 6]
    assert store.tagged(Filters(tag="even"), 1, 1).tweets[0].hashtags == ["even", "all"]


def test_it_tells_whether_there_are_others(make_store: MakeStore) -> None:
    store = make_store()
    store.insert([tweet(n, hashtags=["a"]) for n in range(1, 4)])
    assert [store.tagged(Filters(tag="a"), 1, most).complete for most in (2, 3)] == [False, True]


@pytest.mark.parametrize("hashtag", [
    "日本", "naïve", 'a"b', "back\\slash", "%", "_x_", "<b>x</b>", "\u202eevil", "nul\0", "x" * 140, "a, b", "'; drop",
])
def test_any_hashtag_is_found_and_none_that_only_looks_like_it(make_store: MakeStore, hashtag: str) -> None:
    store = make_store()
    store.insert([tweet(1, hashtags=["other", hashtag]), tweet(2, hashtags=[hashtag + "s", "s" + hashtag]),
                  tweet(3, hashtags=[]), tweet(4, hashtags=["anything", "else"])])
    assert ids(store, Filters(tag=hashtag)) == [1]


def test_what_stands_between_two_hashtags_is_none(make_store: MakeStore) -> None:
    store = make_store()
    store.insert([tweet(1, hashtags=["a", "b"]), tweet(2, hashtags=[","])])
    assert ids(store, Filters(tag=",")) == [2]


def test_the_other_filters_hold_as_well(make_store: MakeStore) -> None:
    store = make_store()
    store.insert([
        tweet(n, hashtags=["a"], lang="de" if n % 2 else "en", created_at=f"2026-03-01T10:0{n}:00.000Z")
        for n in range(1, 7)
    ])

    def found(**others: object) -> list[int]:
        return ids(store, Filters(tag="a", **others))

    third = datetime(2026, 3, 1, 10, 3, tzinfo=UTC)
    assert found(lang="de") == [5, 3, 1]
    assert found(since=third) == [6, 5, 4, 3]
    assert found(until=third) == [3, 2, 1]
    assert found(lang="en", since=third, until=third.replace(minute=5)) == [4]


def test_what_is_forgotten_has_no_hashtag(make_store: MakeStore) -> None:
    store = make_store()
    store.insert([tweet(1, hashtags=["a"]), tweet(2, "", late=True, deletes="tweet", deleted_id=1)])
    assert ids(store, Filters(tag="a")) == []
