"""What is lost or twice is not hidden by what was away, parked or repeated."""

from collections import Counter

import pytest

from audit.live.ledger import LedgerKeeper
from common.tweets import BUCKET_SECONDS, ENRICHED, TOTAL, to_json
from tests.audit.live.scene import ROUND, Scene, stage


def bucket(scene: Scene) -> Counter[str]:
    return scene.rankings.buckets[scene.now_s // BUCKET_SECONDS * BUCKET_SECONDS]


@pytest.mark.parametrize("gone", [False, True])
def test_what_was_lost_by_the_rankings_stays_so_without_the_database(scene: Scene, gone: bool) -> None:
    scene.flow("a", 100)
    scene.pass_all()
    bucket(scene)[TOTAL] -= 3
    assert stage(scene.after_a_round(), "ranked")["lost"] == 3
    scene.away = {"database"}
    scene.after_a_round()
    scene.away = set()
    scene.look()
    if gone:
        scene.now_s += 4000
        scene.rankings.buckets.clear()
    assert {stage(scene.look(), "ranked")["lost"] for _ in range(ROUND)} <= {3, None}
    assert stage(scene.look(), "ranked")["lost"] == 3


def test_before_the_database_was_read_nobody_knows_what_the_rankings_lost(scene: Scene) -> None:
    scene.flow("a", 100)
    scene.pass_all()
    bucket(scene)[TOTAL] -= 3
    scene.away = {"database"}
    scene.after_a_round()
    scene.away = set()
    assert {stage(scene.look(), "ranked")["lost"] for _ in range(2 * ROUND)} == {None, 3}


def test_what_was_parked_long_ago_hides_nothing_that_is_lost_now(scene: Scene) -> None:
    old = scene.publish("a", 5)
    scene.search(scene.enrich(old))
    for number, stamp in enumerate(old):
        scene.park("trending", to_json(scene.made([stamp])[0]), f"tweets-enriched/0/{number}")
    scene.pass_all()
    assert stage(scene.after_a_round(), "ranked")["lost"] == 0
    scene.now_s += 4000
    scene.rankings.buckets.clear()
    scene.keeper = LedgerKeeper()
    scene.flow("b", 100, first_id=2_000_000)
    scene.pass_all()
    bucket(scene)[TOTAL] -= 5
    assert stage(scene.after_a_round(), "ranked")["lost"] == 5


def test_a_repeat_that_is_ranked_twice_is_twice(scene: Scene) -> None:
    tweets = scene.flow("a", 100)
    scene.send(ENRICHED, [("", to_json(tweets[7]))])
    scene.search([tweets[7], *tweets[:50]])  # which it reads again, after a kill
    scene.rank([tweets[7]])
    scene.pass_all()
    assert stage(scene.after_a_round(), "ranked")["twice"] == 1
