"""Deletions, from events to what is found no more."""

from __future__ import annotations

import orjson
import pytest
import redis

from common.settings import Settings
from common.tweets import ENRICHED, enriched_tweet, to_json
from consumers import search as search_module
from consumers.search import index_rows, reconcile
from ingest.sources.base import examine
from ingest.stamp import Stamper
from search import cached_results
from search.encoder import Encoder
from search.index import Index, IndexDown
from search.query import TweetSearch
from search.store import Store
from spark_jobs.accept_or_reject import Rules, enrich_event
from tests.consumers.search.given import TEXTS, place, stand_still
from tests.search.samples import tweet

pytestmark = pytest.mark.server


def post(tweet_id: int, author: str = "ann", **other) -> bytes:
    return to_json(tweet(tweet_id, f"{TEXTS[tweet_id % 3]} {tweet_id}", author_id=author,
                         url=f"https://example.org/{tweet_id}", **other))


def deletion(own_id: int, tweet_id: int) -> bytes:
    return to_json(tweet(own_id, "", late=True, deletes="tweet", deleted_id=tweet_id))


def account_deletion(own_id: int, author: str = "ann") -> bytes:
    return to_json(tweet(own_id, "", late=True, deletes="author", author_id=author))


def generation(settings: Settings) -> int:
    with redis.Redis.from_url(settings.redis_address) as client:
        return cached_results.generation(client, settings.redis_prefix)


def visible(settings: Settings) -> set[int]:
    """Ids that index and database agree on; none that is forgotten may be in either."""
    ids, store = list(Index.open(settings).ids()), Store.open(settings)
    rows = store.get(range(2000))
    shown = {tweet_id for tweet_id, row in rows.items() if not row.forgotten}
    assert sorted(ids) == sorted(shown)
    assert all(rows[tweet_id].text for tweet_id in shown)
    return shown


def test_what_is_deleted_leaves_index_and_database(make, settings: Settings) -> None:
    consumer = make()
    consumer.handle([post(n) for n in range(1, 7)], place)
    before = generation(settings)
    consumer.handle([deletion(101, 1), post(7), deletion(102, 7), deletion(103, 500)], place)
    assert visible(settings) == {2, 3, 4, 5, 6}
    assert generation(settings) > before
    consumer.handle([post(8, "bob"), account_deletion(104)], place)
    assert visible(settings) == {8}
    assert {hit["tweet_id"] for hit in TweetSearch.open(settings).search("storm goals", 10).hits} == {"8"}


def test_payloads_of_a_source_and_their_deletions(make, settings: Settings) -> None:
    """As *enrich* makes events of them."""
    rules, stamper, at = Rules(1 << 20, 600, 120, 100), Stamper("bluesky", "r", 1 << 20), "2026-11-18T11:06:40.000Z"
    payloads: list[dict] = [
        {"id": str(n), "text": TEXTS[n % 3], "author_id": f"did:plc:{n % 4}", "created_at": at,
         "url": f"https://example.org/{n}"} for n in range(1, 41)]
    payloads += [{"delete": {"event_at": at, "tweet": {"id": str(n), "author_id": f"did:plc:{n % 4}"}}}
                 for n in range(1, 11)]
    payloads.append({"user_delete": {"event_at": at, "user": {"id": "did:plc:3"}}})
    raw = [stamper.event(seq, 1_795_000_000_000_000, examine(orjson.dumps({"data": data})))
           for seq, data in enumerate(payloads)]
    outcomes = [enrich_event(event, rules, 1_795_000_000_000_000) for event in raw]
    assert {outcome.stream for outcome in outcomes} == {ENRICHED}
    consumer = make()
    for start in range(0, len(outcomes), 7):
        consumer.handle([outcome.event for outcome in outcomes[start : start + 7]], place)
    assert visible(settings) == {n for n in range(11, 41) if n % 4 != 3}
    store = Store.open(settings)
    assert [sorted(rows.seqs.tolist()) for rows in store.run_seqs("r")] == [list(range(51))]


def test_nothing_is_outdated_where_nothing_was_shown(make, settings: Settings) -> None:
    consumer = make()
    consumer.handle([post(1)], place)
    before = generation(settings)
    consumer.handle([deletion(101, 500), post(2), deletion(102, 2)], place)
    assert generation(settings) == before


def test_a_replay_brings_nothing_back(make, settings: Settings) -> None:
    consumer, all_events = make(), [post(1), post(2), deletion(101, 1), post(3, "bob"), account_deletion(102, "bob")]
    for _ in range(2):
        consumer.handle(all_events, place)
        assert visible(settings) == {2}
    make().handle([post(1), post(3, "bob"), post(4, "bob")], place)
    assert visible(settings) == {2}


