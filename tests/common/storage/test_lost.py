"""What was lost to retention is kept."""

from common.settings import Settings
from common.storage.lost import Lost, lost_file, read_lost, record_lost

FIRST = Lost("search-consumer", "a", 3, 7, "2026-01-01T00:00:00+00:00")
SECOND = Lost("trending", "", 1_000_000_000, 1_000_000_005, "2026-01-02T00:00:00+00:00")


def test_it_is_read_as_recorded_and_a_torn_line_is_passed_over(tmp_path):
    settings = Settings(home=tmp_path)
    assert read_lost(settings) == []
    settings.state_dir.mkdir(parents=True)
    record_lost(settings, [FIRST])
    whole = lost_file(settings).read_bytes()
    lost_file(settings).write_bytes(whole + b'{"reader":"enr')
    record_lost(settings, [SECOND])
    assert read_lost(settings) == [FIRST, SECOND]
