"""Sample size: how many scenarios and repeats would show a difference to the test that changes signs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dramaturg.measure.paired import MOST_EXACT, fewest_scenarios

MOST_SIMULATED = 50
"""Scenarios up to which the power of changing signs is simulated; above it, that of the t-test is the same."""

SIMULATED = 1000
"""Invented comparisons of one simulation: its power is known to about 0.01."""

SIGNS = 4000
"""Changes of signs in a simulation where they are too many to count."""

_AT_ONCE = 200
"""Invented comparisons that are computed at once, to bound the memory."""

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
    tail, other_tail = float(nctdtr(free, shift, critical)), float(nctdtr(free, shift, -critical))
    # Where it is below about 1e-8, the other tail is no number in scipy.
    return min(1.0, max(0.0, 1 - tail + (0.0 if math.isnan(other_tail) else other_tail)))


def sign_change_power(
    difference: float,
    *,
    between: float,
    within: float,
    scenarios: int,
    repeats: int,
    alpha: float = 0.05,
    seed: int = 0,
) -> float:
    """Returns the probability that changing signs shows a difference; see `dramaturg.measure.paired.sign_change_p`.

    Differences of scenarios are drawn from a normal distribution, and the test is made on each draw. Above
    `MOST_SIMULATED` scenarios it is the power of the t-test, which the test by signs then equals.

    Source: W. Hoeffding, "The large-sample power of tests based on permutations of observations", Annals of
    Mathematical Statistics 23 (1952).

    Args:
        difference: The true difference.
        between: Variance over scenarios of the subjects' true difference.
        within: Variance of the difference between repeats of one scenario: that of both subjects together.
        scenarios: How many scenarios, at least 2.
        repeats: How many repeats of each, at least 1.
        alpha: Level of the test.
        seed: Of the simulation.

    Raises:
        ValueError: An argument makes no sense.
    """
    by_t = paired_power(difference, between=between, within=within, scenarios=scenarios, repeats=repeats, alpha=alpha)
    if scenarios > MOST_SIMULATED:
        return by_t
    if scenarios < fewest_scenarios(alpha):
        return 0.0
    generator = np.random.default_rng([seed, scenarios])
    is_exact = scenarios <= MOST_EXACT
    if is_exact:  # the first sign stays: turning all signs round changes no distance from 0
        ordinals = np.arange(2 ** (scenarios - 1), dtype=np.int64)
        places = np.right_shift(ordinals[:, None], np.arange(scenarios, dtype=np.int64))
        signs = (np.bitwise_and(places, 1) * 2 - 1).astype(np.float32)
    else:
        drawn = generator.integers(0, 2, size=(SIGNS, scenarios), dtype=np.int8)
        signs = (drawn * 2 - 1).astype(np.float32)
    spread = math.sqrt(between + within / repeats)
    shown = 0
    for start in range(0, SIMULATED, _AT_ONCE):
        count = min(_AT_ONCE, SIMULATED - start)
        invented = generator.normal(abs(difference), spread, size=(scenarios, count)).astype(np.float32)
        seen = np.abs(invented.sum(axis=0)) * (1 - 1e-5)
        as_far = np.count_nonzero(np.abs(signs @ invented) >= seen, axis=0)
        p_values = as_far / len(signs) if is_exact else (as_far + 1) / (SIGNS + 1)
        shown += int(np.count_nonzero(p_values <= alpha))
    return shown / SIMULATED


def scenarios_needed(
    difference: float,
    *,
    between: float,
    within: float,
    repeats: int,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Design | None:
    """Returns the fewest scenarios with which changing signs reaches the power; None above `MOST_SCENARIOS`.

    Args:
        difference: The smallest difference that should be shown; not 0.
        between: Variance over scenarios of the subjects' true difference.
        within: Variance of the difference between repeats of one scenario: that of both subjects together.
        repeats: How many repeats of each scenario.
        power: Probability of showing it.
        alpha: Level of the test.

    Raises:
        ValueError: An argument makes no sense.
    """
    if not alpha < power < 1 or difference == 0:
        raise ValueError("the power lies between the level and 1, and the difference is not 0")

    def reached(scenarios: int) -> float:
        return paired_power(
            difference, between=between, within=within, scenarios=scenarios, repeats=repeats, alpha=alpha
        )

    fewest = fewest_scenarios(alpha)
    low, high = fewest - 1, fewest
    while reached(high) < power:
        low, high = high, high * 2
        if low >= MOST_SCENARIOS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    # The t-test needs a little fewer where scenarios are few.
    while True:
        found = sign_change_power(
            difference, between=between, within=within, scenarios=high, repeats=repeats, alpha=alpha
        )
        if found >= power or high > MOST_SIMULATED:
            return Design(high, repeats, found)
        high += 1


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
