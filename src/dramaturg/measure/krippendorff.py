"""Krippendorff's alpha: agreement of any number of raters, with gaps, at any level of measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, assert_never

from dramaturg.measure.estimate import Estimate, check_finite
from dramaturg.measure.resampling import resampled_interval

Level = Literal["nominal", "ordinal", "interval"]
"""What distances between values mean: none but equal or not, their order, or their difference."""

Units = Sequence[Sequence[Hashable | None]]
"""For each unit (a question about a transcript) the raters' values; None where a rater gave none."""


def krippendorff_alpha(units: Units, *, level: Level = "nominal") -> float | None:
    """Returns Krippendorff's alpha; None where no unit has two values, or where all values are equal.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), sections C and D.

    Args:
        units: For each unit its values, None where missing. The order of values within a unit does not matter.
        level: Level of measurement; numbers are needed above ``nominal``.

    Raises:
        ValueError: A value is NaN or infinite, or is no number above the nominal level.
    """
    pairable = [values for unit in units if len(values := [value for value in unit if value is not None]) > 1]
    if not pairable:
        return None
    if level != "nominal":
        check_finite(_number(value) for values in pairable for value in values)
    totals = Counter(value for values in pairable for value in values)
    distances = _Distances(level, totals)
    observed = sum(distances.within(Counter(values)) / (len(values) - 1) for values in pairable)
    n = sum(totals.values())
    expected = distances.within(totals) / (n - 1)
    return None if expected == 0 else 1 - observed / expected


def krippendorff_interval(
    units_by_cluster: Mapping[str, Units],
    *,
    level: Level = "nominal",
    seed: int,
    confidence: float = 0.95,
    resamples: int = 1000,
) -> Estimate:
    """Returns Krippendorff's alpha with a percentile interval from drawing whole clusters.

    Args:
        units_by_cluster: Cluster (a transcript) → its units.
        level: Level of measurement.
        seed: Of the resampling.
        confidence: Nominal coverage.
        resamples: How many resamples to draw.

    Raises:
        ValueError: A value is no number where one is needed, or an option makes no sense.
    """

    def alpha(clusters: Sequence[Units]) -> float | None:
        return krippendorff_alpha([unit for units in clusters for unit in units], level=level)

    groups = [units for units in units_by_cluster.values() if units]
    used = sum(sum(value is not None for value in unit) > 1 for units in groups for unit in units)
    planned = sum(len(units) for units in groups)
    return resampled_interval(
        groups, alpha, seed=seed, n_used=used, n_planned=planned, confidence=confidence, resamples=resamples
    )


class _Distances:
    """Sums of squared distances between values."""

    def __init__(self, level: Level, totals: Counter[Hashable]) -> None:
        self._values = list(totals)
        match level:
            case "nominal":
                self._places = None
            case "interval":
                self._places = {value: _number(value) for value in totals}
            case "ordinal":
                self._places = _mid_ranks(totals)
            case _:
                assert_never(level)

    def within(self, counts: Counter[Hashable]) -> float:
        """Returns the sum of squared distances over all ordered pairs of a bag of values."""
        n = sum(counts.values())
        if self._places is None:
            return float(n * n - sum(count * count for count in counts.values()))
        places = self._places
        mean = sum(places[value] * count for value, count in counts.items()) / n
        return 2 * n * sum(count * (places[value] - mean) ** 2 for value, count in counts.items())


def _mid_ranks(totals: Counter[Hashable]) -> dict[Hashable, float]:
    """Returns each value's place: the ordinal distance is the number of values between two, half of their own each."""
    places: dict[Hashable, float] = {}
    below = 0.0
    for value in sorted(totals, key=_number):
        places[value] = below + totals[value] / 2
        below += totals[value]
    return places


def _number(value: Hashable) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    raise ValueError(f"{value!r} is no number; ordinal and interval alpha need numbers")
