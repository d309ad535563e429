"""What `murmur load compare` makes of its searches."""

from __future__ import annotations

import pytest

from cli.load.compare import status
from loadgen.comparison import Run


def run(highest_pass: float | None, lowest_fail: float | None) -> Run:
    return {"capacity": {"highest_pass": highest_pass, "lowest_fail": lowest_fail}}


PASSED, FAILED, BROKEN = run(100, 200), run(None, 50), run(None, None)


@pytest.mark.parametrize(("runs", "expected"), [
    ([PASSED, PASSED], 0), ([PASSED, FAILED], 1), ([PASSED, BROKEN], 3), ([BROKEN, FAILED], 3),
])
def test_status(runs: list[Run], expected: int) -> None:
    assert status(runs) == expected
