"""Figures of a card: shares over base transcripts, with intervals and what missing answers could change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from dramaturg.judge.audit.marks import Mark
from dramaturg.measure import Estimate, auc_interval, balanced_accuracy, cluster_interval

_FrozenConfig = ConfigDict(frozen=True, extra="forbid")


POOR = 0.6
"""A balanced accuracy whose interval reaches down to this may be luck."""


class Figure(BaseModel):
    """A figure with its interval over base transcripts. What cannot be said is null.

    Attributes:
        value: The mean over base transcripts of their means.
        low: Lower end of the 95 % interval.
        high: Upper end.
        n: Answers that went in.
        planned: Answers that were asked for; the rest is missing.
        bases: Base transcripts that the interval rests on.
        if_missing_wrong: The value if every missing answer were wrong.
        if_missing_right: The value if every missing answer were right.
        note: How the interval was made, or why there is none.
    """

    model_config = _FrozenConfig

    value: float | None
    low: float | None
    high: float | None
    n: int
    planned: int
    bases: int
    if_missing_wrong: float | None = None
    if_missing_right: float | None = None
    note: str = ""


def may_be_luck(balanced_accuracy: Figure) -> bool:
    """Returns whether the interval of a balanced accuracy reaches down to `POOR`, or there is none."""
    return balanced_accuracy.low is None or balanced_accuracy.low <= POOR


class ByCode(BaseModel):
    """Answers that the transcript itself proves, without the judge.

    Attributes:
        faults: Planted faults that were asked about.
        seen: Of these, those that were found.
        innocent: Questions about clean and harmlessly edited transcripts.
        false_alarms: Of these, those in which a fault was found.
    """

    model_config = _FrozenConfig

    faults: int
    seen: int
    innocent: int
    false_alarms: int


class Parts(BaseModel):
    """How well a judge tells planted faults from innocent transcripts.

    Attributes:
        sensitivity: Share of planted faults that it saw.
        specificity: Share of innocent transcripts that it left alone.
        balanced_accuracy: The mean of both: 0.5 for a coin.
        auc: Probability that it suspects a planted fault more than an innocent transcript; mode probability only.
        by_code: What was answered without it.
    """

    model_config = _FrozenConfig

    sensitivity: Figure
    specificity: Figure
    balanced_accuracy: Figure
    auc: Figure | None
    by_code: ByCode


def parts_of(marks: Sequence[Mark]) -> Parts:
    """Returns the figures of some marks; those that code answered are counted apart."""
    asked = [mark for mark in marks if not mark.by_code]
    faulty = [mark for mark in asked if mark.nature == "mutant"]
    innocent = [mark for mark in asked if mark.nature != "mutant"]
    seen, left_alone = _estimate(faulty, right), _estimate(innocent, right)
    both = figure(balanced_accuracy(seen, left_alone))
    return Parts(
        sensitivity=share(faulty, right),
        specificity=share(innocent, right),
        balanced_accuracy=both.model_copy(update=_mean_bounds(share(faulty, right), share(innocent, right))),
        auc=_auc(asked),
        by_code=_by_code(mark for mark in marks if mark.by_code),
    )


def right(mark: Mark) -> float | None:
    """Returns 1 for a right answer, 0 for a wrong one, None for a missing one."""
    return None if mark.right is None else float(mark.right)


def share(marks: Sequence[Mark], value_of: Callable[[Mark], float | None]) -> Figure:
    """Returns the mean of a value over base transcripts, with bounds for the marks that have none.

    Args:
        marks: What was planned.
        value_of: Between 0 and 1; None where it is missing.
    """
    worst, best = (_mean_of_means(marks, value_of, missing) for missing in (0.0, 1.0))
    bounds = {"if_missing_wrong": worst, "if_missing_right": best}
    return figure(_estimate(marks, value_of)).model_copy(update=bounds)


def figure(estimate: Estimate) -> Figure:
    """Returns an estimate as a card writes it."""
    return Figure(
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n_used,
        planned=estimate.n_planned,
        bases=estimate.clusters,
        note="; ".join(text for text in (estimate.method, estimate.reason) if text),
    )


def by_base(marks: Iterable[Mark], value_of: Callable[[Mark], float | None]) -> dict[str, list[float]]:
    """Returns the values that exist, by base transcript."""
    clusters: dict[str, list[float]] = {}
    for mark in marks:
        value = value_of(mark)
        if value is not None:
            clusters.setdefault(mark.base, []).append(value)
    return clusters


def _estimate(marks: Sequence[Mark], value_of: Callable[[Mark], float | None]) -> Estimate:
    return cluster_interval(by_base(marks, value_of), n_planned=len(marks))


def _auc(marks: Sequence[Mark]) -> Figure | None:
    clusters: dict[str, list[tuple[float, bool]]] = {}
    for mark in marks:
        if mark.suspicion is not None:
            clusters.setdefault(mark.base, []).append((mark.suspicion, mark.nature == "mutant"))
    if not clusters:
        return None
    return figure(auc_interval(clusters)).model_copy(update={"planned": len(marks)})


def _by_code(marks: Iterable[Mark]) -> ByCode:
    proven = list(marks)
    faults = [mark for mark in proven if mark.nature == "mutant"]
    innocent = [mark for mark in proven if mark.nature != "mutant"]
    return ByCode(
        faults=len(faults),
        seen=sum(mark.claims_fault is True for mark in faults),
        innocent=len(innocent),
        false_alarms=sum(mark.claims_fault is True for mark in innocent),
    )


def _mean_of_means(marks: Sequence[Mark], value_of: Callable[[Mark], float | None], missing: float) -> float | None:
    def filled(mark: Mark) -> float:
        value = value_of(mark)
        return missing if value is None else value

    means = [math.fsum(values) / len(values) for values in by_base(marks, filled).values()]
    return math.fsum(means) / len(means) if means else None


def _mean_bounds(one: Figure, other: Figure) -> Mapping[str, float | None]:
    def mean(first: float | None, second: float | None) -> float | None:
        return None if first is None or second is None else (first + second) / 2

    return {
        "if_missing_wrong": mean(one.if_missing_wrong, other.if_missing_wrong),
        "if_missing_right": mean(one.if_missing_right, other.if_missing_right),
    }
