"""How different the cases of a collection are, by their words alone.

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

from dramaturg.model.lexical import tokens
from dramaturg.stage.court.case import AnyCase, Case
from dramaturg.stage.court.cases.fields import listed_people, text_fields
from dramaturg.stage.court.names import plain_name

NEAR_DUPLICATE = 0.25
"""Two cases whose distance is less are taken for one case told twice."""

FORMULA = "mean over all pairs of cases of 1 - |A and B| / |A or B|, where A and B are the sets of their words"


@dataclass(frozen=True, slots=True)
class Diversity:
    """How different the cases of a collection are.

    Attributes:
        cases: How many.
        distance: The figure: the mean distance of two cases, from 0 (the same words) to 1 (no common word); None for
            fewer than two cases.
        least_distance: That of the nearest two; None for fewer than two.
        distinct_pairs: Share of distinct pairs of neighbouring words among all.
        distinct_names: Share of distinct names of people among all; a name counts once in a case.
    """

    cases: int
    distance: float | None
    least_distance: float | None
    distinct_pairs: float
    distinct_names: float

    def as_json(self) -> dict[str, int | float | str | None]:
        """Returns the figures as JSON, rounded to four digits, with the formula."""
        return {
            "cases": self.cases,
            "distance": _rounded(self.distance),
            "least_distance": _rounded(self.least_distance),
            "distinct_pairs": round(self.distinct_pairs, 4),
            "distinct_names": round(self.distinct_names, 4),
            "formula": FORMULA,
        }


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)


class Spread:
    """The words and names of cases, gathered one by one, in a form in which thousands of pairs are compared quickly."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sets: list[int] = []
        self._pairs: set[tuple[str, str]] = set()
        self._pair_count = 0
        self._names: list[str] = []

    def add(self, case: AnyCase, words: Sequence[str]) -> None:
        """Adds a case.

        Args:
            case: The case.
            words: Its `case_tokens`.
        """
        self._sets.append(self._bits(words))
        neighbours = list(pairwise(words))
        self._pairs.update(neighbours)
        self._pair_count += len(neighbours)
        self._names += {plain_name(name) for name in listed_people(case).values()}

    def nearest(self, words: Sequence[str]) -> tuple[int, float] | None:
        """Returns position and distance of the case that is nearest to these words, or None where there is none."""
        bits = self._bits(words)
        return min(
            ((at, _distance(bits, other)) for at, other in enumerate(self._sets)),
            key=lambda entry: entry[1],
            default=None,
        )

    def figures(self) -> Diversity:
        """Returns the figures of all cases so far."""
        sets = self._sets
        distances = [_distance(one, other) for at, one in enumerate(sets) for other in sets[at + 1 :]]
        return Diversity(
            cases=len(sets),
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


def case_tokens(case: AnyCase) -> list[str]:
    """Returns the words of a case, but for the three offices of a court: generators fill these from lists."""
    office = ("judge.", "prosecutor.", "defence.") if isinstance(case, Case) else ()
    return tokens("\n".join(field.text for field in text_fields(case) if not field.where.startswith(office)))


def diversity(cases: Iterable[AnyCase]) -> Diversity:
    """Returns how different the cases of a collection are; a pure function of their texts.

    The distance is Jaccard's over word sets, averaged over all unordered pairs. It does not depend on how many cases
    there are, but long cases are a little more alike than short ones, since they share more of the common words:
    compare collections of a similar length.
    """
    spread = Spread()
    for case in cases:
        spread.add(case, case_tokens(case))
    return spread.figures()
