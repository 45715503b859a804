"""Correlation of paired values: Pearson's, Spearman's and Kendall's, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from dramaturg.measure.estimate import Estimate, check_confidence, check_finite, no_interval

CorrelationKind = Literal["pearson", "spearman", "kendall"]

FEWEST_PAIRS = 5
"""Pairs below which Fisher's transformation says nothing."""

Numbers = NDArray[np.float64]


def correlation(
    one: Sequence[float], other: Sequence[float], kind: CorrelationKind = "pearson", *, confidence: float = 0.95
) -> Estimate:
    """Returns a correlation of independent pairs with its interval by Fisher's transformation.

    Ties share their mean rank; Kendall's is tau-b. Pairs with a gap are left out by the caller.

    Source: R. A. Fisher (1921) for Pearson's; D. G. Bonett and T. A. Wright, "Sample size requirements for estimating
    Pearson, Kendall and Spearman correlations", Psychometrika 65 (2000), for the errors of the other two.

    Args:
        one: The first values.
        other: The second values, in the same order.
        kind: Which correlation.
        confidence: Nominal coverage.

    Raises:
        ValueError: A value is NaN or infinite, the two differ in length, or the confidence makes no sense.
    """
    check_confidence(confidence)
    if len(one) != len(other):
        raise ValueError(f"{len(one)} values and {len(other)} values are no pairs")
    check_finite(one)
    check_finite(other)
    n = len(one)
    x, y = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if n < 2 or float(np.ptp(x)) == 0 or float(np.ptp(y)) == 0:
        reason = f"{n} pairs; at least two are needed" if n < 2 else "one side never varies"
        return no_interval(None, n_used=n, n_planned=n, clusters=n, reason=reason)
    value = max(-1.0, min(1.0, _value(x, y, kind)))
    if n < FEWEST_PAIRS or abs(value) > 1 - 1e-12:
        reason = f"{n} pairs; an interval needs {FEWEST_PAIRS}" if n < FEWEST_PAIRS else "the correlation is perfect"
        return no_interval(value, n_used=n, n_planned=n, clusters=n, reason=reason)
    from scipy.special import ndtri

    half = float(ndtri(0.5 + confidence / 2)) * _error(value, n, kind)
    centre = math.atanh(value)
    return Estimate(value, math.tanh(centre - half), math.tanh(centre + half), n, n, n, f"Fisher z, {kind}")


def _value(x: Numbers, y: Numbers, kind: CorrelationKind) -> float:
    match kind:
        case "pearson":
            return _pearson(x, y)
        case "spearman":
            return _pearson(mid_ranks(x), mid_ranks(y))
        case "kendall":
            # Signs of all differences; tau-b is their cosine. Memory is n² bytes.
            signs_x = np.sign(x[:, None] - x[None, :]).astype(np.int8)
            signs_y = np.sign(y[:, None] - y[None, :]).astype(np.int8)
            both = float(np.sum(signs_x * signs_y, dtype=np.int64))
            untied_x, untied_y = np.count_nonzero(signs_x), np.count_nonzero(signs_y)
            return both / math.sqrt(untied_x * untied_y)
        case _:
            assert_never(kind)


def _error(value: float, n: int, kind: CorrelationKind) -> float:
    """Returns the standard error on Fisher's scale."""
    match kind:
        case "pearson":
            return 1 / math.sqrt(n - 3)
        case "spearman":
            return math.sqrt((1 + value * value / 2) / (n - 3))
        case "kendall":
            return math.sqrt(0.437 / (n - 4))
        case _:
            assert_never(kind)


def mid_ranks(values: Numbers) -> Numbers:
    """Returns each value's rank from 1; equal values share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]


def _pearson(x: Numbers, y: Numbers) -> float:
    from_x, from_y = x - x.mean(), y - y.mean()
    return float(from_x @ from_y) / math.sqrt(float(from_x @ from_x) * float(from_y @ from_y))
