"""What failures came to."""

from __future__ import annotations

from itertools import repeat
from pathlib import Path

import pytest
import redis

from chaos import recovery, series
from chaos.failure import Failure, Refused
from chaos.provoke import Outcome
from chaos.record import Record
from chaos.schedule import Planned
from chaos.series import NotProvoked, Row, Spread, run, table
from common.process.manager import NotAnswering, NotRunning
from common.settings import Settings


def test_a_table_has_a_row_for_each_process_and_kind() -> None:
    records = [
        Record(1, "kill", "spark", 1, back_after_s=8.0, caught_up_after_s=20.0),
        Record(2, "pause", "spark", 2, until_us=3, caught_up_after_s=3.0),
        Record(4, "kill", "spark", 2, back_after_s=9.0),
        Record(5, "kill", "redis", 3, back_after_s=0.4, caught_up_after_s=0.9),
    ]
    none = Spread(None, None)
    assert table(records) == [
        Row("redis", "kill", 1, Spread(0.4, 0.4), Spread(0.9, 0.9)),
        Row("spark", "kill", 2, Spread(8.5, 9.0), Spread(20.0, 20.0)),
        Row("spark", "pause", 1, none, Spread(3.0, 3.0)),
    ]


KILL = Failure("kill", "spark")


@pytest.mark.parametrize("error", [each("why") for each in (Refused, NotRunning, NotAnswering, redis.ConnectionError)])
def test_what_cannot_begin_is_left_out_and_the_series_goes_on(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outcome = Outcome(Record(1, "kill", "spark", 7, back_after_s=1.0), flows=False)
    ends = iter([error, outcome])

    def provoke(*_: object) -> Outcome:
        end = next(ends)
        if isinstance(end, Exception):
            raise end
        return end

    monkeypatch.setattr(recovery, "USUAL_S", 0.0)
    monkeypatch.setattr(series, "provoke", provoke)
    told: list[Outcome | NotProvoked] = []
    away = Settings(home=tmp_path, redis_url="redis://127.0.0.1:1/0")
    planned = [Planned(0.0, KILL)] * 2
    found = run(away, planned, 60.0, tell=lambda record: None, ended=told.append)
    assert found == told == [NotProvoked(KILL, "why"), outcome]


def test_a_series_over_processes_that_are_gone_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "USUAL_S", 0.0)
    away = Settings(home=tmp_path, redis_url="redis://127.0.0.1:1/0")
    found = run(away, repeat(Planned(0.1, KILL)), 1.0, tell=lambda record: None, ended=lambda end: None)
    assert found
    assert all(isinstance(end, NotProvoked) and "not running" in end.why for end in found)
