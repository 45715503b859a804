"""How different the texts of a collection are, by their words alone.

Sources: the distance of two sets, P. Jaccard, "The Distribution of the Flora in the Alpine Zone", 1912; a mean over
pairs as the diversity of a set of texts, G. Tevet and J. Berant, "Evaluating the Evaluation of Diversity in Natural
Language Generation", 2021, section 4; distinct n-grams, J. Li et al., "A Diversity-Promoting Objective Function for
Neural Conversation Models", 2016.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

FORMULA = "mean over all pairs of {what} of 1 - |A and B| / |A or B|, where A and B are the sets of their words"


@dataclass(frozen=True, slots=True)
class Diversity:
    """How different the texts of a collection are.

    Attributes:
        count: How many.
        distance: The figure: the mean distance of two texts, from 0 (the same words) to 1 (no common word); None for
            fewer than two.
        least_distance: That of the nearest two; None for fewer than two.
        distinct_pairs: Share of distinct pairs of neighbouring words among all.
        distinct_names: Share of distinct names of people among all; a name counts once in a text.
    """

    count: int
    distance: float | None
    least_distance: float | None
    distinct_pairs: float
    distinct_names: float

    def as_json(self, what: str) -> dict[str, int | float | str | None]:
        """Returns the figures as JSON, rounded to four digits, with the formula.

        Args:
            what: What the texts are, in the plural; it is the key of their number.
        """
        return {
            what: self.count,
            "distance": _rounded(self.distance),
            "least_distance": _rounded(self.least_distance),
            "distinct_pairs": round(self.distinct_pairs, 4),
            "distinct_names": round(self.distinct_names, 4),
            "formula": FORMULA.format(what=what),
        }

    def in_words(self, what: str) -> str:
        """Returns the figures in a line for people.

        Args:
            what: What the texts are, in the plural.
        """
        if self.distance is None:
            return f"diversity: needs two {what} at least"
        return (
            f"diversity {self.distance:.3f} (mean distance of the word sets of two {what}, from 0 to 1; nearest two "
            f"{self.least_distance or 0:.3f}), {self.distinct_names:.0%} of the names differ"
        )


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)


class Spread:
    """The words and names of texts, gathered one by one, in a form in which thousands of pairs are compared quickly."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sets: list[int] = []
        self._pairs: set[tuple[str, str]] = set()
        self._pair_count = 0
        self._names: list[str] = []

    def add(self, words: Sequence[str], names: Iterable[str]) -> None:
        """Adds a text.

        Args:
            words: Its words, in their order.
            names: The people in it, each written in one way.
        """
        self._sets.append(self._bits(words))
        neighbours = list(pairwise(words))
        self._pairs.update(neighbours)
        self._pair_count += len(neighbours)
        self._names += set(names)

    def nearest(self, words: Sequence[str]) -> tuple[int, float] | None:
        """Returns position and distance of the text that is nearest to these words, or None where there is none."""
        bits = self._bits(words)
        return min(
            ((at, _distance(bits, other)) for at, other in enumerate(self._sets)),
            key=lambda entry: entry[1],
            default=None,
        )

    def figures(self) -> Diversity:
        """Returns the figures of all texts so far."""
        sets = self._sets
        distances = [_distance(one, other) for at, one in enumerate(sets) for other in sets[at + 1 :]]
        return Diversity(
            count=len(sets),
            distance=math.fsum(distances) / len(distances) if distances else None,
            least_distance=min(distances, default=None),
            distinct_pairs=len(self._pairs) / self._pair_count if self._pair_count else 0.0,
            distinct_names=len(set(self._names)) / len(self._names) if self._names else 0.0,
        )

    def _bits(self, words: Sequence[str]) -> int:
        numbers = {self._numbers.setdefault(word, len(self._numbers)) for word in words}
        return sum(1 << number for number in numbers)


def _distance(one: int, other: int) -> float:
    both = (one | other).bit_count()
    return 1 - (one & other).bit_count() / both if both else 0.0
