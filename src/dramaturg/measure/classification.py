"""How answers fall on labels: confusion, precision, recall and F1 for each label, and their means."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dramaturg.measure.estimate import Estimate, check_confidence, no_interval
from dramaturg.measure.proportions import wilson_bounds


@dataclass(frozen=True, slots=True)
class LabelScores:
    """One label.

    Attributes:
        expected: Weight of the items whose label it is; whole where each item weighs 1.
        answered: Weight of the answers that say it.
        hits: Weight of those of them that are right.
        precision: Hits of what was answered so; None where nothing was.
        recall: Hits of what is so, with Wilson's interval over items.
        f1: Harmonic mean of both; None where the label is neither expected nor answered.
    """

    label: str
    expected: float
    answered: float
    hits: float
    precision: float | None
    recall: Estimate
    f1: float | None


@dataclass(frozen=True, slots=True)
class Classification:
    """All labels together.

    Attributes:
        labels: One entry for each, in the order given.
        confusion: (expected, answered) → weight; what was answered may be no label at all.
        outcomes: Everything that was answered: the labels first, then what is none, in order of the alphabet.
        macro_f1: Plain mean of F1 over the labels that are expected at least once; None without any.
        balanced_accuracy: Plain mean of recall over the same labels: a constant answer gets 1 / their number.
    """

    labels: tuple[LabelScores, ...]
    confusion: Mapping[tuple[str, str], float]
    outcomes: tuple[str, ...]
    macro_f1: float | None
    balanced_accuracy: float | None


def classification(
    answers: Iterable[tuple[str, str, float]], labels: Iterable[str], *, confidence: float = 0.95
) -> Classification:
    """Returns how answers fall on labels.

    Source: M. Sokolova and G. Lapalme, "A systematic analysis of performance measures for classification tasks",
    Information Processing & Management 45 (2009); intervals of recall: see `wilson_interval`.

    Args:
        answers: Expected label, what was answered, and the weight of the answer; the weights of an item's repeats sum
            to 1, so that all figures count items. An answer that is no label counts against recall alone.
        labels: Labels to report, whether they occur or not; an expected label that is missing here is added.
        confidence: Of the intervals.

    Raises:
        ValueError: A weight is not positive, or the confidence makes no sense.
    """
    check_confidence(confidence)
    weights: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for expected, answered, weight in answers:
        if not (math.isfinite(weight) and weight > 0):
            raise ValueError(f"the weight {weight} of an answer is not positive")
        weights[expected, answered].append(weight)
    # The cells are put in order: what comes first must not change a rounded sum.
    confusion = {cell: math.fsum(weights[cell]) for cell in sorted(weights)}
    known = list(dict.fromkeys([*labels, *(expected for expected, _ in confusion)]))
    found = tuple(_label(label, confusion, confidence) for label in known)
    others = sorted({answered for _, answered in confusion}.difference(known))
    scored = [one for one in found if one.expected > 0]
    return Classification(
        found,
        confusion,
        (*known, *others),
        _mean([one.f1 or 0.0 for one in scored]),
        _mean([one.recall.value or 0.0 for one in scored]),
    )


def _label(label: str, confusion: Mapping[tuple[str, str], float], confidence: float) -> LabelScores:
    expected = math.fsum(weight for (said, _), weight in confusion.items() if said == label)
    answered = math.fsum(weight for (_, said), weight in confusion.items() if said == label)
    hits = confusion.get((label, label), 0.0)
    both = expected + answered
    return LabelScores(
        label,
        expected,
        answered,
        hits,
        hits / answered if answered else None,
        _recall(hits, round(expected), confidence),
        2 * hits / both if both else None,
    )


def _recall(hits: float, items: int, confidence: float) -> Estimate:
    if items == 0:
        return no_interval(None, n_used=0, n_planned=0, clusters=0, reason="the label is never expected")
    inside = min(hits, float(items))
    low, high = wilson_bounds(inside, items, confidence)
    return Estimate(inside / items, low, high, items, items, items, "Wilson")


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