def test_a_deletion_that_comes_while_its_tweet_is_on_the_way_into_the_index(
    make, settings: Settings, monkeypatch
) -> None:
    """One member has stored the tweets and stands still; another, which has its share by now, deletes some."""
    one, other = make(), make()
    stand_still(monkeypatch, one, lambda: other.handle([deletion(101, 1), account_deletion(102, "bob")], place))
    one.handle([post(1), post(2), post(3, "bob")], place)
    assert visible(settings) == {2}


def test_a_deletion_that_comes_while_a_known_tweet_is_written_again(make, settings: Settings, monkeypatch) -> None:
    one, other = make(), make()
    Store.open(settings).insert([enriched_tweet(post(n)) for n in (1, 2)])
    stand_still(monkeypatch, one, lambda: other.handle([deletion(101, 1)], place))
    one.handle([post(1), post(2)], place)
    assert visible(settings) == {2}


def test_a_deletion_that_comes_before_rows_are_written_again_after_a_commit_that_failed(
    make, settings: Settings
) -> None:
    one, other = make(), make()
    one.handle([post(1), post(2)], place)
    other.handle([deletion(101, 1)], place)
    one.not_committed()
    assert visible(settings) == {2}


class Killed(Exception):
    """As good as `kill -9`: nothing of the process goes on."""


@pytest.mark.parametrize("step", ["search.index.Index.remove", "search.cached_results.outdate"])
@pytest.mark.parametrize(("batch", "left"), [
    ([deletion(101, 1)], {2, 3}), ([account_deletion(102, "bob")], {1, 2}),
], ids=["tweet", "account"])
def test_a_kill_within_a_deletion_loses_nothing_of_it(
    make, settings: Settings, monkeypatch, step: str, batch: list[bytes], left: set[int]
) -> None:
    consumer = make()
    consumer.handle([post(1), post(2), post(3, "bob")], place)
    before = generation(settings)

    def kill(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(step, kill)
        with pytest.raises(Killed):
            consumer.handle(batch, place)
    make().handle(batch, place)  # the process that is started in its place, and its first events
    assert visible(settings) == left
    assert generation(settings) > before


def test_a_deletion_goes_on_after_an_error_in_between(make, settings: Settings, monkeypatch) -> None:
    """By the same process: it knows yet what the account had."""
    consumer = make()
    consumer.handle([post(1, "bob"), post(2)], place)
    remove, tried = Index.remove, []

    def fail_once(index: Index, positions) -> None:
        if not tried:
            tried.append(positions)
            raise IndexDown("away")
        remove(index, positions)

    monkeypatch.setattr(Index, "remove", fail_once)
    with pytest.raises(IndexDown):
        consumer.handle([account_deletion(102, "bob")], place)
    consumer.handle([account_deletion(102, "bob")], place)
    assert visible(settings) == {2}


def test_without_redis_a_deletion_is_done_and_cached_results_are_outdated_when_it_is_back(
    make, settings: Settings, monkeypatch
) -> None:
    consumer = make()
    consumer.handle([post(1)], place)
    monkeypatch.setattr(consumer, "_redis", redis.Redis(port=1, retry=None))
    consumer.handle([deletion(101, 1)], place)
    consumer.tick()
    monkeypatch.undo()
    before = generation(settings)
    assert visible(settings) == set()
    consumer.tick()
    assert generation(settings) == before + 1
    consumer.tick()
    assert generation(settings) == before + 1


def test_reconciling_takes_out_what_is_forgotten_and_never_brings_it_back(
    settings: Settings, encoder: Encoder, monkeypatch
) -> None:
    monkeypatch.setattr(search_module, "RECENT_US", 0)
    store, index = Store.open(settings), Index.open(settings)
    store.insert([enriched_tweet(post(n)) for n in range(1, 10)])
    index.insert([index_rows(store, encoder, range(1, 6))])
    store.insert([enriched_tweet(deletion(100 + n, n)) for n in (2, 8)])
    reconcile(store, index, encoder)
    assert visible(settings) == set(range(1, 10)) - {2, 8}
    index.remove({2: 2, 500: 5_000})  # not there; nor is that shard


def test_a_deletion_of_what_has_aged_out_of_the_index(make, settings: Settings) -> None:
    consumer = make()
    for start in range(0, 300, 30):
        consumer.handle([post(n) for n in range(start, start + 30)], place)
    consumer.handle([deletion(1001, 1), deletion(1002, 299)], place)
    assert 299 not in Index.open(settings).ids()
    assert [row.text for row in Store.open(settings).get([1, 299]).values()] == ["", ""]
