"""Intervals for a share of independent yes/no values."""

from __future__ import annotations

import math

from dramaturg.measure.estimate import Estimate, check_confidence, no_interval, planned_or_used


def wilson_interval(yes: int, n: int, *, confidence: float = 0.95, n_planned: int | None = None) -> Estimate:
    """Returns the share of yes with Wilson's score interval.

    Holds for independent values; answers about one transcript are not (see `clusters`). It never has zero width.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).

    Args:
        yes: How many were yes.
        n: Of how many.
        confidence: Nominal coverage.
        n_planned: How many values were planned; `n` by default.

    Raises:
        ValueError: The counts or the confidence make no sense.
    """
    check_confidence(confidence)
    if not 0 <= yes <= n:
        raise ValueError(f"{yes} yes of {n} is no share")
    planned = planned_or_used(n_planned, n)
    if n == 0:
        return no_interval(None, n_used=0, n_planned=planned, clusters=0, reason="no value was used")
    low, high = wilson_bounds(yes, n, confidence)
    return Estimate(yes / n, low, high, n, planned, n, "Wilson")


def wilson_bounds(yes: float, n: int, confidence: float) -> tuple[float, float]:
    """Returns both ends of Wilson's interval for `yes` of `n` values, n at least 1."""
    from scipy.special import ndtri

    z = float(ndtri(0.5 + confidence / 2))
    share = yes / n
    denominator = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / denominator
    half = z / denominator * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At the ends the exact values are 0 and 1; rounding would leave them a hair away.
    low = 0.0 if yes == 0 else max(0.0, centre - half)
    high = 1.0 if yes == n else min(1.0, centre + half)
    return low, high
