"""The audit's counting: what is lost, what is twice, and what only looks like it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.ledgers.run import Clock, Finding, RunLedger
from audit.ledgers.seqs import BLOCK, Seqs
from common.storage.lost import Lost
from common.tweets import ENRICHED, RAW, REJECTED


@given(st.lists(st.integers(0, 3 * BLOCK)), st.integers(0, 3 * BLOCK), st.integers(0, 3 * BLOCK))
def test_seqs_are_a_set(numbers, first, end):
    seqs, expected = Seqs(), set()
    for number in numbers:
        assert seqs.add(number) is (number not in expected)
        expected.add(number)
    assert len(seqs) == len(expected)
    assert all(number in seqs for number in numbers)
    assert seqs.count(first, end) == sum(first <= number < end for number in expected)
    absent = [number for start, stop in seqs.absent(first, end) for number in range(start, stop)]
    assert absent == [number for number in range(first, end) if number not in expected]


def test_whole_blocks_are_part_of_the_set():
    seqs = Seqs()
    for number in range(2 * BLOCK + 5):
        seqs.add(number)
    assert list(seqs.absent(0, 2 * BLOCK + 7)) == [(2 * BLOCK + 5, 2 * BLOCK + 7)]
    assert not seqs.add(BLOCK + 1)
    assert BLOCK - 1 in seqs


@given(st.lists(st.integers(0, 3 * BLOCK), max_size=20), st.integers(0, 3 * BLOCK), st.integers(0, 3 * BLOCK))
@settings(max_examples=20)
def test_a_range_is_added_as_its_numbers_are(numbers, first, end):
    seqs = Seqs()
    for number in numbers:
        seqs.add(number)
    seqs.add_range(first, end)
    expected = {*numbers, *range(first, end)}
    assert len(seqs) == len(expected) == seqs.count(0, 3 * BLOCK + 1)
    assert seqs.count(first, end) == max(0, end - first)


@pytest.fixture
def run():
    """Three events, of which the last was rejected."""
    ledger = RunLedger("r", acknowledged=3, began_us=1000, rejected=1, tweets=2)
    for seq in range(3):
        ledger.published.add(seq)
        ledger.enriched.add(seq)
    return ledger


def test_a_complete_run_is_clean(run):
    assert run.check_published({}) == Finding(3, 3)
    assert run.check_enriched({}) == Finding(3, 3, detail={"rejected": 1, "late": 0})
    assert run.check_stored(()) == Finding(2, 2)
    assert run.check_indexed(Finding(2, 2), (), 0, 0) == Finding(2, 2)


def test_an_event_that_was_never_acknowledged_is_not_expected(run):
    run.published.add(3)
    run.enriched.add(3)
    assert run.check_published({}) == Finding(3, 3)
    assert run.check_enriched({}).expected == 3


def test_missing_numbers_are_given_as_ranges(run):
    run.acknowledged = 9
    finding = run.check_published({})
    assert (finding.missing, finding.missing_seqs) == (6, [("r", 3, 8)])
    assert run.check_stored([0, 1]).missing_seqs == [("r", 0, 1)]


def test_repeats_are_seen_at_each_stage(run):
    run.repeats.update(published=1, enriched=2, stored=3)
    assert run.check_published({}).duplicated == 1
    assert run.check_enriched({}).duplicated == 2
    assert run.check_stored(()).duplicated == 3
    assert run.check_indexed(Finding(2, 2), (), 4, 0).duplicated == 4


def test_what_was_lost_is_expected_behind_its_reader_no_more(run):
    run.acknowledged = 10
    run.lose(Lost("enrich", "r", 2, 7, "2026-01-01T00:00:00Z"))
    finding = run.check_enriched({})
    assert (finding.expected, finding.lost_to_retention, finding.missing_seqs) == (5, 5, [("r", 8, 9)])
    assert run.check_published({}).missing == 7


@pytest.mark.parametrize(("stream", "stage"), [(RAW, "published"), (ENRICHED, "enriched"), (REJECTED, "enriched")])
def test_numbers_below_the_first_behind_a_cut_aged_out(run, stream, stage):
    run.acknowledged = 10
    for seq in (7, 8, 9):
        run.published.add(seq)
        run.enriched.add(seq)
    cuts = {stream: {0: (1, 2000)}}
    run.truncation(stream).see(0, 1, 7)
    run.truncation(stream).see(0, 1, 9)
    finding = run.check_published(cuts) if stage == "published" else run.check_enriched(cuts)
    assert (finding.missing, finding.aged_out, finding.found) == (0, 4, 10)


def test_a_run_that_is_not_seen_behind_a_cut_aged_out_only_if_it_began_before(run):
    run.acknowledged = 10
    assert run.check_published({RAW: {0: (1, 2000)}}).aged_out == 7
    assert run.check_published({RAW: {0: (1, 500)}}).missing == 7


def test_a_cut_takes_of_a_run_that_is_not_behind_it_only_what_was_sent_before(run):
    run.acknowledged = 10
    for seq in (0, 1, 2, 5, 8):
        run.sent.see(1000 * (seq + 1), seq)
    finding = run.check_enriched({REJECTED: {0: (1, 5000), 1: (1, 2000)}})
    assert (finding.aged_out, finding.missing_seqs) == (2, [("r", 5, 9)])


def test_a_clock_of_a_long_run_stays_small_and_errs_on_later_numbers():
    clock, count = Clock(), 20_000
    for seq in range(count):
        clock.see(seq * 1_000_000, seq)
    assert len(clock._lowest) <= Clock.MARKS
    for since in range(0, count - 10, 997):
        assert since <= clock.first_since(since * 1_000_000) <= since + 10
    assert clock.first_since(count * 1_000_000) > count


def test_findings_add_up():
    total = Finding(1, 1, detail={"late": 1}) + Finding(2, 1, 1, detail={"late": 2, "rejected": 1})
    assert total == Finding(3, 2, 1, detail={"late": 3, "rejected": 1})
    assert not total.clean
