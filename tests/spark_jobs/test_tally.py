"""Counts of what *enrich* decided: they add up, and survive the way from a worker to the driver."""

from __future__ import annotations

from common.tweets import ENRICHED, REJECTED
from spark_jobs.accept_or_reject import Outcome
from spark_jobs.tally import INSTANT_US, Tally

TWEET = Outcome(b"{}", "1", ENRICHED, None, False, 5 * INSTANT_US + 7)
LATE = Outcome(b"{}", "2", ENRICHED, None, True, 9 * INSTANT_US)
UNSTAMPED = Outcome(b"{}", "3", REJECTED, "not-json", False, None)
STAMPED = Outcome(b"{}", "4", REJECTED, "future", False, 10 * INSTANT_US)
ANCIENT = Outcome(b"{}", "5", REJECTED, "wrong-type", False, 0)


def test_what_is_counted():
    tally = Tally.of([TWEET, TWEET, LATE, UNSTAMPED, STAMPED], 1234)
    assert tally.counts == {
        "rejected": 2, "rejected_not-json": 1, "rejected_future": 1, "late": 1, "unstamped": 1, "bytes": 1234,
    }
    assert tally.instants == {5: 2, 9: 1, 10: 1}
    assert tally.newest == {"enriched": 10 * INSTANT_US, "searchable": 9 * INSTANT_US, "ranked": 5 * INSTANT_US + 7}


def test_nothing_readable_reaches_nothing():
    assert Tally.of([UNSTAMPED], 1).newest == {}
    assert Tally.of([ANCIENT], 1).newest == {"enriched": 0}


def test_parts_add_up_to_the_whole_on_their_way_as_json():
    outcomes = [TWEET, UNSTAMPED, LATE, STAMPED, ANCIENT, TWEET]
    summed = Tally()
    for part in (outcomes[:2], outcomes[2:3], outcomes[3:]):
        summed.add(Tally.from_json(Tally.of(part, 10).to_json()))
    assert summed == Tally.of(outcomes, 30)
