"""Means over items that come in clusters and strata: the plain mean of all items, or the mean of categories.

`clusters` and `shares` weigh every cluster alike. A benchmark's score weighs every item alike (one stratum, micro) or
every category (a stratum each, macro), while items about one character are no independent pieces of information.
Value and error here describe that weighted mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dramaturg.measure.estimate import Estimate, check_confidence, check_finite, no_interval, planned_or_used
from dramaturg.measure.shares import BOUND, FEWEST_CLUSTERS, trial_bounds

SHARE = "Clopper-Pearson with the effective number of items, clusters kept together"
DIFFERENCE = "t over clusters, one more cluster that differs in each stratum"

Grouped = Mapping[str, Sequence[tuple[str, float]]]
"""Cluster → its values, each with its stratum; one value for each item, repeats reduced."""


def pooled_share(
    clusters: Grouped, strata: Sequence[str], *, confidence: float = 0.95, n_planned: int | None = None
) -> Estimate:
    """Returns the mean over strata of the mean of their values, with an interval that keeps clusters together.

    The variance of the mean between clusters says how many independent items the values are worth, at most as many as
    there are; the exact interval of so many trials is given. Where the values of each stratum are all the same, its
    clusters count as so many single trials, and the ends are the means of the strata's. A stratum that stands in fewer
    than `FEWEST_CLUSTERS` clusters forbids an interval, and an empty one a value.

    Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data", Survey Methodology 24 (1998); variance of a mean over strata whose
    sizes are given: W. G. Cochran, "Sampling Techniques", 3rd ed., chapters 5A and 9A.

    Args:
        clusters: Cluster → stratum and value, between 0 and 1, of each of its items.
        strata: All of them; one alone gives the plain mean of its items.
        confidence: Nominal coverage.
        n_planned: How many items were planned; as many as used by default.

    Raises:
        ValueError: A value is NaN, infinite or off the scale, its stratum is not named, or an option makes no sense.
    """
    check_confidence(confidence)
    spread = _Spread(clusters, strata, (0.0, 1.0))
    planned = planned_or_used(n_planned, spread.items)
    early = spread.without_interval(planned)
    if early is not None:
        return early
    value, variance, fewest = spread.value, spread.variance, spread.fewest
    if variance < 1e-24:  # values that are all the same leave a rest by rounding
        ends = [_exact(mean, spread.per_stratum[stratum], confidence) for stratum, mean in spread.means.items()]
        low, high = (math.fsum(end) / len(ends) for end in zip(*ends, strict=True))
        reason = "conservative: all values of a stratum are the same"
        return Estimate(value, min(low, value), max(high, value), spread.items, planned, spread.clusters, BOUND, reason)
    from scipy.special import stdtrit

    tail = 0.5 + confidence / 2
    shrink = float(stdtrit(max(spread.items - 1, 1), tail)) / float(stdtrit(fewest - 1, tail))
    effective = min(value * (1 - value) / variance * shrink * shrink, float(spread.items))
    low, high = _exact(value, effective, confidence)
    return Estimate(value, low, high, spread.items, planned, spread.clusters, SHARE)


def pooled_difference(
    clusters: Grouped, strata: Sequence[str], *, confidence: float = 0.95, n_planned: int | None = None
) -> Estimate:
    """Returns the mean over strata of the mean difference, with a t interval that keeps clusters together.

    Few items may differ at all; then the variance that is seen is too small. Each stratum counts one cluster more that
    differs, half of it each way, so that no claim rests on a handful of items.

    Source: as `pooled_share`; the cluster more: after A. Agresti and Y. Min, "Simple improved confidence intervals for
    comparing matched proportions", Statistics in Medicine 24 (2005), here for clusters and without moving the value.

    Args:
        clusters: Cluster → stratum and difference, between −1 and 1, of each item that both have.
        strata: All of them; one alone gives the plain mean of its items.
        confidence: Nominal coverage.
        n_planned: How many items were planned; as many as used by default.

    Raises:
        ValueError: A value is NaN, infinite or off the scale, its stratum is not named, or an option makes no sense.
    """
    check_confidence(confidence)
    spread = _Spread(clusters, strata, (-1.0, 1.0))
    planned = planned_or_used(n_planned, spread.items)
    early = spread.without_interval(planned)
    if early is not None:
        return early
    from scipy.special import stdtrit

    more = math.fsum((1 / (len(strata) * number)) ** 2 for number in spread.per_stratum.values())
    error = math.sqrt(spread.variance + more)
    half = float(stdtrit(spread.fewest - 1, 0.5 + confidence / 2)) * error
    low, high = max(-1.0, spread.value - half), min(1.0, spread.value + half)
    return Estimate(spread.value, low, high, spread.items, planned, spread.clusters, DIFFERENCE)


class _Spread:
    """The mean over strata and its variance between clusters."""

    def __init__(self, clusters: Grouped, strata: Sequence[str], bounds: tuple[float, float]) -> None:
        values: dict[str, list[float]] = {stratum: [] for stratum in strata}
        found_in: Counter[str] = Counter()
        for group in clusters.values():
            for stratum, value in group:
                if stratum not in values:
                    raise ValueError(f"the stratum {stratum!r} of a value is not among {', '.join(strata)}")
                values[stratum].append(value)
            found_in.update({stratum for stratum, _ in group})
        for found in values.values():
            _check(found, bounds)
        self.items = sum(map(len, values.values()))
        self.clusters = sum(bool(group) for group in clusters.values())
        self.empty = [stratum for stratum, found in values.items() if not found]
        self.per_stratum: Mapping[str, int] = found_in
        self.fewest = min(found_in.values(), default=0)
        self.means = {stratum: math.fsum(found) / len(found) for stratum, found in values.items() if found}
        self.value = math.fsum(self.means.values()) / len(values) if self.items and not self.empty else 0.0
        # How far each cluster moves the mean: its values' distances from their stratum's mean, by their weight.
        weights = {stratum: 1 / (len(values) * len(found)) for stratum, found in values.items() if found}
        pulls = [
            math.fsum((value - self.means[stratum]) * weights[stratum] for stratum, value in group)
            for group in clusters.values()
        ]
        scale = self.fewest / (self.fewest - 1) if self.fewest > 1 else 1.0
        self.variance = scale * math.fsum(pull * pull for pull in pulls)

    def without_interval(self, planned: int) -> Estimate | None:
        """Returns the estimate that has no value or no interval, or None where there can be one."""
        if self.items == 0 or self.empty:
            reason = f"no value of {', '.join(self.empty)} was used" if self.items else "no value was used"
            return no_interval(None, n_used=self.items, n_planned=planned, clusters=self.clusters, reason=reason)
        if self.fewest < FEWEST_CLUSTERS:
            counted = "one cluster" if self.fewest == 1 else f"{self.fewest} clusters"
            reason = f"no honest interval: {counted}; at least {FEWEST_CLUSTERS} are needed"
            return no_interval(self.value, n_used=self.items, n_planned=planned, clusters=self.clusters, reason=reason)
        return None


def _check(values: Sequence[float], bounds: tuple[float, float]) -> None:
    check_finite(values)
    if values and not bounds[0] <= min(values) <= max(values) <= bounds[1]:
        raise ValueError(f"a value lies off the scale from {bounds[0]} to {bounds[1]}")


def _exact(value: float, trials: float, confidence: float) -> tuple[float, float]:
    """Returns the exact interval of a share of so many trials; their number need not be whole."""
    lows, highs = trial_bounds(np.asarray([value * trials], dtype=np.float64), trials, confidence)
    return min(float(lows[0]), value), max(float(highs[0]), value)
