"""What the ledger says of a chain in memory: its database is real, and so are the accounts in it."""

import logging
from collections import Counter

import pytest

from audit.live.ledger import Counted
from audit.live.numbers import Numbers
from common.tweets import BUCKET_SECONDS, ENRICHED, REJECTED, TOTAL, RejectedEvent, to_json
from search.accounts import BLOCK, Account
from tests.audit.live.scene import Scene, figures, stage

NONE_LOST, NO_STAGE = [0, 0, 0, 0], [None] * 4


def test_before_anything_was_published_it_is_exact(scene: Scene) -> None:
    """Nobody has committed anything yet either."""
    for log in scene.memory.logs.values():
        log.groups = {name: offsets for name, offsets in log.groups.items() if name == "ledger"}
    ledger = scene.after_a_round()
    assert (ledger["state"], ledger["acknowledged"], ledger["rejected"], ledger["late"]) == ("exact", 0, 0, 0)
    assert figures(ledger, "accounted") == NONE_LOST


def test_it_is_unknown_what_is_lost_before_the_first_round_has_ended(scene: Scene) -> None:
    scene.flow("a", 10)
    ledger = scene.look()
    assert ledger["state"] == "unknown"
    assert figures(ledger, "lost")[0] is None
    assert stage(ledger, "enriched")["accounted"] == 10


def test_at_rest_it_is_exact_and_knows_what_aged_out(scene: Scene) -> None:
    scene.flow("a", 5000)
    scene.flow("b", 200, first_id=2_000_000)
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], ledger["acknowledged"]) == ("exact", 5200)
    assert figures(ledger, "accounted") == [5200] * 4
    assert figures(ledger, "in_flight") == figures(ledger, "lost") == figures(ledger, "twice") == NONE_LOST
    assert 5000 < ledger["aged_out"] <= 5100
    scene.delete_rows("position = 1")
    assert stage(scene.after_a_round(), "stored")["lost"] == 0  # of what aged out nobody asks


def test_what_is_under_way_is_in_flight_and_not_lost(scene: Scene) -> None:
    scene.flow("a", 100)
    scene.pass_all()
    scene.after_a_round()
    stamps = scene.publish("a", 20)
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "in_flight")) == ("exact", [20] * 4)
    tweets = scene.enrich(stamps)
    scene.pass_all("enrich")
    scene.store.insert(tweets)
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "in_flight")) == ("exact", [0, 20, 0, 20])
    scene.rank(tweets)
    scene.pass_all("trending", "trending-consumer")
    assert figures(scene.after_a_round(), "in_flight") == [0, 0, 0, 20]


def test_what_all_have_passed_and_nobody_has_is_lost_and_taken_back_if_it_comes(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    scene.flow("a", 100)
    lost = scene.publish("a", 1)
    scene.flow("b", 100, first_id=2_000_000)
    scene.pass_all("enrich")
    assert figures(scene.after_a_round(), "lost")[0] is None
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "lost")) == ("differs", [1, 0, 0, 0])
    assert figures(ledger, "accounted") == [200, 201, 201, 201]
    scene.through(lost)
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "lost")) == ("exact", NONE_LOST)
    assert ["lost" in record.message for record in caplog.records] == [True, True]
    assert "have come" in caplog.records[-1].message


def test_a_repeat_is_told_and_is_no_difference(scene: Scene) -> None:
    tweets = scene.flow("a", 100)
    scene.send(ENRICHED, [("", to_json(tweets[7]))])
    scene.search([tweets[7]])
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "repeated")) == ("exact", [1, 0, 0, 0])
    assert stage(ledger, "ranked")["twice"] == 0


def test_a_tweet_that_came_again_in_another_run_may_count_once_or_twice(scene: Scene) -> None:
    scene.flow("a", 10)
    scene.through(scene.publish("b", 10))  # the same tweets
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "accounted")) == ("exact", [20] * 4)


def test_what_is_ranked_too_little_or_too_often_is_told(scene: Scene) -> None:
    scene.flow("a", 100)
    scene.pass_all()
    scene.after_a_round()
    bucket = scene.now_s // BUCKET_SECONDS * BUCKET_SECONDS
    scene.rankings.buckets[bucket][TOTAL] -= 3
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "lost"), figures(ledger, "twice")) == ("differs", [0, 3, 0, 0], NONE_LOST)
    assert stage(ledger, "ranked")["accounted"] == 97
    scene.rankings.buckets[bucket][TOTAL] += 5
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "lost"), figures(ledger, "twice")) == ("differs", NONE_LOST, [0, 2, 0, 0])


def test_what_was_concluded_of_a_bucket_stays_when_redis_has_let_it_go(scene: Scene) -> None:
    scene.flow("a", 100)
    bucket = scene.now_s // BUCKET_SECONDS * BUCKET_SECONDS
    scene.rankings.buckets[bucket][TOTAL] -= 3
    scene.pass_all()
    scene.after_a_round()
    scene.now_s += 4000
    scene.rankings.buckets.clear()
    assert stage(scene.after_a_round(), "ranked")["lost"] == 3


