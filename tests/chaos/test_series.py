"""What failures came to."""

from __future__ import annotations

from chaos.record import Record
from chaos.series import Row, Spread, table


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
