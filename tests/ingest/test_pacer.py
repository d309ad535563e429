import pytest

from ingest.pacer import Pacer

START = 1_000_000_000


def test_the_nth_event_is_due_at_its_time() -> None:
    pacer = Pacer(10, START)
    assert pacer.due(START - 1, 100) == []
    assert pacer.due(START, 100) == [START]
    assert pacer.due(START + 250_000, 100) == [START, START + 100_000, START + 200_000]


def test_a_blocked_publisher_does_not_move_the_schedule() -> None:
    pacer = Pacer(1000, START)
    pacer.took(1)
    due = pacer.due(START + 5_000_000, 10_000)
    assert due == [START + 1000 * n for n in range(1, 5001)]
    pacer.took(100)
    assert pacer.behind_us(START + 5_000_000) == 5_000_000 - 101_000


def test_a_group_is_bounded_and_the_rest_stays_due() -> None:
    pacer = Pacer(1000, START)
    first = pacer.due(START + 10_000, 4)
    pacer.took(len(first))
    assert first + pacer.due(START + 10_000, 100) == [START + 1000 * n for n in range(11)]


@pytest.mark.parametrize("rate", [0.3, 7, 333.3, 16_000])
def test_no_event_is_left_out_or_doubled_however_often_it_is_asked(rate: float) -> None:
    pacer, times = Pacer(rate, START), []
    for now in range(START, START + 3_000_000, 7_919):
        due = pacer.due(now, 10_000)
        assert all(time <= now for time in due)
        pacer.took(len(due))
        times += due
    assert times == [START + int(n * 1_000_000 / rate) for n in range(len(times))]
    assert len(times) == pytest.approx(3 * rate, abs=2 + rate * 0.008)  # up to the last time asked


def test_without_a_rate_all_is_due_now_and_nothing_is_late() -> None:
    pacer = Pacer(None, START)
    assert pacer.due(START + 5, 3) == [START + 5] * 3
    assert pacer.behind_us(START + 10**9) == 0


def test_a_rate_is_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Pacer(0, START)


@pytest.mark.parametrize("rate", [0.3, 7, 333.3, 1000, 16_000])
def test_what_is_scheduled_before_a_time_is_what_becomes_due_before_it(rate: float) -> None:
    pacer = Pacer(rate, START)
    for after in (0, 1, 999, 1000, 1001, 250_000, 999_999, 1_000_000, 3_333_333):
        due = [at for at in pacer.due(START + after, 100_000) if at < START + after]
        assert pacer.scheduled_before(START + after) == len(due)
    assert pacer.scheduled_before(START - 5) == 0
