"""The audit over stages in memory: what it reads, what it waits for, what it takes for lost."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from msgspec import structs

from audit import follow
from audit.bounded_reader import TooLate
from common.storage.lost import Lost, record_lost
from common.tweets import BUCKET_SECONDS, ENRICHED, RAW, REJECTED, to_json
from tests.audit.chain import ALL, Chain, check_sums, missing


def test_what_went_through_is_clean(chain: Chain) -> None:
    chain.flow("r", 50)
    stages = chain.stages()
    assert tuple(stages) == ALL
    assert all(finding.clean and finding.expected == finding.found == 50 for finding in stages.values()), stages
    check_sums(stages)


def test_it_judges_what_was_acknowledged_when_it_began_though_a_source_goes_on(chain: Chain) -> None:
    chain.flow("r", 50)
    with chain.audit() as collector:
        collector.follow(dict(chain.manifests))
        reads = 0

        def go_on() -> None:
            nonlocal reads
            reads += 1
            chain.rank(chain.enrich(chain.publish("another", 10), first_id=5_000_000))

        chain.memory.on_poll = go_on
        stages = collector.round(time.monotonic() + 60)
    assert reads < 20
    assert not missing(stages)
    assert stages["published"].expected == 50


def test_the_rankings_come_to_what_was_acknowledged_though_there_is_always_more_to_count(chain: Chain) -> None:
    with chain.audit() as collector:
        uncounted = chain.enrich(chain.publish("r", 10))
        collector.follow(dict(chain.manifests))
        found = []
        for _ in range(4):
            found.append(missing(collector.round(time.monotonic() + 60)).get("ranked", 0))
            chain.search(uncounted)
            chain.rank(uncounted)
            uncounted = chain.enrich(chain.publish("r", 10))
    assert found == [20, 0, 0, 0]


def test_what_was_enriched_while_the_counts_were_read_must_be_counted(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chain.audit() as collector:
        stamps = chain.publish("r", 10)
        collector.follow(dict(chain.manifests))
        read = collector._counts.read

        def enrich_meanwhile(until: float) -> None:
            read(until)
            chain.search(chain.enrich(stamps))
            monkeypatch.undo()

        monkeypatch.setattr(collector._counts, "read", enrich_meanwhile)
        rounds = [missing(collector.round(time.monotonic() + 60)) for _ in range(3)]
    assert rounds[1:] == [{"ranked": 20}] * 2


def test_an_end_that_is_not_reached_in_time_is_no_judgement(chain: Chain) -> None:
    chain.flow("r", 50)
    with chain.audit() as collector:
        collector.follow(chain.manifests)
        with pytest.raises(TooLate, match=RAW):
            collector.round(time.monotonic() - 1)


def test_rankings_are_read_by_the_deadline_too(chain: Chain) -> None:
    chain.flow("r", 50)
    with chain.audit() as collector:
        collector.follow(chain.manifests)
        collector.round(time.monotonic() + 60)
        with pytest.raises(TooLate, match="rankings"):
            collector.round(time.monotonic() - 1)


def test_it_waits_for_what_comes_to_later_stages_later(chain: Chain) -> None:
    stamps = chain.publish("r", 10)
    with chain.audit() as collector:
        collector.follow(chain.manifests)
        until = time.monotonic() + 60
        assert missing(collector.round(until)) == {"enriched": 10}
        tweets = chain.enrich(stamps)
        assert missing(collector.round(until)) == {"ranked": 20, "stored": 10, "indexed": 10}
        chain.rank(tweets)
        assert missing(collector.round(until)) == {"stored": 10, "indexed": 10}
        chain.search(tweets)
        stages = collector.round(until)
    assert all(finding.clean and finding.found == 10 for finding in stages.values()), stages


@pytest.mark.parametrize("stream", [RAW, ENRICHED])
def test_one_that_is_lost_in_a_stream_is_named(chain: Chain, stream: str) -> None:
    chain.flow("r", 50)
    partition = chain.memory.logs[stream].partitions[0]
    partition.events[20:21] = []
    stages = chain.stages()
    stage = "published" if stream == RAW else "enriched"
    assert stages[stage].missing_seqs == [("r", 20, 20)]
    assert missing(stages) == {stage: 1}


@pytest.mark.parametrize("stream", [RAW, ENRICHED])
def test_a_repeat_in_a_stream_is_seen_there_only(chain: Chain, stream: str) -> None:
    chain.flow("r", 50)
    chain.send(stream, [("again", chain.memory.events(stream)[7])])
    stages = chain.stages()
    assert {name for name, finding in stages.items() if finding.duplicated} == (
        {"published"} if stream == RAW else {"enriched"})
    assert not missing(stages)


def test_what_was_read_when_the_database_failed_is_not_missing(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    chain.flow("r", 50)
    positions, failures = chain.store.positions, iter([OSError("the server has gone")])

    def fail(tweets: Iterable[int]) -> dict[int, int]:
        if error := next(failures, None):
            raise error
        return positions(tweets)

    monkeypatch.setattr(chain.store, "positions", fail)
    monkeypatch.setattr(follow, "PAUSE_SECONDS", 0.05)
    with chain.audit() as collector:
        stages = follow.answer(chain.settings, collector, chain.manifests, time.monotonic() + 600)["stages"]
    assert [stage["found"] for stage in stages.values()] == [50] * len(ALL)


def test_a_repeat_in_the_database_is_seen_there_only(chain: Chain) -> None:
    chain.flow("r", 50)
    chain.repeat_row("r", 7)
    stages = chain.stages()
    assert {name: finding.duplicated for name, finding in stages.items() if finding.duplicated} == {"stored": 1}
    assert not missing(stages)


def test_of_a_run_of_which_nothing_is_acknowledged_yet_nothing_is_expected(chain: Chain) -> None:
    chain.enrich(chain.publish("r", 3))
    chain.manifests["r"].acknowledged = 0
    stages = chain.stages()
    assert (stages["stored"].expected, stages["stored"].found, stages["stored"].missing) == (0, 0, 0)


def test_what_was_lost_to_retention_is_listed_and_not_missing(chain: Chain) -> None:
    stamps = chain.publish("r", 50)
    chain.memory.truncate(RAW, 10)
    chain.through(stamps[10:])
    record_lost(chain.settings, [Lost("enrich", "r", 0, 9, "2026-01-01T00:00:00Z")])
    stages = chain.stages()
    assert not missing(stages)
    assert stages["enriched"].lost_to_retention == 10
    assert stages["enriched"].expected == 40
    check_sums(stages)


def test_what_the_search_consumer_gave_up_is_not_expected_in_the_stores(chain: Chain) -> None:
    tweets = chain.enrich(chain.publish("r", 50))
    chain.rank(tweets)
    chain.search([tweet for tweet in tweets if not 20 <= tweet.ingest.seq < 30])
    assert missing(chain.stages()) == {"stored": 10, "indexed": 10}
    record_lost(chain.settings, [Lost("search-consumer", "r", 20, 29, "2026-01-01T00:00:00Z")])
    stages = chain.stages()
    assert not missing(stages)
    assert (stages["stored"].lost_to_retention, stages["indexed"].lost_to_retention) == (10, 10)
    check_sums(stages)


def test_given_up_buckets_of_a_run_that_has_aged_out_of_the_stream_are_named(chain: Chain) -> None:
    chain.flow("gone", 50)
    given_up = chain.now_s // BUCKET_SECONDS * BUCKET_SECONDS
    record_lost(chain.settings, [Lost("trending", "", given_up, given_up, "2026-01-01T00:00:00Z")])
    chain.now_s += 600
    chain.flow("later", 10, first_id=2_000_000)
    assert chain.stages("gone")["ranked"].lost_buckets == [(given_up, given_up)]
    chain.memory.truncate(ENRICHED, 50)
    assert chain.stages("gone")["ranked"].lost_buckets == [(given_up, given_up)]
    assert chain.stages("later")["ranked"].lost_buckets == []


@pytest.mark.parametrize("times", [1, 3])
def test_a_parked_event_counts_once_and_is_not_expected_behind_its_reader(chain: Chain, times: int) -> None:
    tweets = chain.enrich(chain.publish("r", 50))
    chain.rank(tweets[:-1])
    chain.search(tweets[:-1])
    for _ in range(times):
        chain.park("search-consumer", to_json(tweets[-1]), f"{ENRICHED}/0/49")
        chain.park("trending", to_json(tweets[-1]), f"{ENRICHED}/0/49")
    stages = chain.stages()
    assert all(finding.clean for finding in stages.values()), stages
    assert {name: finding.parked for name, finding in stages.items()} == {
        "published": 0, "enriched": 0, "ranked": 1, "stored": 1, "indexed": 1}


def test_an_event_that_only_java_could_not_read_is_not_expected_in_the_rankings(chain: Chain) -> None:
    """Python reads a date without a zone."""
    *others, odd = chain.publish("r", 50)
    chain.through(others)
    (tweet,) = chain.made([odd])
    event = to_json(structs.replace(tweet, created_at=tweet.created_at.removesuffix("Z")))
    chain.send(ENRICHED, [("", event)])
    chain.search([tweet])
    assert missing(chain.stages()) == {"ranked": 2}
    chain.park("trending", event, f"{ENRICHED}/0/49")
    stages = chain.stages()
    assert not missing(stages)
    assert (stages["ranked"].parked, stages["stored"].parked) == (1, 0)


def test_a_parked_event_that_comes_after_it_was_waited_for(chain: Chain) -> None:
    tweets = chain.enrich(chain.publish("r", 50))
    chain.rank(tweets[:-1])
    chain.search(tweets[:-1])
    with chain.audit() as collector:
        until = time.monotonic() + 60
        collector.follow(chain.manifests)
        assert set(missing(collector.round(until))) == {"ranked", "stored", "indexed"}
        chain.park("search-consumer", to_json(tweets[-1]), f"{ENRICHED}/0/49")
        chain.park("trending-consumer", to_json(tweets[-1]), f"{ENRICHED}/0/49")
        assert not missing(collector.round(until))


@pytest.mark.parametrize("garbage", [
    b"\xff", b"[]", b'{"ingest": 5}', b'{"tweet_id":1}', b'{"stage":"\xff"}', b'{"kind":"\xff"}', b"[" * 100_000,
])
def test_what_cannot_be_read_is_counted_and_stops_nothing(chain: Chain, garbage: bytes) -> None:
    chain.flow("r", 50)
    before = {stream: len(chain.memory.events(stream)) for stream in chain.memory.logs}
    for stream in before:
        chain.send(stream, [("", garbage)])
    chain.park("search-consumer", garbage, f"{ENRICHED}/0/50")
    stages = chain.stages()
    assert all(finding.clean for finding in stages.values()), stages
    assert (stages["enriched"].detail["unreadable"], stages["stored"].parked) == (1, 1)
    written = {stream: len(events) - 1 for stream in before if (events := chain.memory.events(stream))}
    assert written == before | {REJECTED: before[REJECTED] + 1}, "an audit writes nothing"
