"""Percentile intervals from drawing whole clusters: for statistics without a formula of their own error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from dramaturg.measure.estimate import Estimate, check_confidence, no_interval

ClusterT = TypeVar("ClusterT")

FEWEST_CLUSTERS = 10
"""Clusters below which percentiles of resamples are far too narrow."""

MOST_UNDEFINED = 0.05
"""Share of resamples without a value above which the others say nothing of the whole."""


def resampled_interval(
    clusters: Sequence[ClusterT],
    statistic: Callable[[Sequence[ClusterT]], float | None],
    *,
    seed: int,
    n_used: int,
    n_planned: int,
    confidence: float = 0.95,
    resamples: int = 1000,
) -> Estimate:
    """Returns a statistic of clusters with its percentile interval; whole clusters are drawn.

    Source: A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their Application" (1997), sections 3.8 and 5.3.

    Args:
        clusters: What is drawn.
        statistic: Its value for some clusters, or None where it is not defined.
        seed: Of the resampling.
        n_used: Values in all clusters.
        n_planned: Values that were planned.
        confidence: Nominal coverage.
        resamples: How many resamples to draw.

    Raises:
        ValueError: An option makes no sense.
    """
    check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; at least 1 is needed")
    count = len(clusters)
    value = statistic(clusters) if count else None

    def without(reason: str) -> Estimate:
        return no_interval(value, n_used=n_used, n_planned=n_planned, clusters=count, reason=reason)

    if value is None:
        return without("the statistic is not defined for these values")
    if count < FEWEST_CLUSTERS:
        return without(f"{count} clusters; resampling needs {FEWEST_CLUSTERS}")
    generator = np.random.default_rng(seed)
    found = [
        statistic([clusters[int(place)] for place in generator.integers(0, count, size=count)])
        for _ in range(resamples)
    ]
    defined = [one for one in found if one is not None]
    if len(defined) < (1 - MOST_UNDEFINED) * resamples:
        return without("the statistic is not defined in too many resamples")
    low, high = np.quantile(defined, ((1 - confidence) / 2, (1 + confidence) / 2))
    if not (math.isfinite(low) and math.isfinite(high)):
        return without("a resample gave no finite value")
    reason = "" if high > low else "zero width: every resample has the same value"
    return Estimate(
        value,
        min(float(low), value),
        max(float(high), value),
        n_used,
        n_planned,
        count,
        f"percentiles of {resamples} resamples of clusters",
        reason,
    )
