"""Cronbach's alpha: how far items that are summed up measure one thing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dramaturg.measure.estimate import Estimate, check_confidence, check_finite, no_interval


def cronbach_alpha(
    rows: Sequence[Sequence[float]], *, confidence: float = 0.95, n_planned: int | None = None
) -> Estimate:
    """Returns Cronbach's alpha with Feldt's interval.

    Source: L. J. Cronbach, "Coefficient alpha and the internal structure of tests", Psychometrika 16 (1951);
    L. S. Feldt, "The approximate sampling distribution of Kuder-Richardson reliability coefficient twenty",
    Psychometrika 30 (1965), for independent rows.

    Args:
        rows: One complete row of item values for each subject. A row with a gap is left out by the caller and counted
            in `n_planned`.
        confidence: Nominal coverage.
        n_planned: How many rows were planned; as many as given by default.

    Raises:
        ValueError: A value is NaN or infinite, rows differ in length, or the confidence makes no sense.
    """
    check_confidence(confidence)
    n, items = len(rows), len(rows[0]) if rows else 0
    planned = n if n_planned is None else n_planned
    if any(len(row) != items for row in rows):
        raise ValueError("rows differ in length; every row needs a value for every item")
    check_finite(value for row in rows for value in row)
    if n < 2 or items < 2:
        reason = f"{n} rows of {items} items; at least two of each are needed"
        return no_interval(None, n_used=n, n_planned=planned, clusters=n, reason=reason)
    table = np.asarray(rows, dtype=np.float64)
    of_sums = float(table.sum(axis=1).var(ddof=1))
    if of_sums <= 1e-15:
        return no_interval(None, n_used=n, n_planned=planned, clusters=n, reason="all sums are equal")
    alpha = items / (items - 1) * (1 - float(table.var(axis=0, ddof=1).sum()) / of_sums)
    from scipy.special import fdtri

    free, free_items = n - 1, (n - 1) * (items - 1)
    low = 1 - (1 - alpha) * float(fdtri(free, free_items, 0.5 + confidence / 2))
    high = 1 - (1 - alpha) * float(fdtri(free, free_items, 0.5 - confidence / 2))
    reason = "zero width: the items differ by constants alone" if high <= low else ""
    return Estimate(alpha, min(low, alpha), max(high, alpha), n, planned, n, "Feldt", reason)
