from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.tweets import BUCKET_SECONDS, TOTAL, WINDOWS
from consumers.ranking import HORIZON_S, PREVIOUS_S, Rankings

NOW = 1_800_000_000

steps = st.lists(
    st.one_of(
        st.tuples(st.just("advance"), st.integers(-20, 2000)),
        st.tuples(
            st.integers(-HORIZON_S // BUCKET_SECONDS - 3, 24),
            st.dictionaries(st.sampled_from(["", "a", "b", "c", "d", "é"]), st.integers(1, 5)),
        ),
    ),
    max_size=40,
)


def recount(buckets: dict[int, dict[str, int]], end: int, span: int) -> Counter[str]:
    sums: Counter[str] = Counter()
    for start, counts in buckets.items():
        if end - span < start <= end:
            sums.update(counts)
    return sums


def top(sums: Counter[str], limit: int) -> list[tuple[str, int]]:
    return sorted(((t, n) for t, n in sums.items() if t != TOTAL), key=lambda item: (-item[1], item[0]))[:limit]


@given(steps, st.sampled_from([60, 300, 7200]))
def test_sums_by_differences_equal_a_recount(actions, kept_s) -> None:
    rankings, now, horizon = Rankings(3, kept_s), NOW, min(kept_s, HORIZON_S)
    buckets: dict[int, dict[str, int]] = {}
    rankings.advance(now)
    for what, value in actions:
        if what == "advance":
            now += value
            rankings.advance(now)
            as_of = now // BUCKET_SECONDS * BUCKET_SECONDS
            buckets = {start: counts for start, counts in buckets.items() if start > as_of - horizon}
        else:
            start = now // BUCKET_SECONDS * BUCKET_SECONDS + what * BUCKET_SECONDS
            rankings.update(start, value)
            if start > now // BUCKET_SECONDS * BUCKET_SECONDS - horizon:
                kept = buckets.setdefault(start, {})
                kept.update({tag: max(count, kept.get(tag, 0)) for tag, count in value.items()})
    as_of = now // BUCKET_SECONDS * BUCKET_SECONDS
    for window, span in WINDOWS.items():
        ranking = rankings.ranking(window)
        sums = recount(buckets, as_of, span)
        before = [tag for tag, _ in top(recount(buckets, as_of - PREVIOUS_S[window], span), 3)]
        assert ranking["tweets"] == sums[TOTAL]
        assert [(h["hashtag"], h["count"]) for h in ranking["hashtags"]] == top(sums, 3)
        for number, hashtag in enumerate(ranking["hashtags"], 1):
            tag = hashtag["hashtag"]
            assert hashtag["rank"] == number
            assert hashtag["previous_rank"] == (before.index(tag) + 1 if tag in before else None)


@given(st.dictionaries(st.text("abcdefgh", min_size=1, max_size=3), st.integers(1, 9), min_size=50, max_size=200))
def test_the_cut_loses_nobody_of_the_top(counts: dict[str, int]) -> None:
    rankings = Rankings(limit=5)
    rankings.advance(NOW)
    rankings.update(NOW, counts)
    assert [(h["hashtag"], h["count"]) for h in rankings.ranking("1m")["hashtags"]] == top(Counter(counts), 5)


def test_a_bucket_that_comes_behind_the_horizon_is_told_to_have_left_it() -> None:
    """Or else nobody would take it from the list of changes."""
    rankings, late = Rankings(limit=5), NOW - HORIZON_S
    rankings.advance(NOW)
    rankings.update(late, {"a": 1, TOTAL: 1})
    assert rankings.ranking("1h")["tweets"] == 0
    assert rankings.advance(NOW) == [late]
    assert rankings.advance(NOW) == []


@pytest.mark.parametrize(
    ("age", "windows"),
    [(0, "1m 5m 15m 1h"), (55, "1m 5m 15m 1h"), (60, "5m 15m 1h"), (300, "15m 1h"), (900, "1h"), (3600, ""), (-5, "")],
)
def test_bounds_of_the_windows(age: int, windows: str) -> None:
    rankings = Rankings(limit=5)
    rankings.update(NOW - age, {"a": 1, TOTAL: 1})
    rankings.advance(NOW + 4.9)
    assert [window for window in WINDOWS if rankings.ranking(window)["tweets"]] == windows.split()


def test_the_body() -> None:
    rankings = Rankings(limit=2)
    rankings.advance(NOW)
    rankings.update(NOW - 65, {TOTAL: 3, "b": 3})
    rankings.update(NOW, {TOTAL: 3, "a": 2, "b": 1, "c": 1})
    assert rankings.ranking("1m") == {
        "window": "1m",
        "as_of": "2027-01-15T08:00:00Z",
        "tweets": 3,
        "hashtags": [
            {"hashtag": "a", "count": 2, "share": 0.666667, "rank": 1, "previous_rank": None},
            {"hashtag": "b", "count": 1, "share": 0.333333, "rank": 2, "previous_rank": 1},
        ],
    }


def test_windows_empty_themselves_and_memory_too() -> None:
    rankings = Rankings(limit=5)
    rankings.advance(NOW)
    rankings.update(NOW, {"a": 1, TOTAL: 1})
    assert rankings.advance(NOW + 3600) == []
    assert rankings.ranking("1h")["hashtags"] == []
    assert rankings.advance(NOW + HORIZON_S) == [NOW]
