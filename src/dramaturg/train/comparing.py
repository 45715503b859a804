"""Before and after training: what a base and a tuned model make of the same things, measure by measure, paired.

A value that is missing is left out on both sides and counted; it is never a zero. Scenes and cases are the clusters:
examples of one scene are no independent pieces of information.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from dramaturg.measure import Estimate, cluster_interval, holm, paired_difference, resampled_interval, t_interval

LEVEL = 0.05
"""A p-value up to it, corrected for all measures of a table, tells the two models apart."""

SEED = 7
"""Of resampling: equal answers give equal tables."""

FEWEST_SCENES = 3
"""Scenes from which a mean has an interval: with two it would cover too seldom."""

FEWEST_DRAWN = 10
"""The same of a measure that is no mean; its difference is told by drawing scenes anew."""

Better = Literal["higher", "lower"]
Verdict = Literal["better", "worse", "unclear"]

Both = tuple[float | None, float | None]
"""The value of the base and of the tuned model for one thing; None where it is missing."""

NO_VALUES: Mapping[str, float] = {}
SHARE = (0.0, 1.0)

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Marks:
    """What one model made of one example.

    Attributes:
        values: Measure → value; what is missing is not there.
        missing: Why nothing was measured at all; empty otherwise.
        text: What was answered.
        calls: Keys of the ledger's calls.
    """

    values: Mapping[str, float] = field(default_factory=lambda: NO_VALUES)
    missing: str = ""
    text: str = ""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One measure, before and after.

    Attributes:
        measure: Its id.
        name: For people.
        base: Of the base, over what it has a value for.
        tuned: Of the tuned model.
        difference: Tuned minus base, over what both have a value for.
        better: Which end of the measure is the better one.
        p_value: Of no difference, by changing the signs of scenes; None where there is none.
        p_holm: The same, corrected for all measures of the table.
    """

    measure: str
    name: str
    base: Estimate
    tuned: Estimate
    difference: Estimate
    better: Better = "higher"
    p_value: float | None = None
    p_holm: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the tuned model is told apart from the base: by the corrected test, else by the interval."""
        value, low, high = self.difference.value, self.difference.low, self.difference.high
        if value is None:
            return "unclear"
        if self.p_value is not None:
            apart = self.p_holm is not None and self.p_holm <= LEVEL
        else:
            apart = low is not None and high is not None and not low <= 0 <= high
        if not apart:
            return "unclear"
        return "better" if (value > 0) == (self.better == "higher") else "worse"


@dataclass(frozen=True, slots=True)
class Table:
    """The measures of one thing that was compared.

    Attributes:
        title: Of what, and by whom it was measured.
        rows: The measures.
        notes: What limits it, in words.
    """

    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def mean_row(
    measure: str,
    name: str,
    values: Mapping[str, Sequence[Both]],
    *,
    better: Better = "higher",
    scale: tuple[float, float] = SHARE,
) -> Row:
    """Returns a measure that is a mean, each scene counting alike.

    There is no interval with fewer than `FEWEST_SCENES` scenes, nor of what is the same in all of them, unless it is a
    share.

    Args:
        measure: Its id.
        name: For people.
        values: Scene → the values of both models for each thing that was planned.
        better: Which end is the better one.
        scale: Ends of the scale.
    """
    low, high = scale
    width = high - low
    planned = sum(map(len, values.values()))
    sides = [
        {scene: [value for both in pairs if (value := both[side]) is not None] for scene, pairs in values.items()}
        for side in (0, 1)
    ]
    base, tuned = (_honest(_mean(side, scale, planned), FEWEST_SCENES) for side in sides)
    paired = {
        scene: [
            ((after - low) / width, (before - low) / width)
            for before, after in pairs
            if before is not None and after is not None
        ]
        for scene, pairs in values.items()
    }
    found = paired_difference(paired, seed=SEED, n_planned=planned)
    difference = _stretched(_honest(found.difference, FEWEST_SCENES), width)
    return Row(measure, name, base, tuned, difference, better, found.p_value)


def statistic_row(
    measure: str,
    name: str,
    estimates: tuple[Estimate, Estimate],
    clusters: Mapping[str, Sequence[ItemT]],
    statistic: Callable[[Sequence[ItemT], int], float | None],
    *,
    planned: int,
) -> Row:
    """Returns a measure that is no mean, such as a correlation; the interval of the difference draws whole scenes.

    With fewer than `FEWEST_DRAWN` scenes there is no interval, neither of the difference nor of the two sides.

    Args:
        measure: Its id.
        name: For people.
        estimates: Of the base and of the tuned model, each over what it has a value for.
        clusters: Scene → what both have a value for.
        statistic: The measure of some of these, for the base (0) or the tuned model (1); None where it is not defined.
        planned: How many things were planned.
    """

    def difference(drawn: Sequence[Sequence[ItemT]]) -> float | None:
        items = [item for group in drawn for item in group]
        before, after = statistic(items, 0), statistic(items, 1)
        return None if before is None or after is None else after - before

    groups = [group for group in clusters.values() if group]
    used = sum(map(len, groups))
    found = resampled_interval(groups, difference, seed=SEED, n_used=used, n_planned=planned)
    base, tuned = (_honest(replace(estimate, n_planned=planned), FEWEST_DRAWN) for estimate in estimates)
    return Row(measure, name, base, tuned, found)


def corrected(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Returns the rows of one table with their p-values corrected for all of them."""
    adjusted = holm([row.p_value for row in rows])
    return tuple(replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True))


def _mean(clusters: Mapping[str, Sequence[float]], scale: tuple[float, float], planned: int) -> Estimate:
    if scale == SHARE:
        return cluster_interval(clusters, n_planned=planned)
    return t_interval(clusters, n_planned=planned, bounds=scale)


def _honest(estimate: Estimate, fewest: int) -> Estimate:
    """Returns an estimate without its interval where that is of too few scenes, or has no width."""
    if estimate.low is None:
        return estimate
    if estimate.clusters < fewest:
        reason = f"no honest interval: {estimate.clusters} clusters; at least {fewest} are needed"
    elif estimate.low == estimate.high:
        reason = "all clusters have the same value; the error cannot be told"
    else:
        return estimate
    return replace(estimate, low=None, high=None, method="", reason=reason)


def _stretched(estimate: Estimate, width: float) -> Estimate:
    """Returns a difference of shares on another scale."""

    def stretched(value: float | None) -> float | None:
        return None if value is None else value * width

    return replace(
        estimate, value=stretched(estimate.value), low=stretched(estimate.low), high=stretched(estimate.high)
    )
