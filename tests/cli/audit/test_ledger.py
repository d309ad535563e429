"""The audit's counting: what is lost, what is twice, and what only looks like it."""

from collections import Counter

import pytest

from cli.audit.ledger import Finding, RankingLedger, RunLedger
from common.tweets import TOTAL, EnrichedTweet, Ingest


def tweet(tweet_id, *hashtags, run="r", late=False):
    ingest = Ingest(0, "synthetic", run, tweet_id)
    return EnrichedTweet(tweet_id, "2026-03-01T10:00:00.250Z", late, list(hashtags), ingest, "7", "en", "a", "a")


@pytest.fixture
def run():
    """Three events, of which the last was rejected."""
    return RunLedger(
        acknowledged=3, published=Counter({0: 1, 1: 1, 2: 1}), enriched=Counter({0: 1, 1: 1}),
        rejected=Counter({2: 1}), tweets={0: 100, 1: 101},
    )


def test_a_complete_run_is_clean(run):
    assert run.check_published() == Finding(3, 3)
    assert run.check_enriched() == Finding(3, 3, detail={"rejected": 1, "late": 0})
    assert run.check_stored([0, 1], (), False) == Finding(2, 2)
    assert run.check_indexed({100: 1, 101: 1, 999: 1}, ()) == Finding(2, 2)


def test_missing_events_are_seen_at_each_stage(run):
    del run.published[1], run.enriched[1]
    assert run.check_published().missing == 1
    assert run.check_enriched().missing == 1
    assert run.check_stored([0], (), False).missing == 1
    assert run.check_indexed({100: 1}, ()).missing == 1


def test_repeats_are_seen_at_each_stage(run):
    run.published[1] += 1
    run.rejected[1] += 1  # enriched *and* rejected is twice, too
    assert run.check_published().duplicated == 1
    assert run.check_enriched().duplicated == 1
    assert run.check_stored([0, 1, 1], (), False).duplicated == 1
    assert run.check_indexed({100: 2, 101: 1}, ()).duplicated == 1


def test_an_event_that_was_never_acknowledged_is_not_expected(run):
    run.published[3], run.enriched[3], run.tweets[3] = 1, 1, 103
    assert run.check_published() == Finding(3, 3)
    assert run.check_stored([0, 1], (), False) == Finding(2, 2)


def test_a_tweet_stored_by_another_run_is_already_known(run):
    finding = run.check_stored([0], {101}, False)
    assert (finding.found, finding.missing, finding.already_known) == (1, 0, 1)


def test_a_tweet_that_comes_twice_in_a_run_is_already_known(run):
    run.acknowledged, run.tweets[2] = 4, 100
    finding = run.check_stored([0, 1], {100, 101}, False)
    assert (finding.found, finding.missing, finding.already_known) == (2, 0, 1)


def test_what_aged_out_counts_as_found_and_is_named(run):
    assert run.check_stored([1], (), True) == Finding(2, 2, detail={"aged_out": 1})
    assert run.check_indexed({101: 1}, {100}) == Finding(2, 2, detail={"aged_out": 1})


@pytest.fixture
def ranking():
    ledger = RankingLedger()
    ledger.add(tweet(1, "a", "b"), 50)
    ledger.add(tweet(2, "a"), 50)
    ledger.add(tweet(3, "a", late=True), 50)
    return ledger


EXACT = {(50, TOTAL): 2, (50, "a"): 2, (50, "b"): 1}


def test_exact_rankings_are_clean_and_late_tweets_do_not_count(ranking):
    assert ranking.check(["r"], EXACT).clean
    assert ranking.check(["r"], EXACT).expected == 2


@pytest.mark.parametrize("key", EXACT)
def test_a_count_too_low_is_missing_and_one_too_high_is_a_repeat(ranking, key):
    assert ranking.check(["r"], EXACT | {key: EXACT[key] - 1}).missing == 1
    assert ranking.check(["r"], EXACT | {key: EXACT[key] + 1}).duplicated == 1


def test_a_hashtag_that_nobody_tweeted_is_a_repeat(ranking):
    assert ranking.check(["r"], EXACT | {(50, "c"): 1}).duplicated == 1


def test_a_repeated_tweet_counts_once(ranking):
    ranking.add(tweet(2, "a"), 50)
    assert ranking.check(["r"], EXACT) == Finding(3, 2, already_known=1, detail={
        "hashtags_expected": 3, "hashtags_found": 3})
    assert ranking.check(["r"], EXACT | {(50, TOTAL): 3}).duplicated == 1


def test_a_tweet_replayed_at_another_time_may_count_in_either_bucket(ranking):
    ranking.add(tweet(2, "a", run="again"), 90)
    again = {(90, TOTAL): 1, (90, "a"): 1}
    assert ranking.check(["r", "again"], EXACT).clean
    assert ranking.check(["r", "again"], EXACT | again).clean
    assert ranking.check(["r", "again"], EXACT | {(90, TOTAL): 2, (90, "a"): 1}).duplicated == 1


def test_only_the_buckets_of_the_run_are_judged(ranking):
    ranking.add(tweet(9, run="other"), 70)
    assert ranking.check(["r"], EXACT).clean
    assert ranking.check(["other"], EXACT).missing == 1


def test_findings_add_up():
    total = Finding(1, 1, detail={"late": 1}) + Finding(2, 1, 1, detail={"late": 2, "rejected": 1})
    assert total == Finding(3, 2, 1, detail={"late": 3, "rejected": 1})
    assert not total.clean
