"""The interval of a mean share over clusters: the one method that holds its coverage, and a bound where none does.

What was tried is in ``bench/coverage.py``. Student's t covers too seldom where shares lie near 0 or 1, the bootstrap-t
where clusters are of unequal size; the interval here covers between 93 % and 97 % where they do not. In a wider check
(3 to 100 clusters, means 0.5 to 0.99, intraclass correlation up to 0.7) it fell below 93 % in 14 of 1,280 designs, all
of a correlation of 0.5 or more, and never below 91 %.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dramaturg.measure.clusters import Clusters, used_means
from dramaturg.measure.estimate import Estimate, check_confidence, no_interval

FEWEST_CLUSTERS = 3
"""Clusters from which an interval is given: with two it would cover in 88 to 93 % of samples."""

LEAST_LOSS = 1 / 16
"""Least distance of the sum of means from either end, in clusters. Nearer to it the few losses say too little of the
spread, and clusters that lose much may not have been seen."""

METHOD = "skewness-corrected t over cluster means"
BOUND = "Clopper-Pearson over clusters"

Numbers = NDArray[np.float64]


def cluster_interval(clusters: Clusters, *, confidence: float = 0.95, n_planned: int | None = None) -> Estimate:
    """Returns the mean of the cluster means, values between 0 and 1, with the interval that holds its coverage.

    With one or two clusters there is none. Where all means are equal, or together closer to 0 or 1 than
    `LEAST_LOSS`, the clusters count as so many single trials: a bound that covers more often than it says.
    Elsewhere see `skewed_bounds`. The rule looks at the means alone.

    Args:
        clusters: Cluster → its values between 0 and 1. A cluster without values is left out.
        confidence: Nominal coverage.
        n_planned: How many values were planned; as many as used by default.

    Raises:
        ValueError: A value is NaN, infinite or off the scale, or the confidence makes no sense.
    """
    check_confidence(confidence)
    used, planned, means = used_means(clusters, n_planned, (0.0, 1.0))
    count = len(means)
    if count == 0:
        return no_interval(None, n_used=0, n_planned=planned, clusters=0, reason="no value was used")
    value = math.fsum(means) / count
    if count < FEWEST_CLUSTERS:
        counted = "one cluster" if count == 1 else f"{count} clusters"
        reason = f"no honest interval: {counted}; at least {FEWEST_CLUSTERS} are needed"
        return no_interval(value, n_used=used, n_planned=planned, clusters=count, reason=reason)
    table = np.asarray([means], dtype=np.float64)
    lows, highs, bounded = share_bounds(table, confidence)
    method, reason = METHOD, ""
    if bounded[0]:
        method, reason = BOUND, "conservative: " + _why_bounded(means)
    low, high = min(float(lows[0]), value), max(float(highs[0]), value)
    return Estimate(value, low, high, used, planned, count, method, reason)


def share_bounds(means: Numbers, confidence: float) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Returns the intervals of many samples at once, and which of them are bounds alone.

    Args:
        means: A row of cluster means for each sample, at least `FEWEST_CLUSTERS` of them.
        confidence: Nominal coverage.
    """
    count = means.shape[1]
    sums = means.sum(axis=1)
    # Sums of equal means differ by rounding alone.
    bounded = (np.ptp(means, axis=1) < 1e-12) | (np.minimum(sums, count - sums) < LEAST_LOSS - 1e-12)
    lows, highs = trial_bounds(sums, count, confidence)
    usual = ~bounded
    if usual.any():
        lows[usual], highs[usual] = skewed_bounds(means[usual], confidence)
    return lows, highs, bounded


def skewed_bounds(means: Numbers, confidence: float) -> tuple[Numbers, Numbers]:
    """Returns the skewness-corrected intervals of samples whose means differ and lie inside the scale.

    Each end is the mean of two: Student's t on the log-odds, which knows of the skewness that a share near an end has
    anyway, and Hall's transformed t, which corrects for the skewness that the sample shows. The latter is counted only
    towards the far end, and the less the nearer the share is to one half, where it is noise.

    Source: L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial proportion", Statistical
    Science 16 (2001), section 4.1; P. Hall, "On the removal of skewness by transformation", JRSS B 54 (1992),
    equation 2.4. Their mean is Dramaturg's own, chosen by simulated coverage.

    Args:
        means: A row of cluster means for each sample.
        confidence: Nominal coverage.
    """
    from scipy.special import expit, logit, stdtrit

    count = means.shape[1]
    value = means.mean(axis=1)
    spread = means.std(axis=1, ddof=1)
    error = spread / math.sqrt(count)
    quantile = float(stdtrit(count - 1, 0.5 + confidence / 2))
    centre, half = logit(value), quantile * error / (value * (1 - value))
    skewness = ((means - value[:, None]) ** 3).mean(axis=1) / spread**3 * count**2 / ((count - 1) * (count - 2))
    lean = 2 * value - 1
    skewness = np.where(skewness * lean < 0, skewness * np.abs(lean), 0.0)
    low = np.clip(value - _without_skewness(quantile, skewness, count) * error, 0, 1)
    high = np.clip(value - _without_skewness(-quantile, skewness, count) * error, 0, 1)
    return (expit(centre - half) + low) / 2, (expit(centre + half) + high) / 2


def trial_bounds(sums: Numbers, count: float, confidence: float) -> tuple[Numbers, Numbers]:
    """Returns the exact bounds of a share from a sum of successes in so many trials; the sum need not be whole.

    A mean over values between 0 and 1 varies at most as much as a share of trials, so they are wide enough for any.

    Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits", Biometrika 26 (1934).
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    none, all_of_them = sums <= 1e-9, sums >= count - 1e-9
    yes, no = np.where(none, 1.0, sums), np.where(all_of_them, 1.0, count - sums)
    low = np.where(none, 0.0, betaincinv(yes, count - np.minimum(sums, count) + 1, tail))
    high = np.where(all_of_them, 1.0, betaincinv(sums + 1, no, 1 - tail))
    return low, high


def _without_skewness(quantile: float, skewness: Numbers, count: int) -> Numbers:
    """Returns where a skewed t statistic has the quantile that a symmetric one has at `quantile`."""
    third = skewness / (3 * math.sqrt(count))
    inner = 1 + 3 * third * (quantile - skewness / (6 * math.sqrt(count)))
    symmetric = np.abs(third) < 1e-9
    return np.where(symmetric, quantile, (np.cbrt(inner) - 1) / np.where(symmetric, 1.0, third))


def _why_bounded(means: list[float]) -> str:
    if max(means) - min(means) < 1e-12:
        return f"every cluster mean is {means[0]:.4g}"
    return "all cluster means together are less than a sixteenth of one cluster away from the end"
