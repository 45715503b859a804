"""Weigh votes by how well each rater answers, where nobody knows the right answers: Dawid and Skene's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dramaturg.measure.votes import Vote

TOLERANCE = 1e-5
"""Change of every probability below which the estimate stands still."""

_FLOOR = 1e-12
_Floats = NDArray[np.float64]
_Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the model makes of some votes.

    Attributes:
        answers: Item → answer → probability that it is the right one.
        raters: Rater → estimated share of right answers, over the estimated mix of right answers.
        rounds: Rounds that were needed.
        settled: Whether the estimate stood still before the rounds ran out.
    """

    answers: Mapping[str, Mapping[str, float]]
    raters: Mapping[str, float]
    rounds: int
    settled: bool


def dawid_skene(
    votes: Sequence[Vote], answers: Sequence[str], *, smoothing: float = 2.0, most_rounds: int = 200
) -> Weighed:
    """Returns how probable each answer is, each rater weighed by estimated confusions between answers.

    Starts from the shares of the votes. A rater of a few answers says little of its confusions, so every rater starts
    from `smoothing` answers to each right answer that are spread as all raters together spread theirs; 0 is the
    original.

    Source: A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28 (1979), equations 2.3 to 2.5.

    Args:
        votes: All on one question with the same possible answers.
        answers: The possible answers.
        smoothing: See above.
        most_rounds: Rounds after which it ends, settled or not.

    Raises:
        ValueError: A vote is none of the answers, or an option makes no sense.
    """
    if smoothing < 0 or most_rounds < 1:
        raise ValueError(f"smoothing is {smoothing} and most_rounds {most_rounds}; at least 0 and 1 are needed")
    if not votes:
        return Weighed({}, {}, 0, settled=True)
    code = {answer: place for place, answer in enumerate(answers)}
    unknown = next((vote.answer for vote in votes if vote.answer not in code), None)
    if unknown is not None:
        raise ValueError(f"{unknown!r} is none of {', '.join(answers)}")
    items = {name: place for place, name in enumerate(dict.fromkeys(vote.item for vote in votes))}
    raters = {name: place for place, name in enumerate(dict.fromkeys(vote.rater for vote in votes))}
    table = _Table(
        np.array([items[vote.item] for vote in votes], dtype=np.intp),
        np.array([raters[vote.rater] for vote in votes], dtype=np.intp),
        np.array([code[vote.answer] for vote in votes], dtype=np.intp),
        len(items),
        len(raters),
        len(code),
    )
    right = table.shares()
    settled, rounds = False, 0
    mix, confusions = table.estimate(right, smoothing)
    while not settled and rounds < most_rounds:
        rounds += 1
        before, right = right, table.posterior(mix, confusions)
        mix, confusions = table.estimate(right, smoothing)
        settled = bool(np.abs(right - before).max() < TOLERANCE)
    accuracy = np.einsum("k,rkk->r", mix, confusions)
    return Weighed(
        answers={name: dict(zip(answers, right[place].tolist(), strict=True)) for name, place in items.items()},
        raters={name: float(accuracy[place]) for name, place in raters.items()},
        rounds=rounds,
        settled=settled,
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """Votes as numbers: the item, the rater and the answer of each."""

    item: _Places
    rater: _Places
    answer: _Places
    items: int
    raters: int
    answers: int

    def shares(self) -> _Floats:
        """Returns for each item the share of votes of each answer."""
        flat = np.bincount(self.item * self.answers + self.answer, minlength=self.items * self.answers)
        counts = flat.reshape(self.items, self.answers).astype(np.float64)
        return counts / counts.sum(axis=1, keepdims=True)

    def estimate(self, right: _Floats, smoothing: float) -> tuple[_Floats, _Floats]:
        """Returns the mix of right answers, and for each rater and right answer how likely each given answer is."""
        given = self.rater * self.answers + self.answer
        size = self.raters * self.answers
        counts = np.stack(
            [
                np.bincount(given, weights=right[self.item, k], minlength=size).reshape(self.raters, self.answers)
                for k in range(self.answers)
            ],
            axis=1,
        )
        if smoothing:
            pooled = counts.sum(axis=0) + 1 / self.answers
            counts = counts + smoothing * pooled / pooled.sum(axis=1, keepdims=True)
        totals = counts.sum(axis=2, keepdims=True)
        even = np.full_like(counts, 1 / self.answers)
        return right.mean(axis=0), np.divide(counts, totals, out=even, where=totals > 0)

    def posterior(self, mix: _Floats, confusions: _Floats) -> _Floats:
        """Returns for each item how probable each answer is, given who voted for what."""
        logs = np.log(np.maximum(confusions, _FLOOR))[self.rater, :, self.answer]
        sums = np.stack(
            [np.bincount(self.item, weights=logs[:, k], minlength=self.items) for k in range(self.answers)], axis=1
        )
        sums += np.log(np.maximum(mix, _FLOOR))
        sums -= sums.max(axis=1, keepdims=True)
        likely = np.exp(sums)
        return likely / likely.sum(axis=1, keepdims=True)
