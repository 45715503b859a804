"""Rules that turn votes into an accepted answer, and how often votes that mean nothing would pass them: exactly."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

AnswerT = TypeVar("AnswerT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer of one rater to one item.

    Attributes:
        item: Id of the item.
        rater: Who answered.
        answer: What was answered.
        group: Items with the same possible answers.
    """

    item: str
    rater: str
    answer: str
    group: str


@dataclass(frozen=True, slots=True)
class VoteRule:
    """When the most frequent answer to an item is accepted.

    Source: RPEval, section 3.2: at least three votes; a label above 55 %, yes or no above 70 %.

    Attributes:
        min_votes: Votes that an item needs.
        above: Share of the votes that the answer must exceed; reaching it is not enough.
    """

    min_votes: int
    above: Fraction

    def __post_init__(self) -> None:
        if self.min_votes < 1:
            raise ValueError(f"min_votes is {self.min_votes}; at least 1 is needed")
        if not 0 <= self.above < 1:
            raise ValueError(f"the share to exceed is {float(self.above):g}; it lies from 0 up to, but not at, 1")

    def needed(self, votes: int) -> int | None:
        """Returns the fewest equal votes that are accepted of so many; None where there are too few votes."""
        return None if votes < self.min_votes else math.floor(self.above * votes) + 1

    def accepted(self, counts: Mapping[AnswerT, int]) -> AnswerT | None:
        """Returns the accepted answer; None where there is none, or where two have as many votes.

        Args:
            counts: How many votes each answer has.
        """
        needed = self.needed(sum(counts.values()))
        ranked = Counter(counts).most_common(2)
        if needed is None or not ranked or ranked[0][1] < needed:
            return None
        return None if len(ranked) > 1 and ranked[1][1] == ranked[0][1] else ranked[0][0]

    def chance(self, votes: int, weights: Sequence[int]) -> Fraction:
        """Returns the exact probability that votes drawn without looking at the item are accepted.

        Args:
            votes: How many votes the item has.
            weights: How often each answer is drawn, in whole numbers; equal for coins and random clicks.

        Raises:
            ValueError: There are no weights, or one is negative.
        """
        if not weights or min(weights) < 0 or sum(weights) == 0:
            raise ValueError(f"{list(weights)} are no weights; give a whole number for each answer")
        needed = self.needed(votes)
        return Fraction(0) if needed is None else _chance(votes, needed, tuple(sorted(weights)))

    def chance_by_votes(self, votes: Iterable[int], weights: Sequence[int]) -> dict[int, Fraction]:
        """Returns `chance` for each number of votes."""
        return {number: self.chance(number, weights) for number in sorted(set(votes))}


def expected_by_chance(votes: Iterable[int], rule: VoteRule, weights: Sequence[int]) -> float:
    """Returns how many items would be accepted on average, if nobody who votes looked at them.

    Args:
        votes: Number of votes of each item.
        rule: When an answer is accepted.
        weights: See `VoteRule.chance`.
    """
    counts = Counter(votes)
    return math.fsum(float(rule.chance(number, weights)) * items for number, items in counts.items())


@functools.lru_cache(maxsize=4096)
def _chance(votes: int, needed: int, weights: tuple[int, ...]) -> Fraction:
    """Returns the probability that one answer alone has the most votes, and `needed` of them at least."""
    total = sum(weights)
    ways = 0
    for weight, times in Counter(weights).items():
        others = list((Counter(weights) - Counter([weight])).elements())
        for top in range(needed, votes + 1):
            rest = votes - top
            # Above half of the votes no other answer can come level.
            lower = (total - weight) ** rest if 2 * top > votes else _below(rest, top - 1, others)
            ways += times * math.comb(votes, top) * weight**top * lower
    return Fraction(ways, total**votes)


def _below(votes: int, most: int, weights: Sequence[int]) -> int:
    """Returns the weighted number of ways in which so many votes give no answer more than `most`."""
    ways = [1, *([0] * votes)]
    for weight in weights:
        ways = [
            sum(math.comb(n, k) * weight**k * ways[n - k] for k in range(min(n, most) + 1)) for n in range(votes + 1)
        ]
    return ways[votes]
