"""Intraclass correlation: which share of the variance of ratings comes from what is rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

import numpy as np

from dramaturg.measure.estimate import Estimate, check_confidence, check_finite, no_interval

IccForm = Literal["1,1", "1,k", "2,1", "2,k", "3,1", "3,k"]
"""1: each subject has raters of its own. 2: the raters are a sample, and their level counts. 3: these raters alone,
and their level does not count. 1: one rating is used. k: the mean of all raters is used."""


@dataclass(frozen=True, slots=True)
class _Squares:
    """Mean squares of a complete table of subjects and raters."""

    n: int
    k: int
    rows: float
    columns: float
    error: float
    within: float


def intraclass_correlation(rows: Sequence[Sequence[float]], form: IccForm, *, confidence: float = 0.95) -> Estimate:
    """Returns an intraclass correlation with its interval from the F distribution.

    Source: P. E. Shrout and J. L. Fleiss, "Intraclass correlations", Psychological Bulletin 86 (1979); intervals of
    form 2 with the degrees of freedom of K. O. McGraw and S. P. Wong, Psychological Methods 1 (1996). Nothing goes
    below what k ratings can have, -1/(k-1) for one of them: beyond it the correlation of their mean would turn about.

    Args:
        rows: One complete row of ratings for each subject, raters in the same order.
        form: Which of the six.
        confidence: Nominal coverage.

    Raises:
        ValueError: A value is NaN or infinite, rows differ in length, or the confidence makes no sense.
    """
    check_confidence(confidence)
    n, k = len(rows), len(rows[0]) if rows else 0
    if any(len(row) != k for row in rows):
        raise ValueError("rows differ in length; every row needs a rating by every rater")
    check_finite(value for row in rows for value in row)
    if n < 2 or k < 2:
        reason = f"{n} subjects by {k} raters; at least two of each are needed"
        return no_interval(None, n_used=n * k, n_planned=n * k, clusters=n, reason=reason)
    squares = _mean_squares(np.asarray(rows, dtype=np.float64))
    if squares.rows + squares.within <= 1e-15:
        return no_interval(None, n_used=n * k, n_planned=n * k, clusters=n, reason="all ratings are equal")
    value = _value(squares, form)
    if (squares.within if form[0] == "1" else squares.error) <= 1e-15:
        reason = "the ratings leave no error to estimate"
        return no_interval(value, n_used=n * k, n_planned=n * k, clusters=n, reason=reason)
    low, high = _bounds(squares, form, 0.5 + confidence / 2)
    return Estimate(value, min(low, value), max(high, value), n * k, n * k, n, f"ICC({form}), F")


def _mean_squares(table: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> _Squares:
    n, k = table.shape
    grand = float(table.mean())
    rows = k * float(((table.mean(axis=1) - grand) ** 2).sum())
    columns = n * float(((table.mean(axis=0) - grand) ** 2).sum())
    total = float(((table - grand) ** 2).sum())
    within = max(0.0, total - rows)
    error = max(0.0, within - columns)
    return _Squares(n, k, rows / (n - 1), columns / (k - 1), error / ((n - 1) * (k - 1)), within / (n * (k - 1)))


def _value(squares: _Squares, form: IccForm) -> float:
    n, k, rows, columns, error, within = (
        squares.n, squares.k, squares.rows, squares.columns, squares.error, squares.within,
    )  # fmt: skip
    match form:
        case "1,1":
            return (rows - within) / (rows + (k - 1) * within)
        case "1,k":
            return _of_mean((rows - within) / (rows + (k - 1) * within), k)
        case "2,1" | "2,k":
            spread = rows + (k - 1) * error + k * (columns - error) / n
            one = max((rows - error) / spread, -1 / (k - 1)) if spread > 0 else -1 / (k - 1)
            return one if form == "2,1" else _of_mean(one, k)
        case "3,1" | "3,k":
            one = (rows - error) / (rows + (k - 1) * error)
            return one if form == "3,1" else _of_mean(one, k)
        case _:
            assert_never(form)


def _bounds(squares: _Squares, form: IccForm, level: float) -> tuple[float, float]:
    from scipy.special import fdtri

    n, k = squares.n, squares.k
    if form[0] == "2":
        low, high = _agreement_bounds(squares, level)
    else:
        noise = squares.within if form[0] == "1" else squares.error
        free = n * (k - 1) if form[0] == "1" else (n - 1) * (k - 1)
        ratio = squares.rows / noise
        lower = ratio / float(fdtri(n - 1, free, level))
        upper = ratio * float(fdtri(free, n - 1, level))
        low, high = (lower - 1) / (lower + k - 1), (upper - 1) / (upper + k - 1)
    low, high = max(low, -1 / (k - 1)), max(high, -1 / (k - 1))
    return (low, high) if form[2] == "1" else (_of_mean(low, k), _of_mean(high, k))


def _agreement_bounds(squares: _Squares, level: float) -> tuple[float, float]:
    from scipy.special import fdtri

    n, k, rows, columns, error = squares.n, squares.k, squares.rows, squares.columns, squares.error
    one = _value(squares, "2,1")
    a = k * one / (n * (1 - one))
    b = 1 + k * one * (n - 1) / (n * (1 - one))
    free = (a * columns + b * error) ** 2 / ((a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    to_row, to_noise = float(fdtri(n - 1, free, level)), float(fdtri(free, n - 1, level))
    noise = k * columns + (k * n - k - n) * error
    low = n * (rows - to_row * error) / (to_row * noise + n * rows)
    high = n * (to_noise * rows - error) / (noise + n * to_noise * rows)
    return low, high


def _of_mean(one: float, k: int) -> float:
    """Returns the correlation of the mean of k ratings from that of one, by Spearman and Brown; -1 stands for less."""
    spread = 1 + (k - 1) * one
    return max(-1.0, k * one / spread) if spread > 1e-12 else -1.0
