"""Slope of a series by ordinary least squares, with its 95 % confidence interval. Pure.

Consecutive samples of a backlog are alike (a micro-batch takes away what gathered during the last), so they carry less
information than their number says, and the textbook interval would be too narrow. The number of samples is therefore
replaced by the effective one, n (1 - r) / (1 + r), r being the lag-1 autocorrelation of the residuals (Santer et al.,
"Statistical significance of trends and trend differences in layer-average atmospheric temperature time series", Journal
of Geophysical Research 105, 2000, section 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

CONFIDENCE = 0.95
FEWEST_EFFECTIVE = 3.0
"""With fewer independent samples there is no interval to speak of: it is infinite."""


@dataclass(frozen=True)
class Slope:
    """In units of the series per second; `low` and `high` bound the 95 % confidence interval."""

    value: float
    low: float
    high: float


def slope(at: Sequence[float], values: Sequence[float]) -> Slope:
    """Needs three samples at two different times at least; raises ValueError otherwise."""
    x, y = np.asarray(at, float), np.asarray(values, float)
    if x.size < 3 or np.ptp(x) == 0:
        raise ValueError("a slope needs three samples at different times")
    deviation = x - x.mean()
    spread = float(deviation @ deviation)
    value = float(deviation @ (y - y.mean())) / spread
    residuals = y - y.mean() - value * deviation
    effective = effective_samples(residuals)
    if effective <= FEWEST_EFFECTIVE:
        return Slope(value, -math.inf, math.inf)
    error = math.sqrt(float(residuals @ residuals) / (effective - 2) / spread)
    half = float(student.ppf((1 + CONFIDENCE) / 2, effective - 2)) * error
    return Slope(value, value - half, value + half)


def effective_samples(residuals: np.ndarray) -> float:
    """How many independent samples the residuals are worth; at most their number."""
    total = float(residuals @ residuals)
    if total <= 1e-9 * residuals.size:
        return float(residuals.size)
    r = float(residuals[:-1] @ residuals[1:]) / total
    return residuals.size * (1 - r) / (1 + r) if r > 0 else float(residuals.size)
