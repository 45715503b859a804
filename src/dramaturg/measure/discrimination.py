"""How well a score or a verdict tells two kinds apart: AUC, sensitivity, specificity, balanced accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dramaturg.measure.correlation import mid_ranks
from dramaturg.measure.estimate import Estimate, check_confidence, check_finite, no_interval

FEWEST_CLUSTERS = 5
"""Clusters below which the error of an AUC cannot be estimated."""

ScoredCases = Sequence[tuple[float, bool]]
"""Scores, each with whether it belongs to the positive kind."""


def auc(scored: ScoredCases) -> float | None:
    """Returns the probability that a positive's score is above a negative's, ties counting half; None without both.

    Source: J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a ROC curve", Radiology 143 (1982).

    Raises:
        ValueError: A score is NaN or infinite.
    """
    check_finite(score for score, _ in scored)
    positives = sum(positive for _, positive in scored)
    negatives = len(scored) - positives
    if positives == 0 or negatives == 0:
        return None
    ranks = mid_ranks(np.asarray([score for score, _ in scored], dtype=np.float64))
    kinds = np.asarray([positive for _, positive in scored])
    above = float(ranks[kinds].sum()) - positives * (positives + 1) / 2
    return above / (positives * negatives)


def auc_interval(clusters: Mapping[str, ScoredCases], *, confidence: float = 0.95) -> Estimate:
    """Returns the AUC over all clusters with an interval that keeps scores of one cluster together.

    The interval is built on the log-odds, with Student's t over clusters. A perfect AUC has none.

    Source: N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53 (1997).

    Args:
        clusters: Cluster (a base transcript) → its scores, each with whether it is a positive.
        confidence: Nominal coverage.

    Raises:
        ValueError: A score is NaN or infinite, or the confidence makes no sense.
    """
    check_confidence(confidence)
    groups = [group for group in clusters.values() if group]
    scored = [one for group in groups for one in group]
    value, n, count = auc(scored), len(scored), len(groups)

    def without(reason: str) -> Estimate:
        return no_interval(value, n_used=n, n_planned=n, clusters=count, reason=reason)

    if value is None:
        return without("only one of the two kinds was scored")
    if count < FEWEST_CLUSTERS:
        return without(f"{count} clusters; an interval needs {FEWEST_CLUSTERS}")
    if value in (0.0, 1.0):
        return without("the two kinds do not overlap; the error cannot be estimated")
    error = math.sqrt(_variance(groups, value))
    if error == 0:
        return without("the scores leave no error to estimate")
    from scipy.special import stdtrit

    half = float(stdtrit(count - 1, 0.5 + confidence / 2)) * error / (value * (1 - value))
    centre = math.log(value / (1 - value))
    return Estimate(value, _expit(centre - half), _expit(centre + half), n, n, count, "AUC over clusters, log-odds t")


def balanced_accuracy(sensitivity: Estimate, specificity: Estimate) -> Estimate:
    """Returns the mean of two independent shares with an interval made of theirs.

    Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine
    27 (2008): the distances of both intervals are put together as variances are. It keeps their lack of symmetry.

    Args:
        sensitivity: Share of positives that were seen.
        specificity: Share of negatives that were left alone, with the same confidence.
    """
    used, planned = sensitivity.n_used + specificity.n_used, sensitivity.n_planned + specificity.n_planned
    count = min(sensitivity.clusters, specificity.clusters)
    if sensitivity.value is None or specificity.value is None:
        reason = "one of the two kinds was not judged"
        return no_interval(None, n_used=used, n_planned=planned, clusters=count, reason=reason)
    value = (sensitivity.value + specificity.value) / 2
    distances = [_distances(part) for part in (sensitivity, specificity)]
    known = [one for one in distances if one is not None]
    if len(known) < 2:
        reason = "one of the two shares has no interval"
        return no_interval(value, n_used=used, n_planned=planned, clusters=count, reason=reason)
    low = max(0.0, value - math.hypot(*(below for below, _ in known)) / 2)
    high = min(1.0, value + math.hypot(*(above for _, above in known)) / 2)
    return Estimate(value, low, high, used, planned, count, "mean of two shares, Zou-Donner")


def _distances(part: Estimate) -> tuple[float, float] | None:
    """Returns how far the ends of an interval lie from its value; None where there is none."""
    if part.value is None or part.low is None or part.high is None:
        return None
    return part.value - part.low, part.high - part.value


def _variance(groups: Sequence[ScoredCases], value: float) -> float:
    """Returns the variance of the AUC from the sums of its placement values within clusters."""
    scored = [one for group in groups for one in group]
    positives = np.sort(np.asarray([score for score, positive in scored if positive], dtype=np.float64))
    negatives = np.sort(np.asarray([score for score, positive in scored if not positive], dtype=np.float64))
    influences: list[float] = []
    for group in groups:
        own = 0.0
        for score, positive in group:
            others = negatives if positive else positives
            below = (np.searchsorted(others, score, "left") + np.searchsorted(others, score, "right")) / 2 / len(others)
            placed = float(below) if positive else 1 - float(below)
            own += (placed - value) / (len(positives) if positive else len(negatives))
        influences.append(own)
    count = len(groups)
    return count / (count - 1) * math.fsum(one * one for one in influences)


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
