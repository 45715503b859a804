"""Runs in a sequence: where marked rows, or shifted values, lie denser than order without meaning would have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GRID = 24
"""Marks, evenly drawn from all, at which a run may begin or end when scores are compared with dealt ones."""

FINE = 400
"""The same where the run itself is sought."""

EDGES = 48
"""Places at which a shift may begin or end."""

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Run:
    """The stretch that stands out most.

    Attributes:
        first: Its first row, from 0.
        last: Its last row.
        score: Log-likelihood ratio of one rate inside and another outside to one rate everywhere; 0 where it is not
            denser inside.
    """

    first: int
    last: int
    score: float


@dataclass(frozen=True, slots=True)
class Shift:
    """The stretch whose values differ most from the others'.

    Attributes:
        first: Its first row, from 0.
        last: Its last row.
        column: Column of the values that differ.
        score: Squared difference, in variances.
    """

    first: int
    last: int
    column: int
    score: float


def dealt(rows: int, *, deals: int, together: int, generator: np.random.Generator) -> _Places:
    """Returns for each deal where every row comes to lie; neighbours stay together in packs of `together` rows.

    Args:
        rows: How many rows there are.
        deals: How often they are dealt.
        together: Size of a pack; 1 takes every row by itself.
        generator: Draws the order.
    """
    packs = np.arange(rows) // together
    count = int(packs[-1]) + 1 if rows else 0
    sizes = np.bincount(packs, minlength=count)
    places = np.empty((deals, rows), dtype=np.int64)
    for deal in range(deals):
        order = generator.permutation(count)
        starts = np.empty(count, dtype=np.int64)
        starts[order] = np.cumsum(sizes[order]) - sizes[order]
        places[deal] = starts[packs] + np.arange(rows) - packs * together
    return places


def run_scores(marks: _Places, rows: int) -> _Floats:
    """Returns the score of the densest run of each row of marks, on the grid.

    Source: M. Kulldorff, "A spatial scan statistic", Communications in Statistics 26 (1997), for one dimension.

    Args:
        marks: Deals x marks, ascending in each deal: numbers of the marked rows.
        rows: How many rows there are.
    """
    count = marks.shape[1]
    grid = _spread(count - 1, min(count, GRID))
    return _scores(marks[:, grid], grid, count, rows).max(axis=(1, 2))


def strongest_run(marks: _Places, rows: int) -> Run:
    """Returns the densest run of marks; its ends are marks.

    Args:
        marks: Numbers of the marked rows, ascending, one at least.
        rows: How many rows there are.
    """
    count = len(marks)
    coarse = _spread(count - 1, min(count, FINE))
    found = _scores(marks[None, coarse], coarse, count, rows)[0]
    begin, end = np.unravel_index(int(found.argmax()), found.shape)
    return Run(int(marks[coarse[begin]]), int(marks[coarse[end]]), float(found.max()))


def shift_scores(values: _Floats, places: _Places, *, least: int) -> _Floats:
    """Returns the score of the strongest shift of each deal; see `strongest_shift`.

    Args:
        values: Rows x columns.
        places: Deals x rows: where each row lies.
        least: Rows that a stretch has at least.
    """
    scores = np.zeros(len(places))
    for deal, order in enumerate(places):
        laid = np.empty_like(values)
        laid[order] = values
        scores[deal] = strongest_shift(laid, least=least).score
    return scores


def strongest_shift(values: _Floats, *, least: int) -> Shift:
    """Returns the stretch whose mean differs most from 0, which is the mean of all.

    Args:
        values: Rows x columns, each column with mean 0.
        least: Rows that a stretch has at least.
    """
    rows = len(values)
    edges = _spread(rows, min(rows, EDGES) + 1)
    sums = np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)))[edges]
    widths = edges[None, :] - edges[:, None]
    allowed = (widths >= least) & (widths <= rows - least)
    if not allowed.any():
        return Shift(0, rows - 1, 0, 0.0)
    scale = np.where(allowed, widths * (1 - widths / rows), np.inf)[:, :, None]
    variance = np.maximum((values**2).mean(axis=0), 1e-12)
    found = (sums[None, :, :] - sums[:, None, :]) ** 2 / (scale * variance)
    begin, end, column = np.unravel_index(int(found.argmax()), found.shape)
    return Shift(int(edges[begin]), int(edges[end]) - 1, int(column), float(found.max()))


def _spread(last: int, number: int) -> _Places:
    """Returns so many numbers from 0 to the last, evenly spread."""
    return np.array(sorted({round(last * step / max(number - 1, 1)) for step in range(number)}), dtype=np.int64)


def _scores(at: _Places, ranks: _Places, count: int, rows: int) -> _Floats:
    """Returns deals x begins x ends: the score of every run between two marks of the grid."""
    from scipy.special import xlogy

    inside = np.maximum(ranks[None, :] - ranks[:, None] + 1, 0).astype(np.float64)[None, :, :]
    width = np.maximum(at[:, None, :] - at[:, :, None] + 1, 1).astype(np.float64)
    outside, rest = count - inside, rows - width
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(rest > 0, outside / np.maximum(rest, 1), 0.0)
        near = inside / width
        found = (
            xlogy(inside, near)
            + xlogy(width - inside, 1 - near)
            + xlogy(outside, far)
            + xlogy(np.maximum(rest - outside, 0), 1 - far)
        )
    flat = float(xlogy(count, count / rows) + xlogy(rows - count, 1 - count / rows))
    denser = (inside > 0) & (near > count / rows) & (at[:, None, :] >= at[:, :, None])
    return np.where(denser, found - flat, 0.0)