def test_rows_that_the_index_lacks_or_has_twice_are_told(scene: Scene) -> None:
    scene.flow("a", 100)
    scene.pass_all()
    gone = scene.index.rows.pop(3)
    ledger = scene.after_a_round()
    assert (figures(ledger, "lost"), figures(ledger, "accounted")) == ([*NONE_LOST[1:], 1], [100, 100, 100, 99])
    scene.index.rows += [gone, gone]
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "lost"), figures(ledger, "twice")) == ("differs", NONE_LOST, [0, 0, 0, 1])


def test_rows_that_the_database_has_lost_are_told(scene: Scene) -> None:
    scene.flow("a", 100)
    scene.pass_all()
    scene.delete_rows("position = 50")
    scene.index.rows.remove(1_000_049)
    assert figures(scene.after_a_round(), "lost")[:3] == [0, 0, 1]


def test_rejected_and_parked_events_are_accounted_for(scene: Scene) -> None:
    """The search consumer has parked one that counts in the rankings, and *trending* one that does not."""
    scene.flow("a", 10)
    rejected, parked, unranked = scene.publish("a", 3)
    scene.send(REJECTED, [("", to_json(RejectedEvent("not-json", "", 0, "", rejected, "")))] * 2)
    scene.rank(scene.made([parked]))
    scene.park("search-consumer", to_json(scene.made([parked])[0]), "tweets-enriched/0/77")
    scene.search(scene.enrich([unranked]))
    scene.park("trending", to_json(scene.made([unranked])[0]), "tweets-enriched/0/78")
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], ledger["rejected"], figures(ledger, "lost")) == ("exact", 2, NONE_LOST)
    assert stage(ledger, "enriched")["accounted"] == 13


def test_a_late_tweet_is_not_ranked_and_not_missed(scene: Scene) -> None:
    tweets = scene.enrich(scene.publish("a", 10))
    tweets[0].late = True
    scene.search(tweets)
    scene.rank(tweets[1:])
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], ledger["late"]) == ("exact", 1)


def test_rows_of_two_members_in_any_order_are_one_account(scene: Scene) -> None:
    tweets = scene.enrich(scene.publish("a", 9000))
    for member in (1, 0):
        scene.search(tweets[member::2])
    scene.rank(tweets)
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "accounted")) == ("exact", [9000] * 4)


@pytest.mark.parametrize(("away", "known"), [
    ("database", [False, False, False, False]), ("redis", [True, False, True, True]),
    ("index", [True, True, False, False]),
])
def test_what_cannot_be_read_leaves_its_own_figures_unknown(scene: Scene, away: str, known: list[bool]) -> None:
    scene.flow("a", 10)
    scene.pass_all()
    scene.after_a_round()
    scene.away = {away}
    ledger = scene.after_a_round()
    assert [count is not None for count in figures(ledger, "accounted")] == known
    assert ledger["state"] == "unknown"
    assert ledger["acknowledged"] == 10
    scene.away = set()
    assert scene.look()["state"] == "exact"


def test_a_tweet_that_was_deleted_is_not_missed(scene: Scene) -> None:
    tweets = scene.flow("a", 10)
    (deletion,) = scene.made(scene.publish("a", 1), first_id=5_000_000)
    deletion.deletes, deletion.deleted_id, deletion.late = "tweet", tweets[4].tweet_id, True
    scene.search([deletion])
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "accounted")) == ("exact", [11] * 4)
    scene.index.rows.append(tweets[4].tweet_id)
    assert stage(scene.after_a_round(), "indexed")["twice"] == 1


def test_where_retention_took_rejected_events_it_is_unknown_what_is_lost(scene: Scene) -> None:
    (rejected,) = scene.publish("a", 1)
    scene.send(REJECTED, [("", to_json(RejectedEvent("not-json", "", 0, "", rejected, "")))])
    scene.memory.truncate(REJECTED, 1)
    scene.pass_all()
    ledger = scene.after_a_round()
    assert (ledger["state"], figures(ledger, "lost")[0]) == ("unknown", None)


def test_what_a_transaction_shows_a_moment_later_was_never_called_lost(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.flow("a", 10)
    stamps = scene.publish("a", 10)
    scene.pass_all()
    for _ in range(4):  # in which *enrich* is passed, and the search consumer once
        scene.look()
    scene.through(stamps)
    scene.pass_all()
    assert scene.after_a_round()["state"] == "exact"
    assert not caplog.records


def test_a_database_that_falls_back_has_lost_what_it_had(scene: Scene) -> None:
    counted, all_of_it = Counted(), 3 * BLOCK
    counted.update(all_of_it, all_of_it, Account("r", 3, {}, 0, 0, version=7), Numbers())
    assert (counted.accounted, counted.lost) == (all_of_it, 0)
    counted.update(all_of_it, all_of_it, Account("r", 1, {}, 0, 0, version=2), Numbers())
    assert (counted.accounted, counted.lost) == (BLOCK, 2 * BLOCK)


def test_a_stream_made_anew_begins_a_new_round(scene: Scene) -> None:
    scene.flow("a", 10)
    scene.after_a_round()
    scene.memory.delete_stream(ENRICHED)
    scene.memory.admin.create_stream(ENRICHED, 1)
    scene.pass_all()
    assert scene.after_a_round()["state"] == "exact"
    assert Counter(figures(scene.look(), "in_flight")) == {0: 4}
