"""Ranks with their uncertainty: how a ranking would change had other scenarios been drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dramaturg.measure.estimate import check_confidence, check_finite

FEWEST_SCENARIOS = 5
"""Scenarios below which resamples are too much alike to say anything of ranks."""


@dataclass(frozen=True, slots=True)
class Rank:
    """A subject's rank, 1 the best; equal values share the better one.

    Attributes:
        rank: By the values at hand.
        low: Best rank of the interval; None where there are too few scenarios.
        high: Worst rank of the interval.
        best: Probability of being best; of several that are equally good each has its part.
        scenarios: How many scenarios all subjects have.
        reason: Why there is no interval; empty otherwise.
    """

    rank: int
    low: int | None
    high: int | None
    best: float | None
    scenarios: int
    reason: str = ""


def ranks(
    values: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 4000,
) -> dict[str, Rank]:
    """Returns the subjects' ranks over the scenarios that all of them have, with intervals from drawing scenarios.

    Source: H. Goldstein and D. J. Spiegelhalter, "League tables and their limitations", JRSS A 159 (1996), by the
    bootstrap of P. Hall and H. Miller, "Using the bootstrap to quantify the authority of an empirical ranking",
    Annals of Statistics 37 (2009).

    Args:
        values: Subject → scenario → its values; higher is better.
        seed: Of the resampling.
        confidence: Nominal coverage.
        resamples: How many resamples to draw.

    Returns:
        Subject → its rank; empty where no scenario is common to all.

    Raises:
        ValueError: A value is NaN or infinite, or an option makes no sense.
    """
    check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; at least 1 is needed")
    scenarios = dict.fromkeys(scenario for of_subject in values.values() for scenario in of_subject)
    common = [name for name in scenarios if all(of_subject.get(name) for of_subject in values.values())]
    if not common:
        return {}
    for of_subject in values.values():
        check_finite(value for scenario in common for value in of_subject[scenario])
    means = np.asarray(
        [[math.fsum(of[name]) / len(of[name]) for name in common] for of in values.values()], dtype=np.float64
    )
    seen = _places(means.mean(axis=1)[:, None])[:, 0]
    count = len(common)
    if count < FEWEST_SCENARIOS:
        reason = f"{count} common scenarios; the uncertainty of a rank needs {FEWEST_SCENARIOS}"
        return {
            subject: Rank(int(place), None, None, None, count, reason)
            for subject, place in zip(values, seen, strict=True)
        }
    draws = np.random.default_rng(seed).integers(0, count, size=(resamples, count))
    resampled = means[:, draws].mean(axis=2)
    places = _places(resampled)
    tails = ((1 - confidence) / 2, (1 + confidence) / 2)
    lows = np.quantile(places, tails[0], axis=1, method="inverted_cdf")
    highs = np.quantile(places, tails[1], axis=1, method="inverted_cdf")
    first = places == 1
    best = (first / first.sum(axis=0)).mean(axis=1)
    return {
        subject: Rank(
            int(seen[place]),
            int(min(lows[place], seen[place])),
            int(max(highs[place], seen[place])),
            float(best[place]),
            count,
        )
        for place, subject in enumerate(values)
    }


def _places(
    scores: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Returns the rank of each row within its column; scores that differ by rounding alone are equal."""
    above = scores[:, None, :] < scores[None, :, :] - 1e-12
    return above.sum(axis=1) + 1
