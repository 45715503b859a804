"""Correlations of values that come in clusters: characters of one scene are no independent pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from dramaturg.measure.correlation import CorrelationKind, correlation
from dramaturg.measure.estimate import Estimate, check_finite, no_interval
from dramaturg.measure.resampling import FEWEST_CLUSTERS, resampled_interval

Pairs = Sequence[tuple[float, float]]


def clustered_correlation(
    clusters: Mapping[str, Pairs], kind: CorrelationKind = "pearson", *, seed: int, confidence: float = 0.95
) -> Estimate:
    """Returns a correlation over all pairs, with an interval that keeps pairs of one cluster together.

    With fewer clusters than resampling needs, the interval is that of independent pairs, and the reason says so.

    Args:
        clusters: Cluster (a scene) → its pairs, complete ones alone.
        kind: Which correlation.
        seed: Of the resampling.
        confidence: Nominal coverage.

    Raises:
        ValueError: A value is NaN or infinite, or the confidence makes no sense.
    """
    groups = [pairs for pairs in clusters.values() if pairs]
    pairs = [pair for group in groups for pair in group]
    whole = correlation([one for one, _ in pairs], [other for _, other in pairs], kind, confidence=confidence)
    if len(groups) < FEWEST_CLUSTERS:
        reason = whole.reason or f"{len(groups)} clusters are too few to resample: pairs are taken as independent"
        return replace(whole, clusters=len(groups), reason=reason)

    def statistic(drawn: Sequence[Pairs]) -> float | None:
        chosen = [pair for group in drawn for pair in group]
        return correlation([one for one, _ in chosen], [other for _, other in chosen], kind).value

    return resampled_interval(
        groups, statistic, seed=seed, n_used=len(pairs), n_planned=len(pairs), confidence=confidence
    )


def inter_item_correlation(
    clusters: Mapping[str, Sequence[Sequence[float]]], *, seed: int, confidence: float = 0.95
) -> Estimate:
    """Returns the mean correlation between two different items over all rows; 1 where all items say the same.

    Source: R. L. Piedmont, "Inter-item correlations", Encyclopedia of Quality of Life and Well-Being Research (2014).

    Args:
        clusters: Cluster (a scene) → its rows, each with a value for every item.
        seed: Of the resampling.
        confidence: Nominal coverage.

    Raises:
        ValueError: A value is NaN or infinite, or rows differ in length.
    """
    groups = [rows for rows in clusters.values() if rows]
    rows = [row for group in groups for row in group]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("rows differ in length; every row needs a value for every item")
    check_finite(value for row in rows for value in row)
    n, items = len(rows), len(rows[0]) if rows else 0
    if n < 3 or items < 2:
        reason = f"{n} rows of {items} items; three rows of two items are the least"
        return no_interval(None, n_used=n, n_planned=n, clusters=len(groups), reason=reason)

    def statistic(drawn: Sequence[Sequence[Sequence[float]]]) -> float | None:
        return _mean_correlation(np.asarray([row for group in drawn for row in group], dtype=np.float64))

    return resampled_interval(groups, statistic, seed=seed, n_used=n, n_planned=n, confidence=confidence)


def _mean_correlation(table: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float | None:
    """Returns the mean over pairs of items that both vary; None where there is none."""
    centred = table - table.mean(axis=0)
    sizes = np.sqrt((centred**2).sum(axis=0))
    found = [
        float(centred[:, one] @ centred[:, other]) / float(sizes[one] * sizes[other])
        for one, other in combinations(range(table.shape[1]), 2)
        if sizes[one] > 1e-12 and sizes[other] > 1e-12
    ]
    return math.fsum(found) / len(found) if found else None
