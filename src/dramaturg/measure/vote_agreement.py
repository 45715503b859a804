"""Krippendorff's alpha of votes that are counted already, over thousands of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dramaturg.measure.estimate import Estimate
from dramaturg.measure.resampling import resampled_interval


def vote_alpha(
    counts_by_cluster: Mapping[str, Sequence[Sequence[int]]],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 1000,
) -> Estimate:
    """Returns nominal alpha with a percentile interval from drawing whole clusters.

    The value is that of `dramaturg.measure.krippendorff.krippendorff_alpha`; sums by cluster make a resample cheap.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C.

    Args:
        counts_by_cluster: Cluster (a character) → for each of its items how many votes each answer has.
        seed: Of the resampling.
        confidence: Nominal coverage.
        resamples: How many resamples to draw.
    """
    rows = [row for cluster in counts_by_cluster.values() for row in cluster]
    sums = [_sums(counts) for counts in counts_by_cluster.values() if counts]
    return resampled_interval(
        sums,
        _alpha,
        seed=seed,
        n_used=sum(sum(row) > 1 for row in rows),
        n_planned=len(rows),
        confidence=confidence,
        resamples=resamples,
    )


def _sums(counts: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Returns the observed disagreement of a cluster, then its votes of each answer; lone votes say nothing."""
    table = np.array([row for row in counts if sum(row) > 1], dtype=np.float64).reshape(-1, len(counts[0]))
    votes = table.sum(axis=1)
    observed = ((votes**2 - (table**2).sum(axis=1)) / (votes - 1)).sum()
    return np.concatenate(([observed], table.sum(axis=0)))


def _alpha(clusters: Sequence[NDArray[np.float64]]) -> float | None:
    observed, *answers = np.sum(clusters, axis=0).tolist()
    votes = sum(answers)
    expected = votes * votes - sum(count * count for count in answers)
    return None if expected == 0 else 1 - (votes - 1) * observed / expected
