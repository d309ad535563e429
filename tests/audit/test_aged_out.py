"""The audit over stages in memory that have reached their bounds: what aged out is told from what is missing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from common.tweets import BUCKET_SECONDS, ENRICHED, HASHTAG_COUNTS, RAW, REJECTED, TOTAL, Ingest, RejectedEvent, to_json
from middleware.data import Start
from tests.audit.chain import LONG_AGO_S, Chain, check_sums, counted, missing


def test_what_aged_out_of_each_store_is_found_and_nothing_is_missing(chain: Chain) -> None:
    """As when 5,120,264 tweets were stored and 5,000,000 rows are kept."""
    chain.flow("r", 3000)
    chain.memory.truncate(RAW, 100)
    stages = chain.stages()
    assert not missing(stages)
    assert {name: finding.aged_out for name, finding in stages.items()} == {
        "published": 100, "enriched": 0, "ranked": 0, "stored": 2000, "indexed": 2900}
    check_sums(stages)


def test_a_run_that_follows_another_through_the_bounds(chain: Chain) -> None:
    chain.flow("old", 1500)
    with chain.audit("tail") as collector:
        chain.flow("new", 1700, first_id=2_000_000)
        collector.follow({"new": chain.manifests["new"]})
        stages = collector.round(time.monotonic() + 60)
    assert not missing(stages)
    assert (stages["stored"].aged_out, stages["indexed"].aged_out) == (700, 1600)
    assert chain.stages("old")["stored"].aged_out == 1500


@pytest.mark.parametrize("start", ["head", "tail"])
@pytest.mark.parametrize("withheld", [0, 5, 1999, 2000, 2998])
def test_one_that_was_never_stored_is_missing_wherever_it_was(chain: Chain, start: str, withheld: int) -> None:
    with chain.audit("tail") as following:
        for _ in range(30):
            tweets = chain.enrich(chain.publish("r", 100))
            chain.rank(tweets)
            chain.search([tweet for tweet in tweets if tweet.ingest.seq != withheld])
        following.follow(chain.manifests)
        stages = following.round(time.monotonic() + 60) if start == "tail" else chain.stages()
    assert stages["stored"].missing == 1, stages["stored"]
    if withheld >= 2000:
        assert stages["stored"].missing_seqs == [("r", withheld, withheld)]
    if withheld >= 2900:
        assert stages["indexed"].missing_seqs == [("r", withheld, withheld)]
    check_sums(stages)


def test_a_row_deleted_above_the_oldest_is_missing_and_one_below_is_not(chain: Chain) -> None:
    chain.flow("r", 3000)
    chain.delete_rows("seq IN (2100, 2500, 2990)")
    stages = chain.stages()
    assert stages["stored"].missing_seqs == [("r", 2100, 2100), ("r", 2500, 2500), ("r", 2990, 2990)]
    assert stages["stored"].aged_out == 2000
    assert not stages["indexed"].missing, "its rows are there"
    chain.delete_rows("seq < 2200")
    assert chain.stages()["stored"].missing_seqs == [("r", 2500, 2500), ("r", 2990, 2990)]


def test_rows_deleted_right_above_the_oldest_are_missing(chain: Chain) -> None:
    chain.flow("r", 3000)
    chain.delete_rows("seq BETWEEN 2001 AND 2003")
    stages = chain.stages()
    assert stages["stored"].missing_seqs == [("r", 2001, 2003)]


def test_a_row_that_the_index_lost_is_missing_and_an_older_one_is_not(chain: Chain) -> None:
    chain.flow("r", 3000)
    chain.index.rows.remove(1_000_000 + 2950)
    assert chain.stages()["indexed"].missing_seqs == [("r", 2950, 2950)]
    chain.index.rows.append(1_000_000 + 2951)
    assert chain.stages()["indexed"].duplicated == 1


@pytest.mark.parametrize("stream", [RAW, ENRICHED])
def test_an_event_missing_behind_the_head_of_a_cut_stream_is_no_retention(chain: Chain, stream: str) -> None:
    chain.flow("gone", 30)
    chain.now_s += 60
    chain.flow("r", 50, first_id=2_000_000)
    chain.memory.truncate(stream, 40)
    partition = chain.memory.logs[stream].partitions[0]
    del partition.events[20], partition.keys[20]
    stages = chain.stages()
    stage = "published" if stream == RAW else "enriched"
    assert stages[stage].missing_seqs == [("r", 30, 30)]
    assert stages[stage].aged_out == 40
    check_sums(stages)


def test_a_run_that_began_behind_the_cut_is_missing_as_a_whole(chain: Chain) -> None:
    chain.flow("old", 30)
    chain.memory.truncate(RAW, 10)
    chain.now_s += 60
    chain.publish("lost", 20)
    partition = chain.memory.logs[RAW].partitions[0]
    del partition.events[-20:], partition.keys[-20:]
    stages = chain.stages("lost")
    assert (stages["published"].missing, stages["published"].aged_out) == (20, 0)


def test_a_cut_of_rejected_tweets_explains_no_later_enriched_one(chain: Chain) -> None:
    def reject(stamp: Ingest) -> None:
        chain.send(REJECTED, [("", to_json(RejectedEvent("x", "", 0, "", stamp, "", stage="enrich")))])

    reject(*chain.publish("old", 1))
    chain.flow("r", 10)
    chain.now_s += 60
    reject(*chain.publish("later", 1))
    chain.memory.truncate(REJECTED, 1)
    chain.now_s += 60
    chain.through(chain.publish("r", 10)[:-3], first_id=2_000_000)
    stages = chain.stages("r")
    assert (stages["enriched"].missing_seqs, stages["enriched"].aged_out) == ([("r", 17, 19)], 0)


@pytest.mark.parametrize("start", ["head", "tail"])
def test_retention_that_overtakes_the_audit_is_told_from_loss(chain: Chain, start: Start) -> None:
    with chain.audit(start) as collector:
        chain.flow("r", 50)
        until = time.monotonic() + 60
        collector.follow(chain.manifests)
        assert not missing(collector.round(until))
        chain.flow("r", 50)
        chain.memory.truncate(RAW, 80)
        collector.follow(chain.manifests)
        stages = collector.round(until)
    assert not missing(stages)
    assert (stages["published"].aged_out, stages["published"].duplicated) == (30, 0)


@pytest.mark.parametrize("start", ["head", "tail"])
def test_only_partitions_that_were_cut_are_marked(tmp_path: Path, start: Start) -> None:
    chain = Chain(tmp_path, partitions=2)
    chain.publish("before", 20)
    first, second = chain.memory.logs[RAW].partitions
    with chain.audit(start) as collector:
        chain.publish("r", 50)
        until = time.monotonic() + 60
        collector.follow(chain.manifests)
        collector.round(until)
        chain.publish("r", 50)
        del second.events[-20], second.keys[-20]
        chain.memory.truncate(RAW, first.end - 10)
        collector.follow({"r": chain.manifests["r"]})
        collector.round(until)
        assert list(collector._readers[RAW].cuts) == [0]


def test_counts_that_were_cut_off_before_a_late_one_aged_out(chain: Chain) -> None:
    chain.now_s = LONG_AGO_S
    tweets = chain.enrich(chain.publish("r", 10))
    chain.search(tweets)
    late = counted(LONG_AGO_S // BUCKET_SECONDS * BUCKET_SECONDS - 300, "a", 1)
    chain.send(HASHTAG_COUNTS, [("a", b"gone"), ("a", late)])
    chain.memory.truncate(HASHTAG_COUNTS, 1)
    stages = chain.stages()
    assert (stages["ranked"].missing, stages["ranked"].aged_out) == (0, 10)


def test_rows_that_go_while_the_audit_reads_aged_out(chain: Chain) -> None:
    chain.flow("r", 1500)
    with chain.audit() as collector:
        collector.follow(chain.manifests)
        polls = 0

        def go_on() -> None:
            nonlocal polls
            polls += 1
            if polls == 2:  # rows were fetched, enriched events not yet read
                chain.flow("others", 1200, first_id=7_000_000)

        chain.memory.on_poll = go_on
        stages = collector.round(time.monotonic() + 60)
    assert polls >= 2
    assert not missing(stages)
    assert stages["stored"].found == 1500
    check_sums(stages)


def test_events_of_two_partitions_age_out_by_the_order_of_each(tmp_path: Path) -> None:
    chain = Chain(tmp_path, partitions=2)
    chain.flow("r", 3000)
    stages = chain.stages()
    assert not missing(stages)
    assert stages["stored"].aged_out == 2000
    chain.delete_rows("seq = 2600")
    assert chain.stages()["stored"].missing_seqs == [("r", 2600, 2600)]


def test_a_tweet_that_comes_again_after_its_row_aged_out_is_stored_again_or_known(chain: Chain) -> None:
    tweets = chain.flow("r", 200)
    again = chain.publish("again", 200)
    repeated = chain.enrich(again)  # the same ids
    chain.search(repeated)
    stages = chain.stages()
    assert stages["stored"].already_known == stages["indexed"].already_known == len(tweets)
    assert stages["ranked"].already_known == 200
    chain.flow("others", 1500, first_id=9_000_000)
    stages = chain.stages()
    assert not missing(stages)
    assert stages["stored"].already_known == 200
    check_sums(stages)


@pytest.mark.parametrize(("kept_s", "set_s"), [(900, 7200), (7200, 900)])
def test_a_bucket_is_looked_for_in_redis_while_it_is_kept_before_and_after_a_rebuild(
    chain: Chain, kept_s: int, set_s: int
) -> None:
    """A longer time holds once its rebuild has ended, a shorter one from its start on: it writes bucket by bucket."""
    chain.settings = chain.settings.model_copy(update={"rankings_kept_s": set_s})
    chain.now_s -= 1000
    chain.rankings.kept_s = str(kept_s)
    chain.search(chain.enrich(chain.publish("r", 10)))
    start = chain.now_s // BUCKET_SECONDS * BUCKET_SECONDS
    chain.send(HASHTAG_COUNTS, [(tag, counted(start, tag, 10)) for tag in ("a", TOTAL)])
    assert not missing(chain.stages())
