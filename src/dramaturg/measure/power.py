"""Sample size: how many scenarios and repeats would show a difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_SCENARIOS = 100_000
"""Scenarios above which no plan is made."""


@dataclass(frozen=True, slots=True)
class Design:
    """One way to run a comparison.

    Attributes:
        scenarios: How many scenarios.
        repeats: Seeds on each, for each subject.
        power: Probability that the comparison shows the difference.
    """

    scenarios: int
    repeats: int
    power: float

    @property
    def performances(self) -> int:
        """Performances of one subject."""
        return self.scenarios * self.repeats


def paired_power(
    difference: float, *, between: float, within: float, scenarios: int, repeats: int, alpha: float = 0.05
) -> float:
    """Returns the probability that a two-sided paired t-test over scenarios shows a difference.

    The means of the scenarios' differences have the variance ``between + within / repeats``.

    Source: J. Cohen, "Statistical Power Analysis for the Behavioral Sciences" (1988), section 2.3, with the noncentral
    t distribution; E. Miller, "Adding error bars to evals", arXiv:2411.00640, section 5.

    Args:
        difference: The true difference.
        between: Variance over scenarios of the subjects' true difference.
        within: Variance of the difference between repeats of one scenario: that of both subjects together.
        scenarios: How many scenarios, at least 2.
        repeats: How many repeats of each, at least 1.
        alpha: Level of the test.

    Raises:
        ValueError: An argument makes no sense.
    """
    if scenarios < 2 or repeats < 1:
        raise ValueError(f"{scenarios} scenarios of {repeats} repeats; at least 2 of 1 are needed")
    if not 0 < alpha < 1 or min(between, within) < 0 or not all(map(math.isfinite, (difference, between, within))):
        raise ValueError("alpha lies between 0 and 1, variances are finite and not negative, the difference is finite")
    variance = between + within / repeats
    if variance == 0:
        return 1.0 if difference else alpha
    from scipy.special import nctdtr, stdtrit

    shift = abs(difference) / math.sqrt(variance / scenarios)
    free = scenarios - 1
    critical = float(stdtrit(free, 1 - alpha / 2))
    if shift > critical + 30:  # beyond what the noncentral distribution is computed for; the power is 1
        return 1.0
    return min(1.0, max(0.0, 1 - float(nctdtr(free, shift, critical)) + float(nctdtr(free, shift, -critical))))


def scenarios_needed(
    difference: float,
    *,
    between: float,
    within: float,
    repeats: int,
    power: float = 0.8,
    alpha: float = 0.05,
    fewest: int = 2,
) -> Design | None:
    """Returns the fewest scenarios with which a paired comparison reaches the power; None above `MOST_SCENARIOS`.

    Args:
        difference: The smallest difference that should be shown; not 0.
        between: Variance over scenarios of the subjects' true difference.
        within: Variance of the difference between repeats of one scenario: that of both subjects together.
        repeats: How many repeats of each scenario.
        power: Probability of showing it.
        alpha: Level of the test.
        fewest: Fewest scenarios that may be planned, at least 2.

    Raises:
        ValueError: An argument makes no sense.
    """
    if not alpha < power < 1 or difference == 0:
        raise ValueError("the power lies between the level and 1, and the difference is not 0")

    def reached(scenarios: int) -> float:
        return paired_power(
            difference, between=between, within=within, scenarios=scenarios, repeats=repeats, alpha=alpha
        )

    low, high = max(2, fewest) - 1, max(2, fewest)
    while reached(high) < power:
        low, high = high, high * 2
        if low >= MOST_SCENARIOS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    return Design(high, repeats, reached(high))


def cautious_variance(variance: float, free: int, *, confidence: float = 0.8) -> float:
    """Returns the upper bound of a variance that a small pilot estimated, so that a plan does not rest on luck.

    Source: R. H. Browne, "On the use of a pilot sample for sample size determination", Statistics in Medicine 14
    (1995).

    Args:
        variance: As estimated.
        free: Degrees of freedom of the estimate, at least 1.
        confidence: How surely the true variance lies below the bound.

    Raises:
        ValueError: An argument makes no sense.
    """
    if free < 1 or variance < 0 or not 0 < confidence < 1:
        raise ValueError(f"a variance of {variance} with {free} degrees of freedom has no bound")
    from scipy.special import chdtri

    return variance * free / float(chdtri(free, confidence))
