"""What a user sees of a failure."""

from __future__ import annotations

import pytest

from chaos.failure import Failure
from chaos.provoke import Outcome
from chaos.record import Record
from chaos.series import NotProvoked, Row, Spread
from cli.chaos.display import as_table, begun, not_provoked, recovered

KILL = Record(1_000_000, "kill", "spark", 7, back_after_s=2.1, caught_up_after_s=6.4)
PAUSE = Record(1_000_000, "pause", "spark", 7, until_us=11_000_000)


def test_what_has_begun() -> None:
    assert begun(KILL) == "spark (pid 7) is killed"
    assert begun(PAUSE) == "spark (pid 7) is paused for 10 s"
    assert begun(Record(1, "flush-cache", "redis", None)) == "redis has lost what it held"


@pytest.mark.parametrize(("record", "flows", "expected"), [
    (KILL, True, "back after 2.1 s, caught up after 6.4 s"),
    (Record(1, "kill", "spark", 7, back_after_s=2.1), False, "back after 2.1 s, nothing flows"),
    (Record(1, "kill", "spark", 7, back_after_s=2.1), True, "back after 2.1 s, not caught up after 180 s"),
    (Record(1, "kill", "spark", 7), True, "not back in time"),
    (PAUSE, False, "nothing flows"),
])
def test_how_it_has_recovered(record: Record, flows: bool, expected: str) -> None:
    assert recovered(Outcome(record, flows)) == expected


def test_what_went_wrong_once_it_had_begun() -> None:
    assert recovered(Outcome(PAUSE, False, "it has ended before its time")) == "it has ended before its time"


def test_what_was_left_out() -> None:
    assert not_provoked(NotProvoked(Failure("kill", "spark"), "spark does not run")) == (
        "kill of spark is left out: spark does not run")


def test_the_table() -> None:
    lines = as_table([Row("spark", "kill", 2, Spread(8.5, 9.0), Spread(None, None))]).splitlines()
    assert lines[-1].split() == ["spark", "kill", "2", "8.5", "/", "9.0", "-"]
    assert len({len(line) for line in lines[:2]}) == 1
