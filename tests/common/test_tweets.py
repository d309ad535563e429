from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.tweets import EPOCH, rfc3339


def test_moments_are_written_with_milliseconds_always() -> None:
    assert rfc3339(1_790_000_000_000_000) == "2026-09-21T14:13:20.000Z"
    assert rfc3339(1_790_000_000_123_999) == "2026-09-21T14:13:20.123Z"


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_moment_of_the_calendar_is_read_back(moment: datetime) -> None:
    since = moment - EPOCH
    us = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    assert datetime.fromisoformat(rfc3339(us)) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@pytest.mark.parametrize("us", [1 << 62, -(1 << 62)])
def test_what_the_calendar_does_not_have_is_refused(us: int) -> None:
    with pytest.raises(OverflowError):
        rfc3339(us)
