from __future__ import annotations

import math

import numpy as np
import pytest

from loadgen.judge.slope import effective_samples, slope


def test_a_straight_line_is_found_exactly() -> None:
    found = slope(range(10), [3 * n + 1 for n in range(10)])
    assert (found.value, found.low, found.high) == pytest.approx((3, 3, 3))


def test_a_constant_has_no_slope() -> None:
    found = slope(range(10), [5] * 10)
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_the_interval_is_that_of_the_textbook_for_independent_residuals() -> None:
    """Compared with scipy's linregress: slope ± t(n - 2) × its standard error."""
    from scipy.stats import linregress, t

    x, y = np.arange(8.0), np.array([1, -1, 1.5, -0.5, 1, -1, 2, -1])  # residuals alternate: no correlation to correct
    by_scipy = linregress(x, y)
    half = t.ppf(0.975, 6) * by_scipy.stderr
    found = slope(x, y)
    assert (found.value, found.low, found.high) == pytest.approx((by_scipy.slope, by_scipy.slope - half,
                                                                  by_scipy.slope + half))


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_the_true_slope_lies_within_95_of_100_intervals(correlation: float) -> None:
    random = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        noise = np.zeros(240)
        for n in range(1, 240):
            noise[n] = correlation * noise[n - 1] + random.normal()
        found = slope(np.arange(240) / 4, noise + 0.5 * np.arange(240) / 4)
        hits += found.low <= 0.5 <= found.high
    assert 0.92 <= hits / 400 <= 0.98


def test_alike_samples_are_worth_less() -> None:
    blocks = np.repeat([1.0, -1.0] * 10, 10)
    assert effective_samples(blocks) < 30
    assert effective_samples(np.array([1.0, -1.0] * 100)) == 200


def test_too_little_is_refused_and_hardly_enough_has_no_bounds() -> None:
    with pytest.raises(ValueError, match="three samples"):
        slope([1, 1, 1], [1, 2, 3])
    found = slope([0, 1, 2], [0, 1, 3])
    assert (found.low, found.high) == (-math.inf, math.inf)
