"""Intervals over clusters: values of one cluster are no independent pieces of information.

A cluster is the case when models are compared, and the transcript or the character inside one. The estimator is
everywhere the same: repeats are reduced to one mean per cluster, and the estimate is the plain mean of those means;
its error is computed from them alone, so that value and error describe one estimator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dramaturg.measure.estimate import Estimate, check_confidence, check_finite, no_interval, planned_or_used
from dramaturg.measure.proportions import wilson_bounds

FEWEST_FOR_BOOTSTRAP = 5
"""Clusters below which a bootstrap has too few distinct resamples to say anything of the tails."""

Clusters = Mapping[str, Sequence[float]]
"""Cluster → its values: one per repeat."""


def t_interval(
    clusters: Clusters,
    *,
    confidence: float = 0.95,
    n_planned: int | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Estimate:
    """Returns the mean of the cluster means with Student's t interval over them.

    Where every value stands at one end of the bounds the sample variance says nothing of the error; Wilson's
    interval takes its place, with the clusters as its sample. Where all means are equal elsewhere, the interval
    has zero width and says so.

    Source: W. G. Cochran, "Sampling Techniques", 3rd ed., section 9 (single-stage clusters);
    E. Miller, "Adding error bars to evals", arXiv:2411.00640, section 2.2.

    Args:
        clusters: Cluster → its values. A cluster without values is left out.
        confidence: Nominal coverage.
        n_planned: How many values were planned; as many as used by default.
        bounds: Ends of the scale, at which the interval is cut; None where it has none.

    Raises:
        ValueError: A value is NaN, infinite or off the scale, or the confidence makes no sense.
    """
    check_confidence(confidence)
    used, planned, means = used_means(clusters, n_planned, bounds)
    early = _without_spread(means, used, planned, confidence, bounds)
    if early is not None:
        return early
    from scipy.special import stdtrit

    value = math.fsum(means) / len(means)
    half = float(stdtrit(len(means) - 1, 0.5 + confidence / 2)) * _standard_error(means)
    low, high = _cut(value - half, value + half, bounds)
    return Estimate(value, low, high, used, planned, len(means), "t over cluster means")


def bootstrap_t_interval(
    clusters: Clusters,
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 2000,
    n_planned: int | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Estimate:
    """Returns the mean of the cluster means with a bootstrap-t interval; whole clusters are drawn.

    Unlike `t_interval` it follows a skewed distribution of the means. Equal input and seed give equal output.

    Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), section 12.5;
    clusters as units: A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8.

    Args:
        clusters: Cluster → its values. A cluster without values is left out.
        seed: Of the resampling.
        confidence: Nominal coverage.
        resamples: How many resamples to draw.
        n_planned: How many values were planned; as many as used by default.
        bounds: Ends of the scale, at which the interval is cut; None where it has none.

    Raises:
        ValueError: A value is NaN, infinite or off the scale, or an option makes no sense.
    """
    check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; at least 1 is needed")
    used, planned, means = used_means(clusters, n_planned, bounds)
    early = _without_spread(means, used, planned, confidence, bounds)
    if early is not None:
        return early
    value = math.fsum(means) / len(means)
    if len(means) < FEWEST_FOR_BOOTSTRAP:
        reason = f"{len(means)} clusters; a bootstrap needs {FEWEST_FOR_BOOTSTRAP}"
        return no_interval(value, n_used=used, n_planned=planned, clusters=len(means), reason=reason)
    lower, upper = _studentised_quantiles(means, value, seed, resamples, (1 - confidence) / 2)
    if not (math.isfinite(upper) and math.isfinite(lower)):
        # Too many resamples without spread: the tail of the ratio is unbounded.
        reason = "too few distinct cluster means for a bootstrap"
        return no_interval(value, n_used=used, n_planned=planned, clusters=len(means), reason=reason)
    error = _standard_error(means)
    low, high = _cut(value - upper * error, value - lower * error, bounds)
    return Estimate(value, low, high, used, planned, len(means), f"bootstrap-t over clusters, {resamples} resamples")


def used_means(
    clusters: Clusters, n_planned: int | None, bounds: tuple[float, float] | None
) -> tuple[int, int, list[float]]:
    """Returns how many values are used, how many were planned, and the mean of each cluster that has any.

    Raises:
        ValueError: A value is NaN, infinite or off the scale, or fewer values were planned than used.
    """
    groups = [values for values in clusters.values() if values]
    for values in groups:
        check_finite(values)
        if bounds is not None and not all(bounds[0] <= value <= bounds[1] for value in values):
            raise ValueError(f"a value lies off the scale from {bounds[0]} to {bounds[1]}")
    used = sum(len(values) for values in groups)
    return used, planned_or_used(n_planned, used), [math.fsum(values) / len(values) for values in groups]


def _without_spread(
    means: Sequence[float], used: int, planned: int, confidence: float, bounds: tuple[float, float] | None
) -> Estimate | None:
    """Returns the estimate of means that show no spread, or None where they do."""
    count = len(means)
    if count == 0:
        return no_interval(None, n_used=0, n_planned=planned, clusters=0, reason="no value was used")
    value = math.fsum(means) / count
    if count == 1:
        reason = "one cluster; an interval needs at least two"
        return no_interval(value, n_used=used, n_planned=planned, clusters=1, reason=reason)
    if max(means) - min(means) > 1e-12:  # equal means may differ by rounding
        return None
    value = means[0]
    if bounds is not None and value in bounds:
        start, end = bounds
        low, high = wilson_bounds(count if value == end else 0, count, confidence)
        width = end - start
        reason = f"every value is {value:g}"
        return Estimate(
            value, start + low * width, start + high * width, used, planned, count, "Wilson over clusters", reason
        )
    return Estimate(
        value, value, value, used, planned, count, "t over cluster means", "zero width: all cluster means are equal"
    )


def _standard_error(means: Sequence[float]) -> float:
    count = len(means)
    mean = math.fsum(means) / count
    return math.sqrt(math.fsum((value - mean) ** 2 for value in means) / (count - 1) / count)


def _studentised_quantiles(
    means: Sequence[float], value: float, seed: int, resamples: int, tail: float
) -> tuple[float, float]:
    """Returns the tails of the distance between resampled means and the sample's, in their own standard errors.

    A resample without spread lies infinitely far away, unless its mean is the sample's.
    """
    import numpy as np

    drawn = np.random.default_rng(seed).choice(np.asarray(means), size=(resamples, len(means)))
    distances = drawn.mean(axis=1) - value
    errors = drawn.std(axis=1, ddof=1) / math.sqrt(len(means))
    equal = drawn.max(axis=1) == drawn.min(axis=1)
    ratios = distances / np.maximum(errors, np.finfo(float).tiny)
    ratios[equal] = np.copysign(np.inf, distances[equal])
    ratios[equal & (np.abs(distances) < 1e-12)] = 0.0
    lower, upper = np.quantile(ratios, (tail, 1 - tail), method="inverted_cdf")
    return float(lower), float(upper)


def _cut(low: float, high: float, bounds: tuple[float, float] | None) -> tuple[float, float]:
    return (low, high) if bounds is None else (max(bounds[0], low), min(bounds[1], high))
