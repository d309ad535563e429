"""The audit's comparison of the rankings: what is too low, what is too high, and what only looks like it."""

import time

import pytest

from audit.ledgers.ranking import RankingLedger
from audit.ledgers.run import Finding
from common.tweets import TOTAL


@pytest.fixture
def ranking():
    ledger = RankingLedger()
    ledger.add("r", 50, ("a", "b"))
    ledger.add("r", 50, ("a",))
    return ledger


def check(ranking, counts, *runs, **more):
    """With these counts in Redis, read after all that was taken."""
    ranking.settle()
    return compare(ranking, counts, *runs, **more)


def compare(ranking, counts, *runs, **more):
    ranking.forget_shown(float("-inf"))
    ranking.shown(counts)
    return ranking.check(runs or ("r", "again"), time.monotonic() + 600, **more)


EXACT = {(50, TOTAL): 2, (50, "a"): 2, (50, "b"): 1}


def test_exact_rankings_are_clean(ranking):
    assert check(ranking, EXACT).clean
    assert check(ranking, EXACT).expected == 2


@pytest.mark.parametrize("key", EXACT)
def test_a_count_too_low_is_missing_and_one_too_high_is_a_repeat(ranking, key):
    assert check(ranking, EXACT | {key: EXACT[key] - 1}).missing == 1
    assert check(ranking, EXACT | {key: EXACT[key] + 1}).duplicated == 1


def test_a_hashtag_that_nobody_tweeted_is_a_repeat(ranking):
    assert check(ranking, EXACT | {(50, "c"): 1}).duplicated == 1


def test_a_repeated_tweet_counts_once(ranking):
    ranking.repeat("r", 50, ("a",), 50, ("a",))
    assert check(ranking, EXACT) == Finding(3, 2, already_known=1, detail={
        "hashtags_expected": 3, "hashtags_found": 3})
    assert check(ranking, EXACT | {(50, TOTAL): 3}).duplicated == 1


def test_a_tweet_replayed_at_another_time_may_count_in_either_bucket(ranking):
    ranking.repeat("again", 90, ("a",), 50, ("a",))
    again = {(90, TOTAL): 1, (90, "a"): 1}
    assert check(ranking, EXACT).clean
    assert check(ranking, EXACT | again).clean
    assert check(ranking, EXACT | {(90, TOTAL): 2, (90, "a"): 1}).duplicated == 1


def test_only_the_buckets_of_the_run_are_judged(ranking):
    ranking.add("other", 70, ())
    assert check(ranking, EXACT, "r").clean
    assert check(ranking, EXACT, "other").missing == 1


def test_what_was_enriched_while_the_counts_were_read_may_be_in_them_or_not(ranking):
    ranking.settle()
    ranking.add("r", 50, ("a",))
    more = {(50, TOTAL): 3, (50, "a"): 3, (50, "b"): 1}
    assert compare(ranking, EXACT).clean
    assert compare(ranking, more).clean
    assert compare(ranking, more | {(50, TOTAL): 4}).duplicated == 1
    assert check(ranking, EXACT).missing == 2


def test_of_a_bucket_that_redis_has_let_go_the_highest_count_of_the_stream_holds(ranking):
    for count in (1, 2, 1):
        ranking.streamed({(*key, 1, 0): min(count, most) for key, most in EXACT.items()})
    assert check(ranking, {}, horizon=51).clean
    assert check(ranking, {}, horizon=50).missing == 5


def test_shards_are_added_up_and_of_several_numbers_of_them_the_highest_sum_holds(ranking):
    """Some were counted by one shard, before there were two."""
    ranking.streamed({(50, TOTAL, 1, 0): 1, (50, "b", 1, 0): 1})
    ranking.streamed({(50, TOTAL, 2, 0): 1, (50, TOTAL, 2, 1): 1, (50, "a", 2, 0): 1, (50, "a", 2, 1): 1})
    assert check(ranking, {}, horizon=51).clean
    ranking.streamed({(50, TOTAL, 3, 2): 3})
    assert check(ranking, {}, horizon=51).duplicated == 1


def test_a_bucket_that_nobody_holds_any_more_aged_out(ranking):
    finding = check(ranking, {}, gone=50)
    assert (finding.missing, finding.aged_out, finding.found) == (0, 2, 2)
    assert check(ranking, {}, gone=45).missing == 5


def test_a_bucket_that_retention_took_from_its_reader_is_lost_and_not_missing(ranking):
    finding = check(ranking, {(50, TOTAL): 1, (50, "a"): 1, (50, "b"): 1}, lost=[(45, 50)])
    assert (finding.missing, finding.lost_to_retention, finding.expected, finding.found) == (0, 1, 1, 1)
    assert check(ranking, {}, lost=[(55, 60)]).missing == 5
    assert check(ranking, EXACT | {(50, "a"): 3}, lost=[(45, 50)]).duplicated == 1


def test_a_bucket_that_was_given_up_stays_so_when_nobody_holds_it_any_more(ranking):
    finding = check(ranking, {}, gone=50, lost=[(45, 50)])
    assert (finding.missing, finding.aged_out, finding.lost_to_retention) == (0, 0, 2)


def test_given_up_buckets_are_named_though_nothing_of_them_is_short(ranking):
    assert check(ranking, EXACT, lost=[(45, 50), (60, 70)]).lost_buckets == [(45, 50)]


@pytest.mark.parametrize(("cut", "span", "named"), [
    (60, (40, 55), True), (60, (50, 90), True), (60, (10, 40), False), (60, (55, 90), False), (40, (40, 55), False),
])
def test_given_up_buckets_are_named_though_the_stream_has_nothing_of_them_any_more(ranking, cut, span, named):
    found = check(ranking, {}, "gone", cut=cut, spans=[span], lost=[(45, 50)])
    assert found.lost_buckets == ([(45, 50)] if named else [])


def test_no_count_is_too_high_where_tweets_were_cut_off(ranking):
    high = EXACT | {(50, TOTAL): 9}
    assert check(ranking, high, cut=49).duplicated == 7
    assert check(ranking, high, cut=50).clean


def test_what_was_passed_over_may_be_counted_or_not(ranking):
    ranking.pass_over(50, ("a",))
    assert check(ranking, EXACT).clean
    assert check(ranking, {(50, TOTAL): 1, (50, "a"): 1, (50, "b"): 1}).clean
    assert check(ranking, {(50, TOTAL): 1, (50, "a"): 1}).missing == 1
