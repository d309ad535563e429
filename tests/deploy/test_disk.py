"""When a disk counts as full."""

from __future__ import annotations

import pytest

from deploy.local.disk import full_share, room


@pytest.mark.parametrize(("total", "left"), [(1 << 30, 0.02 * (1 << 30)), (50 << 30, 1 << 30), (10 << 40, 1 << 30)])
def test_a_disk_is_full_at_two_percent_or_a_gibibyte(total: int, left: float) -> None:
    assert room(total) == round(left)
    assert (1 - full_share(total)) * total == pytest.approx(left)
