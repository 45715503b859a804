"""Labels that shift along a file: another mix of answers inside a stretch than outside, beyond what was asked there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dramaturg.measure.scan import shift_scores, strongest_shift

ROTATIONS = 199


class Labelled(Protocol):
    """A row with an answer."""

    @property
    def row(self) -> int:
        """Its line in the file."""
        ...

    @property
    def label(self) -> str:
        """What it answers; empty where it answers otherwise."""
        ...

    @property
    def stratum(self) -> str:
        """Rows alike in what they should answer."""
        ...


@dataclass(frozen=True, slots=True)
class LabelShift:
    """A label whose share differs inside a stretch.

    Attributes:
        label: The label.
        inside: Its share of the answers inside.
        outside: Its share of the answers to the same kind of item outside.
    """

    label: str
    inside: float
    outside: float


@dataclass(frozen=True, slots=True)
class Drift:
    """The stretch of a file whose labels differ most from all others, whatever it names.

    Attributes:
        first: First row.
        last: Last row.
        shift: The label.
        p: Probability of a difference as large, were the order of packs of neighbours without meaning.
    """

    first: int
    last: int
    shift: LabelShift
    p: float


def shift_at(rows: Sequence[Labelled], first: int, last: int) -> LabelShift | None:
    """Returns the label whose share differs most inside a stretch; None without answers inside and outside.

    Answers are compared within what was asked for: emotions with emotions.

    Args:
        rows: In the order of the file.
        first: Number of the first row of the stretch, from 0.
        last: Number of its last row.
    """
    found: LabelShift | None = None
    kinds: dict[str, tuple[Counter[str], Counter[str]]] = defaultdict(lambda: (Counter(), Counter()))
    for number, row in enumerate(rows):
        if row.label:
            kinds[_kind(row)][0 if first <= number <= last else 1][row.label] += 1
    for inside, outside in kinds.values():
        if not inside or not outside:
            continue
        for label in inside | outside:
            one = LabelShift(label, inside[label] / inside.total(), outside[label] / outside.total())
            if found is None or abs(one.inside - one.outside) > abs(found.inside - found.outside):
                found = one
    return found


def edge_p(
    rows: Sequence[Labelled], stretches: Sequence[tuple[int, int]], generator: np.random.Generator
) -> float | None:
    """Returns the probability of labels that shift as much at the edges of stretches; None without labels.

    The labels are turned against the stretches, end to start, so that neighbours stay neighbours.

    Args:
        rows: In the order of the file.
        stretches: Number of the first and the last row of each.
        generator: Draws by how many rows the labels are turned.
    """
    values, _ = _residuals(rows)
    if not values.size:
        return None
    variance = np.maximum((values**2).mean(axis=0), 1e-12)
    sums = np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(np.concatenate((values, values)), axis=0)))

    def score(turn: int) -> float:
        return sum(
            float(((sums[turn + last + 1] - sums[turn + first]) ** 2 / variance).sum()) / (last - first + 1)
            for first, last in stretches
        )

    observed = score(0)
    turns = [int(generator.integers(1, max(2, len(rows)))) for _ in range(ROTATIONS)]
    return (1 + sum(score(turn) >= observed - 1e-9 for turn in turns)) / (1 + ROTATIONS)


def drift_of(rows: Sequence[Labelled], places: NDArray[np.int64], *, least: int) -> Drift | None:
    """Returns the stretch whose labels differ most; None with too few rows or without labels.

    Args:
        rows: In the order of the file.
        places: Deals x rows, where each row lies; see `dramaturg.measure.scan.dealt`.
        least: Rows that a stretch has at least.
    """
    values, labels = _residuals(rows)
    if not values.size or len(rows) < 4 * least:
        return None
    found = strongest_shift(values, least=least)
    if found.score == 0:
        return None
    chance = shift_scores(values, places, least=least)
    p = float(1 + np.count_nonzero(chance >= found.score - 1e-9)) / (1 + len(chance))
    label = labels[found.column]
    inside = [row for row in rows[found.first : found.last + 1] if row.label]
    kind = next((_kind(row) for row in rows if row.label == label), "")
    within = [row.label == label for row in inside if _kind(row) == kind]
    beyond = [
        row.label == label
        for number, row in enumerate(rows)
        if row.label and _kind(row) == kind and not found.first <= number <= found.last
    ]
    if not within or not beyond:
        return None
    shift = LabelShift(label, sum(within) / len(within), sum(beyond) / len(beyond))
    return Drift(rows[found.first].row, rows[found.last].row, shift, p)


def _kind(row: Labelled) -> str:
    return "decision" if row.label in ("yes", "no") else "emotion"


def _residuals(rows: Sequence[Labelled]) -> tuple[NDArray[np.float64], list[str]]:
    """Returns rows x labels: whether a row answers so, less the share of its stratum; 0 for rows without a label."""
    labels = sorted({row.label for row in rows if row.label} - {"no"})  # what is not yes is no
    values = np.zeros((len(rows), len(labels)))
    strata: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if row.label:
            strata[f"{_kind(row)} {row.stratum}"].append(number)
    column = {label: place for place, label in enumerate(labels)}
    for numbers in strata.values():
        for number in numbers:
            if rows[number].label in column:
                values[number, column[rows[number].label]] = 1.0
        values[numbers] -= values[numbers].mean(axis=0)
    return values, labels
