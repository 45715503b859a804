"""Where variance comes from: what is staged, repeats of it, and judges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dramaturg.measure.clusters import Clusters
from dramaturg.measure.estimate import check_finite


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """How much the values differ between clusters and within one.

    Attributes:
        between: Variance between clusters, beyond what repeats alone would make; None where it cannot be told.
        within: Variance between repeats of one cluster; None where no cluster has two.
    """

    between: float | None
    within: float | None


@dataclass(frozen=True, slots=True)
class JudgedVariance:
    """Where the variance of judged values comes from. Parts are 0 where their estimate is negative.

    Attributes:
        scenario: Between what is staged.
        seed: Between repeats of one scenario.
        judge: Between the levels of judges: one is milder than another.
        rest: What is left: judges that differ about single performances, and votes.
        performances: How many performances went in: those that every judge judged.
        left_out: How many did not.
    """

    scenario: float
    seed: float
    judge: float
    rest: float
    performances: int
    left_out: int


def variance_split(clusters: Clusters) -> VarianceSplit:
    """Returns the variance between clusters and within them, by the method of moments.

    A negative estimate of the variance between clusters is reported as 0, as usual.

    Source: one-way random-effects analysis of variance; S. R. Searle, G. Casella and C. E. McCulloch,
    "Variance Components" (1992), section 3.6 (unequal groups).

    Args:
        clusters: Cluster → its values.

    Raises:
        ValueError: A value is NaN or infinite.
    """
    between, within = _moments([list(values) for values in clusters.values() if values])
    return VarianceSplit(None if between is None else max(0.0, between), within)


def judged_variance(values: Mapping[tuple[str, str], Mapping[str, float]]) -> JudgedVariance | None:
    """Returns the variance by scenario, seed and judge; None where a part cannot be told.

    Judges are crossed with performances, seeds are nested in scenarios. Only performances that all judges judged go
    in. At least two judges, two scenarios, and a scenario with two seeds are needed.

    Source: Searle, Casella and McCulloch, "Variance Components" (1992), sections 4.3 and 3.6.

    Args:
        values: Scenario and seed → judge → value.

    Raises:
        ValueError: A value is NaN or infinite.
    """
    judges = sorted({judge for by_judge in values.values() for judge in by_judge})
    complete = {place: by_judge for place, by_judge in values.items() if len(by_judge) == len(judges)}
    n, k = len(complete), len(judges)
    if n < 2 or k < 2:
        return None
    rows = [[by_judge[judge] for judge in judges] for by_judge in complete.values()]
    check_finite(value for row in rows for value in row)
    grand = math.fsum(value for row in rows for value in row) / (n * k)
    means = [math.fsum(row) / k for row in rows]
    levels = [math.fsum(row[place] for row in rows) / n for place in range(k)]
    squares = math.fsum(
        (value - mean - level + grand) ** 2
        for row, mean in zip(rows, means, strict=True)
        for value, level in zip(row, levels, strict=True)
    )
    rest = squares / ((n - 1) * (k - 1))
    of_judges = math.fsum((level - grand) ** 2 for level in levels) / (k - 1) - rest / n
    by_scenario: dict[str, list[float]] = {}
    for (scenario, _), mean in zip(complete, means, strict=True):
        by_scenario.setdefault(scenario, []).append(mean)
    between, within = _moments(list(by_scenario.values()))
    if between is None or within is None:
        return None
    return JudgedVariance(
        scenario=max(0.0, between),
        seed=max(0.0, within - rest / k),
        judge=max(0.0, of_judges),
        rest=rest,
        performances=n,
        left_out=len(values) - n,
    )


def _moments(groups: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """Returns the variance between groups, perhaps negative, and within them; None for what cannot be told."""
    check_finite(value for group in groups for value in group)
    total = sum(len(group) for group in groups)
    free = total - len(groups)
    if free == 0:
        return None, None
    means = [math.fsum(group) / len(group) for group in groups]
    squares = math.fsum((value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group)
    within = squares / free
    if len(groups) < 2:
        return None, within
    grand = math.fsum(value for group in groups for value in group) / total
    between_squares = math.fsum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True))
    size = (total - sum(len(group) ** 2 for group in groups) / total) / (len(groups) - 1)
    return (between_squares / (len(groups) - 1) - within) / size, within
