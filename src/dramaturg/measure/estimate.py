"""An estimate: a value, its interval, and what both rest on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval. Whatever cannot be said is None, never NaN and never a zero.

    Attributes:
        value: The estimate, or None where no value was used.
        low: Lower end of the interval, or None where there is none.
        high: Upper end of the interval, or None where there is none.
        n_used: Values that went in.
        n_planned: Values that were planned; the rest is missing.
        clusters: Independent units that the interval rests on.
        method: How the interval was computed; empty where there is none.
        reason: Why there is no interval, or what is special about it; empty otherwise.
    """

    value: float | None
    low: float | None
    high: float | None
    n_used: int
    n_planned: int
    clusters: int
    method: str
    reason: str = ""

    def clearly_above(self, other: Estimate) -> bool:
        """Returns whether this interval lies wholly above the other.

        Without both intervals, or where they overlap, the answer is False: such a difference is no ranking.
        The rule is stricter than a test of the difference, which pairs the same scenarios.
        """
        return self.low is not None and other.high is not None and self.low > other.high


def no_interval(value: float | None, *, n_used: int, n_planned: int, clusters: int, reason: str) -> Estimate:
    """Returns the estimate that has a value at most, and says why it has no interval."""
    return Estimate(value, None, None, n_used, n_planned, clusters, "", reason)


def check_finite(values: Iterable[float]) -> None:
    """Refuses what is no number.

    Raises:
        ValueError: A value is NaN or infinite.
    """
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{value} is no measured value; a missing value is left out and counted as missing")


def check_confidence(confidence: float) -> None:
    """Refuses a confidence that is none.

    Raises:
        ValueError: It is not strictly between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it lies between 0 and 1")


def planned_or_used(n_planned: int | None, n_used: int) -> int:
    """Returns how many values were planned: the number given, else as many as were used.

    Raises:
        ValueError: Fewer were planned than used.
    """
    if n_planned is None:
        return n_used
    if n_planned < n_used:
        raise ValueError(f"{n_used} values were used of {n_planned} planned")
    return n_planned
