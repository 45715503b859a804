"""Kappa: agreement of raters on categories, beyond what their marginals alone would bring about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from dramaturg.measure.estimate import Estimate, check_confidence, no_interval


def cohen_kappa(one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """Returns Cohen's kappa of two raters; None without a pair, or where both always say the same one category.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20 (1960).

    Args:
        one: The first rater's categories.
        other: The second rater's, in the same order.

    Raises:
        ValueError: One rater has more answers than the other.
    """
    pairs = _pairs(one, other)
    if not pairs:
        return None
    n = len(pairs)
    rows, columns = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    observed = sum(first == second for first, second in pairs) / n
    expected = sum(rows[category] * columns[category] for category in rows) / (n * n)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def cohen_kappa_interval(
    one: Sequence[Hashable], other: Sequence[Hashable], *, confidence: float = 0.95, n_planned: int | None = None
) -> Estimate:
    """Returns Cohen's kappa with its large-sample interval, for independent pairs.

    Answers about one transcript are not independent: for them draw whole transcripts, see `resampled_interval`.

    Source: J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa",
    Psychological Bulletin 72 (1969), equation 13.

    Args:
        one: The first rater's categories.
        other: The second rater's, in the same order.
        confidence: Nominal coverage.
        n_planned: How many pairs were planned; as many as given by default.

    Raises:
        ValueError: One rater has more answers than the other, or the confidence makes no sense.
    """
    check_confidence(confidence)
    pairs = _pairs(one, other)
    n = len(pairs)
    planned = n if n_planned is None else n_planned
    kappa = cohen_kappa(one, other)
    if kappa is None:
        reason = "no pair of answers" if n == 0 else "both raters always say the same; kappa is not defined"
        return no_interval(None, n_used=n, n_planned=planned, clusters=n, reason=reason)
    error = _cohen_error(pairs, kappa)
    if n < 2 or error == 0:
        reason = "one pair of answers" if n < 2 else "the answers leave no error to estimate"
        return no_interval(kappa, n_used=n, n_planned=planned, clusters=n, reason=reason)
    from scipy.special import ndtri

    half = float(ndtri(0.5 + confidence / 2)) * error
    return Estimate(kappa, max(-1.0, kappa - half), min(1.0, kappa + half), n, planned, n, "large-sample kappa")


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Returns Fleiss' kappa of equally many ratings per subject; None where it is not defined.

    Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76 (1971).

    Args:
        counts: For each subject, how many raters chose each category.

    Raises:
        ValueError: Subjects differ in the number of ratings or categories, or have fewer than two ratings.
    """
    if not counts:
        return None
    ratings, categories = sum(counts[0]), len(counts[0])
    if ratings < 2:
        raise ValueError(f"{ratings} ratings for a subject; agreement needs at least 2")
    if any(len(row) != categories or sum(row) != ratings or min(row) < 0 for row in counts):
        raise ValueError("every subject needs equally many ratings, over the same categories")
    observed = math.fsum(sum(k * (k - 1) for k in row) / (ratings * (ratings - 1)) for row in counts) / len(counts)
    shares = [sum(row[place] for row in counts) / (len(counts) * ratings) for place in range(categories)]
    expected = math.fsum(share * share for share in shares)
    return None if max(shares) == 1 else (observed - expected) / (1 - expected)


def _pairs(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[Hashable, Hashable]]:
    if len(one) != len(other):
        raise ValueError(f"{len(one)} answers of one rater, {len(other)} of the other; pairs are needed")
    return list(zip(one, other, strict=True))


def _cohen_error(pairs: Sequence[tuple[Hashable, Hashable]], kappa: float) -> float:
    """Returns the standard error that does not assume chance agreement."""
    n = len(pairs)
    rows, columns = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    expected = sum(rows[category] * columns[category] for category in rows) / (n * n)
    terms: list[float] = []
    for (first, second), count in Counter(pairs).items():
        share = count / n
        if first == second:
            terms.append(share * (1 - (rows[first] + columns[first]) / n * (1 - kappa)) ** 2)
        else:
            terms.append(share * (1 - kappa) ** 2 * ((columns[first] + rows[second]) / n) ** 2)
    variance = math.fsum(terms) - (kappa - expected * (1 - kappa)) ** 2
    return math.sqrt(max(0.0, variance) / n) / (1 - expected)
