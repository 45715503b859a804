"""Paired comparison: two subjects on the same scenarios, each scenario one piece of information."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dramaturg.measure.clusters import t_interval
from dramaturg.measure.estimate import Estimate

MOST_EXACT = 15
"""Scenarios up to which every change of signs is counted, at most 32,768; above it they are drawn."""

DRAWS = 20_000
"""Changes of signs that are drawn where they are too many to count."""

Pairs = Mapping[str, Sequence[tuple[float, float]]]
"""Scenario → the values of both subjects, one pair for each repeat that both have."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The first subject's value minus the second's.

    Attributes:
        difference: Mean difference over scenarios, with Student's t interval; none where all are the same.
        p_value: Of no difference, two-sided, by changing signs; None with fewer than two scenarios.
        smallest_p: The smallest p-value that so many scenarios can give at all; None where there is none.
    """

    difference: Estimate
    p_value: float | None
    smallest_p: float | None


def paired_difference(
    pairs: Pairs, *, seed: int = 0, confidence: float = 0.95, n_planned: int | None = None
) -> PairedDifference:
    """Returns the difference over the same scenarios; repeats are reduced to one mean for each scenario first.

    The p-value asks how often the signs of the scenarios' differences, if they were chance, would bring about a mean
    as far from 0. With up to `MOST_EXACT` scenarios it is exact, above drawn.

    Source: E. Miller, "Adding error bars to evals", arXiv:2411.00640, section 4 (pairing); R. A. Fisher, "The Design of
    Experiments" (1935), section 21, and B. Phipson and G. K. Smyth, "Permutation p-values should never be zero" (2010).

    Args:
        pairs: Scenario → pairs of values between 0 and 1.
        seed: Of the drawing.
        confidence: Nominal coverage.
        n_planned: How many pairs were planned; as many as given by default.

    Raises:
        ValueError: A value is NaN or infinite, or the confidence makes no sense.
    """
    clusters = {scenario: [one - other for one, other in values] for scenario, values in pairs.items() if values}
    estimate = t_interval(clusters, confidence=confidence, n_planned=n_planned, bounds=(-1.0, 1.0))
    means = [math.fsum(values) / len(values) for values in clusters.values()]
    if len(means) < 2:
        return PairedDifference(estimate, None, None)
    if estimate.low == estimate.high:
        reason = "all scenarios show the same difference; the error cannot be told"
        estimate = replace(estimate, low=None, high=None, method="", reason=reason)
    return PairedDifference(estimate, sign_change_p(means, seed=seed), _smallest(len(means)))


def sign_change_p(differences: Sequence[float], *, seed: int = 0) -> float:
    """Returns the two-sided p-value of differences around 0 by changing their signs.

    Args:
        differences: One for each scenario, at least one.
        seed: Of the drawing, where there are more than `MOST_EXACT`.
    """
    values = np.asarray(differences, dtype=np.float64)
    count = len(values)
    seen = abs(float(values.sum())) * (1 - 1e-12) - 1e-15
    if count <= MOST_EXACT:
        places = np.right_shift(np.arange(2**count, dtype=np.int64)[:, None], np.arange(count, dtype=np.int64))
        signs = np.bitwise_and(places, 1) * 2.0 - 1.0
        return float(np.mean(np.abs(signs @ values) >= seen))
    generator = np.random.default_rng(seed)
    signs = generator.integers(0, 2, size=(DRAWS, count), dtype=np.int8) * 2.0 - 1.0
    as_far = int(np.count_nonzero(np.abs(signs @ values) >= seen))
    return (as_far + 1) / (DRAWS + 1)


def fewest_scenarios(level: float) -> int:
    """Returns the fewest scenarios with which changing signs can reach a level, however large the differences are.

    Args:
        level: Of the test, not below what drawn signs can give (1 / 20,001).

    Raises:
        ValueError: The level is out of range.
    """
    if not 1 / (DRAWS + 1) <= level < 1:
        raise ValueError(f"no number of scenarios reaches the level {level}")
    return next(count for count in range(2, MOST_EXACT + 2) if _smallest(count) <= level)


def _smallest(count: int) -> float:
    return 2.0 ** (1 - count) if count <= MOST_EXACT else 1 / (DRAWS + 1)
